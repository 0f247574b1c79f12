// Each shell has a function that goes over the commands and their flags and writes its script. The
// scripts ask nothing at run time: they hold the words, and the shell matches them.
//
// Invariant  a script names only what the table of commands has; texts are quoted for its shell.
// Cost       linear in the commands and flags.
// Source     the manuals of bash, zsh (_arguments, _describe) and fish (complete).
#include "tools/cli/completion.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace maskd::cli {
namespace {

using Commands = std::span<const Command* const>;

// One line of a help text that may have several.
std::string OneLine(absl::string_view text) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  return absl::StrJoin(words, " ");
}

std::string NamesOf(Commands commands) {
  return absl::StrJoin(commands, " ", [](std::string* out, const Command* command) {
    absl::StrAppend(out, command->name);
  });
}

// For bash: "--server=" takes a value, "--json" does not.
std::string FlagWords(const Command& command) {
  std::string words;
  for (const Flag& flag : command.flags())
    absl::StrAppend(&words, "--", flag.name, flag.shape.empty() ? " " : "= ");
  return words + "--help";
}

// bash splits a word at "=", so the function sees "--flag", "=" and the value as three words.
constexpr absl::string_view kBashHead = R"sh(# bash completion of maskctl.
_maskctl() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} flags="" values=""
  COMPREPLY=()
  if [[ $COMP_CWORD -gt 2 && $word == "=" ]]; then
    word=""
  elif [[ $COMP_CWORD -gt 2 && $before == "=" ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if [[ $COMP_CWORD -eq 1 ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$word")
    return
  fi
  case "${COMP_WORDS[1]} $before" in
)sh";

constexpr absl::string_view kBashTail = R"sh(  esac
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$word")
    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
    return
  fi
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$word")
}
complete -F _maskctl maskctl
)sh";

std::string BashScript(Commands commands) {
  std::string script = absl::StrReplaceAll(kBashHead, {{"$commands", NamesOf(commands)}});
  for (const Command* command : commands) {
    for (const Flag& flag : command->flags()) {
      if (flag.shape.empty() || TakesFile(flag)) continue;
      absl::StrAppend(&script, "    \"", command->name, " --", flag.name, "\")\n      values=\"",
                      absl::StrJoin(ValuesOf(flag), " "),
                      "\"\n      mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$word\")\n"
                      "      return ;;\n");
    }
  }
  absl::StrAppend(&script, "  esac\n  case ${COMP_WORDS[1]} in\n");
  for (const Command* command : commands)
    absl::StrAppend(&script, "    ", command->name, ") flags=\"", FlagWords(*command), "\" ;;\n");
  return absl::StrCat(script, kBashTail);
}

// Inside single quotes.
std::string Quoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

// _arguments and _describe give a meaning to these.
std::string ZshText(absl::string_view text) {
  return absl::StrReplaceAll(OneLine(text),
                             {{"\\", "\\\\"}, {":", "\\:"}, {"[", "\\["}, {"]", "\\]"}});
}

std::string ZshFlag(const Flag& flag) {
  std::string spec =
      absl::StrCat("--", flag.name, flag.shape.empty() ? "" : "=", "[", ZshText(flag.help), "]");
  if (flag.shape.empty()) return Quoted(spec);
  absl::StrAppend(&spec, ":", ZshText(flag.shape), ":");
  if (TakesFile(flag)) absl::StrAppend(&spec, "_files");
  const std::vector<std::string> values = ValuesOf(flag);
  if (!values.empty()) absl::StrAppend(&spec, "(", absl::StrJoin(values, " "), ")");
  return Quoted(spec);
}

std::string ZshScript(Commands commands) {
  std::string script =
      "#compdef maskctl\n# zsh completion of maskctl.\n_maskctl() {\n  local -a commands\n"
      "  commands=(\n";
  for (const Command* command : commands) {
    absl::StrAppend(&script, "    ",
                    Quoted(absl::StrCat(command->name, ":", OneLine(command->summary))), "\n");
  }
  absl::StrAppend(&script,
                  "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n"
                  "  fi\n  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n"
                  "  case $command in\n");
  for (const Command* command : commands) {
    absl::StrAppend(&script, "    ", command->name, ")\n      _arguments \\\n");
    for (const Flag& flag : command->flags())
      absl::StrAppend(&script, "        ", ZshFlag(flag), " \\\n");
    absl::StrAppend(&script, "        '--help[say more]' '*:file:_files' ;;\n");
  }
  return absl::StrCat(script,
                      "  esac\n}\n"
                      "if [[ $funcstack[1] == _maskctl ]]; then\n  _maskctl \"$@\"\nelse\n"
                      "  compdef _maskctl maskctl\nfi\n");
}

std::string FishText(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(OneLine(text), {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

std::string FishFlag(const Command& command, const Flag& flag) {
  std::string line = absl::StrCat("complete -c maskctl -n '__fish_seen_subcommand_from ",
                                  command.name, "' -l ", flag.name);
  const std::vector<std::string> values = ValuesOf(flag);
  if (!flag.shape.empty()) absl::StrAppend(&line, TakesFile(flag) ? " -r -F" : " -x");
  if (!values.empty()) absl::StrAppend(&line, " -a ", FishText(absl::StrJoin(values, " ")));
  return absl::StrCat(line, " -d ", FishText(flag.help), "\n");
}

std::string FishScript(Commands commands) {
  std::string script = "# fish completion of maskctl.\n";
  for (const Command* command : commands) {
    absl::StrAppend(&script, "complete -c maskctl -f -n __fish_use_subcommand -a ", command->name,
                    " -d ", FishText(command->summary), "\n");
    for (const Flag& flag : command->flags()) absl::StrAppend(&script, FishFlag(*command, flag));
  }
  return script;
}

}  // namespace

std::string CompletionScript(absl::string_view shell, Commands commands) {
  if (shell == "bash") return BashScript(commands);
  if (shell == "zsh") return ZshScript(commands);
  if (shell == "fish") return FishScript(commands);
  return "";
}

std::vector<std::string> ValuesOf(const Flag& flag) {
  if (!absl::StrContains(flag.shape, "|")) return {};
  return absl::StrSplit(flag.shape, '|');
}

bool TakesFile(const Flag& flag) {
  constexpr std::array<absl::string_view, 4> kShapes = {"PATH", "FILE", "FOLDER", "DIRECTORY"};
  return std::ranges::find(kShapes, flag.shape) != kShapes.end();
}

}  // namespace maskd::cli
