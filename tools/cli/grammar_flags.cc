// The flags of a grammar and the options that they set, for all commands that take one. Only what
// was given is set: what is absent in the message is the server's default.
//
// Invariant  an enumerator's number is the place of its word in the list, plus one.
// Cost       the files that are named are read whole.
#include "tools/cli/grammar_flags.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <limits>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <zlib.h>

#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/json/json_document.h"
#include "tools/cli/command.h"

namespace maskd::cli {
namespace {

// The names of each enum's values, in the order of its numbers from 1 on.
constexpr std::array<absl::string_view, 2> kWhiteSpaces = {"flexible", "compact"};
constexpr std::array<absl::string_view, 2> kPropertyOrders = {"declared", "any"};
constexpr std::array<absl::string_view, 2> kSpellings = {"canonical", "any"};
constexpr std::array<absl::string_view, 2> kStrictnesses = {"refuse", "relax"};
constexpr std::array<absl::string_view, 2> kBooleans = {"false", "true"};

// Sets what was given; what was not stays absent, the server's default.
template <typename Set>
absl::Status SetChoice(const Flags& flags, absl::string_view name,
                       std::span<const absl::string_view> values, Set set) {
  if (!flags.Has(name)) return absl::OkStatus();
  const absl::StatusOr<int> choice = flags.GetChoice(name, values);
  if (!choice.ok()) return UsageError(choice.status().message());
  set(*choice);
  return absl::OkStatus();
}

template <typename Set>
absl::Status SetNumber(const Flags& flags, absl::string_view name, Set set) {
  if (!flags.Has(name)) return absl::OkStatus();
  const auto number = flags.GetNumber(name, 0, std::numeric_limits<std::int32_t>::max());
  if (!number.ok()) return UsageError(number.status().message());
  set(static_cast<std::int32_t>(*number));
  return absl::OkStatus();
}

absl::Status ReadOptions(const Flags& flags, v1::GrammarOptions& options) {
  if (flags.Has("item_separator")) options.set_item_separator(flags.Get("item_separator"));
  if (flags.Has("key_separator")) options.set_key_separator(flags.Get("key_separator"));
  const absl::Status statuses[] = {
      SetChoice(flags, "white_space", kWhiteSpaces,
                [&](int i) { options.set_white_space(static_cast<v1::WhiteSpace>(i + 1)); }),
      SetChoice(flags, "property_order", kPropertyOrders,
                [&](int i) { options.set_property_order(static_cast<v1::PropertyOrder>(i + 1)); }),
      SetChoice(flags, "spelling", kSpellings,
                [&](int i) { options.set_spelling(static_cast<v1::JsonSpelling>(i + 1)); }),
      SetChoice(flags, "strictness", kStrictnesses,
                [&](int i) { options.set_strictness(static_cast<v1::Strictness>(i + 1)); }),
      SetChoice(flags, "additional_properties", kBooleans,
                [&](int i) { options.set_additional_properties(i == 1); }),
      SetChoice(flags, "assert_formats", kBooleans,
                [&](int i) { options.set_assert_formats(i == 1); }),
      SetNumber(flags, "max_whitespace",
                [&](std::int32_t count) { options.set_max_whitespace(count); }),
      SetNumber(flags, "indent", [&](std::int32_t count) { options.set_indent(count); }),
      SetNumber(flags, "max_number_digits",
                [&](std::int32_t count) { options.set_max_number_digits(count); }),
      SetNumber(flags, "max_text_tokens",
                [&](std::int32_t count) { options.set_max_tokens(count); }),
      SetNumber(flags, "max_text_characters",
                [&](std::int32_t count) { options.set_max_characters(count); }),
  };
  for (const absl::Status& status : statuses)
    if (!status.ok()) return status;
  return absl::OkStatus();
}

}  // namespace

std::vector<Flag> WithGrammarFlags(std::vector<Flag> more) {
  const std::vector<Flag> flags = {
      {"kind", "KIND", "what the grammar is written in, such as json_schema or gbnf",
       "json_schema"},
      {"white_space", "flexible|compact", "white space between JSON tokens [the server's default]"},
      {"max_whitespace", "COUNT", "characters of it in a row [the server's default]"},
      {"item_separator", "TEXT", "exactly what stands between two members or items, such as ', '"},
      {"key_separator", "TEXT", "exactly what stands between a name and its value, such as ': '"},
      {"indent", "SPACES", "lines of JSON, indented by so many spaces a level [one line]"},
      {"property_order", "declared|any", "order of an object's members [the server's default]"},
      {"spelling", "canonical|any", "escapes and numbers of JSON [the server's default]"},
      {"strictness", "refuse|relax", "what becomes of unsupported keywords [the server's default]"},
      {"additional_properties", "true|false",
       "whether objects are open where the schema does not say [the server's default]"},
      {"assert_formats", "true|false",
       "whether \"format\" restricts strings [as the schema's draft has it]"},
      {"max_number_digits", "COUNT", "digits of a number's parts [the server's default]"},
      {"max_text_tokens", "COUNT", "tokens of a text, its end not counted [no bound]"},
      {"max_text_characters", "COUNT", "Unicode characters of a text [no bound]"},
      {"remotes", "FILE", "documents that a $ref may lead to: a JSON object of them by address"},
  };
  more.insert(more.end(), flags.begin(), flags.end());
  return more;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  if (path == "-") return std::string{std::istreambuf_iterator<char>(std::cin), {}};
  errno = 0;
  const gzFile file = gzopen(path.c_str(), "rb");
  std::string text;
  std::array<char, 1 << 16> buffer{};
  int count = file == nullptr ? -1 : 1;
  while (count > 0) {
    count = gzread(file, buffer.data(), buffer.size());
    text.append(buffer.data(), static_cast<std::size_t>(std::max(count, 0)));
  }
  const int why = errno;
  const bool is_cut_off = file != nullptr && gzclose(file) == Z_BUF_ERROR;
  if (count < 0) {
    return absl::NotFoundError(absl::StrCat(
        path, ": cannot be read: ",
        why == 0 ? "its compressed data is damaged" : std::generic_category().message(why)));
  }
  if (is_cut_off) return absl::InvalidArgumentError(absl::StrCat(path, ": ends within its gzip"));
  return text;
}

absl::Status ReadRemotes(const Flags& flags, v1::Grammar& grammar) {
  if (!flags.Has("remotes")) return absl::OkStatus();
  const std::string& path = flags.Get("remotes");
  const auto text = ReadFile(path);
  if (!text.ok()) return text.status();
  const auto read = JsonDocument::Parse(*text, Limits());
  if (!read.ok())
    return absl::Status(read.status().code(), absl::StrCat(path, ":", read.status().message()));
  if (!read->root().is_object())
    return absl::InvalidArgumentError(absl::StrCat(path, ": is no JSON object of documents"));
  for (const JsonValue document : read->root().children()) {
    v1::Document* const added = grammar.add_documents();
    added->set_uri(std::string(document.key()));
    added->set_text(document.Compact());
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::Grammar> ReadGrammarFlags(const Flags& flags) {
  v1::Grammar grammar;
  grammar.set_kind(flags.Get("kind"));
  absl::Status status = ReadOptions(flags, *grammar.mutable_options());
  if (status.ok()) status = ReadRemotes(flags, grammar);
  if (!status.ok()) return status;
  return grammar;
}

absl::StatusOr<v1::Grammar> ReadGrammarFile(const std::string& path, const Flags& flags) {
  absl::StatusOr<v1::Grammar> grammar = ReadGrammarFlags(flags);
  if (!grammar.ok()) return grammar;
  auto source = ReadFile(path);
  if (!source.ok()) return source.status();
  grammar->set_source(*std::move(source));
  return grammar;
}

absl::StatusOr<std::vector<std::string>> GrammarFiles(const Flags& flags) {
  if (!flags.arguments().empty()) return flags.arguments();
  const std::string& directory = flags.Get("schemas");
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error))
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  if (error) {
    return UsageError(absl::StrCat("--schemas: ", directory, ": ", error.message(),
                                   flags.Has("schemas") ? "" : "; name files of schemas instead"));
  }
  if (files.empty())
    return UsageError(absl::StrCat("--schemas: ", directory, ": has no .json file"));
  std::ranges::sort(files);
  return files;
}

absl::StatusOr<std::string> OneArgument(const Flags& flags, absl::string_view what) {
  if (flags.arguments().size() == 1) return flags.arguments().front();
  return UsageError(absl::StrCat("one ", what, " is needed, \"-\" for standard input; ",
                                 flags.arguments().size(), " were given"));
}

absl::StatusOr<v1::Grammar> ReadGrammarArgument(const Flags& flags) {
  const auto path = OneArgument(flags, "grammar file");
  if (!path.ok()) return path.status();
  if (absl::StartsWith(*path, "{")) {
    return UsageError(
        absl::StrCat(*path, ": is a grammar, not its file; \"-\" reads it from standard input"));
  }
  return ReadGrammarFile(*path, flags);
}

}  // namespace maskd::cli
