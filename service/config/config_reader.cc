// Three sources say what a flag is: a file, the environment, the command line; the later ones win.
// All are read through one table (config_flags.h), and each value remembers who said it, so that an
// error names the place.
//
// Invariant  a flag that is gone is an error wherever it is said, with what to say instead; a
//            Config that comes back was checked as a whole.
// Order      the file is read first, since it loses to the other two; but these say which file it
//            is. So they are read twice: first for its name alone.
// Threads    main's alone: at the start, and again for a reload on SIGHUP. No state.
#include "service/config/config_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

#include "service/config/addresses.h"
#include "service/config/config_flags.h"

namespace maskd::service {
namespace {

absl::Status Wrong(absl::string_view message) {
  return absl::InvalidArgumentError(std::string(message));
}

const Flag* FindFlag(absl::string_view name) {
  for (const Flag& flag : AllFlags())
    if (flag.name == name) return &flag;
  return nullptr;
}

absl::Status NoSuchFlag(absl::string_view name) {
  for (const RetiredFlag& retired : RetiredFlags())
    if (retired.name == name)
      return Wrong(absl::StrCat("--", name, ": no such flag any more: ", retired.instead));
  return Wrong(absl::StrCat("--", name, ": no such flag; see maskd --help"));
}

// Part of the interface: operators have these names in their deployments.
std::string VariableOf(absl::string_view flag) {
  return absl::StrCat("MASKD_", absl::AsciiStrToUpper(flag));
}

// The only place that sets a flag. It remembers the text and where it was given: CheckReload()
// compares the texts, and names the place of one that may not change.
absl::Status Apply(const Flag& flag, absl::string_view spelling, absl::string_view value,
                   Config* config) {
  const absl::Status applied = flag.set(value, config);
  if (!applied.ok()) return Wrong(absl::StrCat(spelling, ": ", applied.message()));
  Config::Given& given = config->given[std::string(flag.name)];
  // The list was cleared if this source replaces it, so what is there comes from the same source.
  const bool adds = flag.name == "tokenizer" && !config->tokenizers.empty();
  given = {adds ? absl::StrCat(given.value, ";", value) : std::string(value),
           std::string(spelling)};
  return absl::OkStatus();
}

// Asks for each known name. A misspelt MASKD_ variable is not seen: Environment looks one name up
// and lists none.
absl::Status ReadEnvironment(const Environment& environment, Config* config) {
  for (const RetiredFlag& retired : RetiredFlags()) {
    const std::string variable = VariableOf(retired.name);
    if (environment(variable).has_value())
      return Wrong(absl::StrCat(variable, ": not read any more: ", retired.instead));
  }
  for (const Flag& flag : AllFlags()) {
    const std::string variable = VariableOf(flag.name);
    const std::optional<std::string> value = environment(variable);
    if (!value.has_value()) continue;
    if (flag.name == "tokenizer") config->tokenizers.clear();  // it replaces the file's list
    if (absl::Status applied = Apply(flag, variable, *value, config); !applied.ok()) return applied;
  }
  return absl::OkStatus();
}

// One argument of the command line: its flag and its value.
struct Given {
  const Flag* flag;
  std::string value;
};

// Takes one or two arguments, "--flag=value" or "--flag value". A flag without a shape, such as
// --version, takes no second one: what stands behind it is an argument of its own.
absl::StatusOr<Given> ReadArgument(const std::vector<std::string>& arguments, std::size_t* at) {
  absl::string_view argument = arguments[(*at)++];
  if (!absl::ConsumePrefix(&argument, "--"))
    return Wrong(absl::StrCat(argument, ": flags begin with --; see maskd --help"));
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(argument, absl::MaxSplits('=', 1));
  const Flag* flag = FindFlag(parts.first);
  if (flag == nullptr) return NoSuchFlag(parts.first);
  if (absl::StrContains(argument, "=")) return Given{flag, std::string(parts.second)};
  if (flag->shape.empty()) return Given{flag, "true"};
  if (*at == arguments.size())
    return Wrong(absl::StrCat("--", flag->name, ": needs a value, ", flag->shape));
  return Given{flag, arguments[(*at)++]};
}

absl::Status ReadArguments(const std::vector<std::string>& arguments, Config* config) {
  bool tokenizer_given = false;
  for (std::size_t at = 0; at < arguments.size();) {
    absl::StatusOr<Given> given = ReadArgument(arguments, &at);
    if (!given.ok()) return given.status();
    if (given->flag->name == "tokenizer" && !std::exchange(tokenizer_given, true))
      config->tokenizers.clear();  // the command line replaces the list before it
    absl::Status applied =
        Apply(*given->flag, absl::StrCat("--", given->flag->name), given->value, config);
    if (!applied.ok()) return applied;
  }
  return absl::OkStatus();
}

// The file that the command line names, or else the environment. Errors in either are said when
// they are read in earnest.
absl::Status ReadFile(const std::vector<std::string>& arguments, const Environment& environment,
                      const ReadConfigFile& read_file, Config* config) {
  Config named;
  if (absl::Status read = ReadEnvironment(environment, &named); !read.ok()) return read;
  if (absl::Status read = ReadArguments(arguments, &named); !read.ok()) return read;
  if (named.config.empty()) return absl::OkStatus();
  if (read_file == nullptr) return Wrong("--config: this program reads no file");
  return read_file(named.config, config);
}

}  // namespace

absl::Status SetFlag(absl::string_view name, absl::string_view value, absl::string_view where,
                     Config* config) {
  const Flag* const flag = FindFlag(name);
  return flag == nullptr ? NoSuchFlag(name) : Apply(*flag, where, value, config);
}

// By the texts as they were given: the same value in another spelling counts as a change. A flag
// that is not listed here is read once at the start, by parts that keep what they made of it.
absl::Status CheckReload(const Config& now, const Config& next) {
  constexpr std::array kMayChange = {"config",      "tokens",       "proxy_metadata",
                                     "proxy_users", "socket_users", "tokenizer",
                                     "grammars",    "audit",        "admin_callers"};
  const auto may_change = [&](absl::string_view flag) {
    return std::ranges::any_of(kMayChange, [&](const char* one) { return flag == one; });
  };
  const auto value_of = [](const Config& config, const std::string& flag) {
    const auto found = config.given.find(flag);
    return found == config.given.end() ? std::nullopt : std::optional(found->second.value);
  };
  for (const std::string& flag : FlagNames()) {
    if (may_change(flag) || value_of(now, flag) == value_of(next, flag)) continue;
    const Config& said = value_of(next, flag).has_value() ? next : now;
    return Wrong(absl::StrCat(said.given.at(flag).where,
                              &said == &next ? "" : ": is not given any more",
                              ": changes only with a restart"));
  }
  return absl::OkStatus();
}

std::vector<std::string> FlagNames() {
  std::vector<std::string> names;
  for (const Flag& flag : AllFlags()) names.emplace_back(flag.name);
  return names;
}

// Whoever reads later wins, so the order of these calls is the precedence. What concerns two flags
// at once is checked last, when neither can change any more.
absl::StatusOr<Config> ReadConfig(const std::vector<std::string>& arguments,
                                  const Environment& environment, const ReadConfigFile& read_file) {
  Config config;
  if (absl::Status read = ReadFile(arguments, environment, read_file, &config); !read.ok())
    return read;
  if (absl::Status read = ReadEnvironment(environment, &config); !read.ok()) return read;
  if (absl::Status read = ReadArguments(arguments, &config); !read.ok()) return read;
  if (absl::Status checked = CheckAddresses(config); !checked.ok()) return checked;
  if (config.proxy_metadata.empty() != config.proxy_users.empty()) {
    return Wrong(config.proxy_users.empty() ? "--proxy_metadata: needs --proxy_users"
                                            : "--proxy_users: needs --proxy_metadata");
  }
  return config;
}

std::string ConfigHelp() {
  std::string help =
      "maskd: turns grammars into token masks for inference engines, over gRPC.\n\n"
      "  maskd [--flag=value ...]\n\n"
      "Each flag can be given as an environment variable too: --max_rows is MASKD_MAX_ROWS; and in "
      "the file of --config: max_rows: 4096.\n\n";
  for (const Flag& flag : AllFlags()) {
    absl::StrAppend(&help, "  --", flag.name, flag.shape.empty() ? "" : "=", flag.shape,
                    "\n        ", flag.help, "\n");
  }
  absl::StrAppend(&help, "\nVocabulary formats: ", absl::StrJoin(VocabularyFormats(), ", "),
                  "\nPresets of special tokens: ", absl::StrJoin(SpecialPresets(), ", "), "\n");
  return help;
}

}  // namespace maskd::service
