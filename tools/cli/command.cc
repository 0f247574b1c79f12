#include "tools/cli/command.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "tools/cli/print.h"
#include "tools/cli/terminal.h"

namespace maskd::cli {
namespace {

constexpr char kUsagePayload[] = "maskctl/usage";

const std::array kCommands = {
    &kCompileCommand,  &kCheckCommand,      &kExplainCommand, &kTokensCommand,
    &kSimulateCommand, &kBenchCommand,      &kVectorsCommand, &kSchemasCommand,
    &kAttackCommand,   &kPlaygroundCommand, &kLintCommand,    &kFamilyCommand,
    &kApplierCommand,  &kCompletionCommand, &kTopCommand,     &kVersionCommand};

std::string ProgramHelp() {
  std::string text =
      "maskctl asks a maskd server: compiles grammars, checks texts, shows tokens, simulates an "
      "engine.\n\nusage: maskctl COMMAND [--flag=value ...] [ARGUMENT ...]\n\n";
  for (const Command* command : kCommands)
    absl::StrAppend(&text, absl::StrFormat("  %-12s%s\n", command->name, command->summary));
  absl::StrAppend(
      &text,
      "\nmaskctl COMMAND --help says more. Each command asks the server at --server, "
      "or, with\n--local, one inside maskctl itself.\n\n"
      "The server's address may stand in the variable MASKD_ADDRESS. --json prints JSON.\n"
      "exit status: 0 yes or done, 1 no or failed, 2 wrong command line\n");
  return text;
}

std::string CommandHelp(const Command& command) {
  return absl::StrCat(
      "usage: maskctl ", command.name, command.flags().empty() ? "" : " [--flag=value ...]",
      command.arguments.empty() ? "" : " ", command.arguments, "\n\n", command.summary, "\n\n",
      command.details, command.flags().empty() ? "" : "\nflags [default]:\n",
      FlagHelp(command.flags()));
}

int Fail(absl::string_view who, const absl::Status& status) {
  absl::FPrintF(stderr, "%s: %s\n", who, Painted(StatusText(status), Tone::kBad, /*descriptor=*/2));
  return status.GetPayload(kUsagePayload).has_value() ? kExitUsage : kExitNo;
}

int Print(const std::string& text) {
  absl::PrintF("%s", text);
  return kExitYes;
}

// "--version" is what many try first.
bool IsVersion(const std::string& word) { return word == "--version" || word == "-V"; }

bool IsHelpFlag(const std::string& word) { return word == "--help" || word == "-h"; }

bool IsHelp(const std::string& word) { return IsHelpFlag(word) || word == "help"; }

// A "help" among other words may be a text or a file.
bool AsksForHelp(std::span<const std::string> words) {
  const auto end = std::ranges::find(words, "--");
  return std::any_of(words.begin(), end, IsHelpFlag) || (words.size() == 1 && IsHelp(words[0]));
}

const Command* FindCommand(absl::string_view name) {
  const auto found =
      std::ranges::find(kCommands, name, [](const Command* one) { return one->name; });
  return found == kCommands.end() ? nullptr : *found;
}

int NoSuchCommand(absl::string_view word) {
  std::vector<absl::string_view> names;
  for (const Command* command : kCommands) names.push_back(command->name);
  const absl::string_view nearest = Nearest(word, names);
  return Fail("maskctl", UsageError(absl::StrCat(
                             "there is no command \"", word, "\"; ",
                             nearest.empty() ? "" : absl::StrCat("is ", nearest, " meant? "),
                             "maskctl --help lists them")));
}

int Help(std::span<const std::string> words) {
  if (words.empty() || IsHelp(words.front())) return Print(ProgramHelp());
  const Command* const command = FindCommand(words.front());
  return command == nullptr ? NoSuchCommand(words.front()) : Print(CommandHelp(*command));
}

int RunCommand(const Command& command, std::span<const std::string> words) {
  if (AsksForHelp(words)) return Print(CommandHelp(command));
  const std::string who = absl::StrCat("maskctl ", command.name);
  const absl::StatusOr<Flags> flags = Flags::Parse(command.flags(), words);
  if (!flags.ok()) return Fail(who, UsageError(flags.status().message()));
  const absl::StatusOr<int> exit = command.run(*flags);
  if (exit.ok()) return *exit;
  if (flags->Has("json")) absl::PrintF("%s", ErrorJsonText(exit.status()));
  return Fail(who, exit.status());
}

}  // namespace

std::span<const Command* const> AllCommands() { return kCommands; }

absl::Status UsageError(absl::string_view message) {
  absl::Status status = absl::InvalidArgumentError(std::string(message));
  status.SetPayload(kUsagePayload, absl::Cord());
  return status;
}

int RunProgram(std::span<const std::string> words) {
  if (words.empty()) {
    absl::FPrintF(stderr, "%s", ProgramHelp());
    return kExitUsage;
  }
  if (IsHelp(words.front())) return Help(words.subspan(1));
  if (IsVersion(words.front())) return RunCommand(kVersionCommand, words.subspan(1));
  const Command* const command = FindCommand(words.front());
  return command == nullptr ? NoSuchCommand(words.front()) : RunCommand(*command, words.subspan(1));
}

}  // namespace maskd::cli
