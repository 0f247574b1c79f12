// A kind of grammar is a row: its name, what form its text has, and what reads it. Whatever holds
// for all kinds is here and nowhere else: the options are checked, the text is bounded and parsed
// if it is JSON, and its bytes are paid to the budget.
//
// Invariant  a front end is called only with options and sizes that were checked.
// Cost       one search in the rows and one unit of work for every 32 bytes of the text.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/chat/chat.h"
#include "grammar_core/frontend/choice/choice.h"
#include "grammar_core/frontend/ebnf/ebnf.h"
#include "grammar_core/frontend/front_end.h"
#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/json_schema/json_schema.h"
#include "grammar_core/frontend/lark/lark.h"
#include "grammar_core/frontend/read_result.h"
#include "grammar_core/frontend/regex/regex.h"
#include "grammar_core/frontend/response_format/response_format.h"
#include "grammar_core/frontend/structural_tag/structural_tag.h"

namespace maskd {
namespace {

enum class TextForm : std::uint8_t { kNone, kPlain, kJson };

struct FrontEnd {
  absl::string_view kind;
  TextForm form;
  absl::StatusOr<ReadResult> (*read)(ParsedSource&, const Limits&, Budget&);
};

template <absl::StatusOr<ReadResult> (*kRead)(const GrammarSource&, const Limits&, Budget&)>
absl::StatusOr<ReadResult> FromText(ParsedSource& parsed, const Limits& limits, Budget& budget) {
  return kRead(parsed.source, limits, budget);
}

template <absl::StatusOr<ReadResult> (*kRead)(JsonDocument, const GrammarSource&, const Limits&,
                                              Budget&)>
absl::StatusOr<ReadResult> FromJson(ParsedSource& parsed, const Limits& limits, Budget& budget) {
  return kRead(*std::move(parsed.json), parsed.source, limits, budget);
}

template <absl::StatusOr<ReadResult> (*kRead)(JsonDocument, const GrammarSource&,
                                              const ReadContext&, const Limits&, Budget&)>
absl::StatusOr<ReadResult> FromJsonInContext(ParsedSource& parsed, const Limits& limits,
                                             Budget& budget) {
  return kRead(*std::move(parsed.json), parsed.source, parsed.context, limits, budget);
}

absl::StatusOr<ReadResult> FromChat(ParsedSource& parsed, const Limits& limits, Budget& budget) {
  return ReadChat(*parsed.chat, parsed.source, parsed.context, limits, budget);
}

constexpr std::array kFrontEnds = {
    FrontEnd{"json_schema", TextForm::kJson, &FromJson<&ReadJsonSchema>},
    FrontEnd{"json_object", TextForm::kNone, &FromText<&ReadAnyJsonObject>},
    FrontEnd{"json", TextForm::kNone, &FromText<&ReadAnyJson>},
    FrontEnd{"choice", TextForm::kJson, &FromJson<&ReadChoice>},
    FrontEnd{"regex", TextForm::kPlain, &FromText<&ReadRegexGrammar>},
    FrontEnd{"gbnf", TextForm::kPlain, &FromText<&ReadGbnf>},
    FrontEnd{"ebnf", TextForm::kPlain, &FromText<&ReadEbnf>},
    FrontEnd{"lark", TextForm::kPlain, &FromText<&ReadLark>},
    FrontEnd{"response_format", TextForm::kJson, &FromJsonInContext<&ReadResponseFormat>},
    FrontEnd{"structural_tag", TextForm::kJson, &FromJsonInContext<&ReadStructuralTag>},
    FrontEnd{"chat", TextForm::kJson, &FromChat},
};

absl::StatusOr<FrontEnd> FindFrontEnd(absl::string_view kind) {
  for (const FrontEnd& front_end : kFrontEnds)
    if (front_end.kind == kind) return front_end;
  return InvalidAt("kind", absl::StrCat("there is no grammar kind \"", kind, "\"; known are ",
                                        absl::StrJoin(FrontEndKinds(), ", ")));
}

absl::Status CheckSeparator(const std::optional<std::string>& separator, char sign,
                            absl::string_view place) {
  if (!separator.has_value()) return absl::OkStatus();
  const bool is_one = !separator->empty() && separator->front() == sign &&
                      separator->find_first_not_of(" \t\n\r", 1) == std::string::npos;
  return is_one ? absl::OkStatus()
                : InvalidAt(place, absl::StrCat("must be '", std::string(1, sign),
                                                "' and white space behind it"));
}

absl::Status CheckIndent(const GrammarOptions& options) {
  if (!options.indent.has_value()) return absl::OkStatus();
  if (*options.indent < 0 || *options.indent > GrammarOptions::kMaxIndent) {
    return InvalidAt("options.indent", absl::StrCat(*options.indent, " is not in [0, ",
                                                    GrammarOptions::kMaxIndent, "]"));
  }
  if (options.white_space != WhiteSpace::kCompact) return absl::OkStatus();
  return InvalidAt("options.indent", "compact white space leaves no room for it");
}

absl::Status CheckSource(const GrammarSource& source, const Limits& limits) {
  const auto bytes = static_cast<std::int64_t>(source.text.size());
  if (bytes > limits.source_bytes)
    return LimitExceeded("", "source_bytes", limits.source_bytes, bytes);
  if (source.options.max_whitespace < 0)
    return InvalidAt("options.max_whitespace", "must not be negative");
  if (source.options.max_number_digits < 1)
    return InvalidAt("options.max_number_digits", "must be at least 1");
  if (source.options.max_tokens.value_or(1) < 1)
    return InvalidAt("options.max_tokens", "must be at least 1");
  if (source.options.max_characters.value_or(1) < 1)
    return InvalidAt("options.max_characters", "must be at least 1");
  if (absl::Status status = CheckIndent(source.options); !status.ok()) return status;
  absl::Status items = CheckSeparator(source.options.item_separator, ',', "options.item_separator");
  return items.ok() ? CheckSeparator(source.options.key_separator, ':', "options.key_separator")
                    : items;
}

}  // namespace

void AddWarning(Diagnostic warning, std::vector<Diagnostic>* warnings) {
  if (warnings->size() < kMaxWarnings)
    warnings->push_back(std::move(warning));
  else if (warnings->size() == kMaxWarnings)
    warnings->push_back({"", absl::StrCat("more than ", kMaxWarnings, " of these")});
}

absl::StatusOr<ParsedSource> ParseSource(GrammarSource source, const Limits& limits,
                                         const ReadContext& context) {
  const absl::StatusOr<FrontEnd> front_end = FindFrontEnd(source.kind);
  if (!front_end.ok()) return front_end.status();
  if (absl::Status status = CheckSource(source, limits); !status.ok()) return status;
  ParsedSource parsed{.source = std::move(source), .json = std::nullopt, .context = context};
  if (front_end->form != TextForm::kJson) return parsed;
  const bool is_chat = parsed.source.kind == "chat";
  absl::StatusOr<JsonDocument> json = is_chat ? ParseChat(parsed.source.text, context, limits)
                                              : JsonDocument::Parse(parsed.source.text, limits);
  if (!json.ok()) return json.status();
  parsed.json = *std::move(json);
  if (!is_chat) return parsed;
  parsed.chat = std::make_shared<const ChatSource>(parsed.json->root(), context.schemas);
  if (parsed.chat->tag.ok() || !parsed.json->has_unread()) return parsed;
  // The id of what is no request is that of its whole text.
  json = JsonDocument::Parse(parsed.source.text, limits);
  if (!json.ok()) return json.status();
  parsed.json = *std::move(json);
  parsed.chat = std::make_shared<const ChatSource>(parsed.json->root());
  return parsed;
}

absl::StatusOr<ReadResult> ReadParsed(ParsedSource& parsed, const Limits& limits, Budget& budget) {
  const absl::StatusOr<FrontEnd> front_end = FindFrontEnd(parsed.source.kind);
  if (!front_end.ok()) return front_end.status();
  // Charges for the text that a front end passes over or copies. It counts itself what it makes.
  constexpr std::size_t kBytesPerUnit = 32;
  const auto bytes = static_cast<std::int64_t>(parsed.source.text.size() / kBytesPerUnit);
  if (absl::Status s = budget.Spend(bytes); !s.ok()) return s;
  return front_end->read(parsed, limits, budget);
}

std::string NormalText(const ParsedSource& parsed) {
  if (parsed.chat != nullptr) return NormalChat(*parsed.chat, parsed.json->root());
  if (parsed.json.has_value()) return parsed.json->root().Compact();
  const absl::StatusOr<FrontEnd> front_end = FindFrontEnd(parsed.source.kind);
  const bool has_text = front_end.ok() && front_end->form == TextForm::kPlain;
  return has_text ? parsed.source.text : std::string();
}

std::vector<std::string> FrontEndKinds() {
  std::vector<std::string> kinds;
  for (const FrontEnd& front_end : kFrontEnds) kinds.emplace_back(front_end.kind);
  return kinds;
}

}  // namespace maskd
