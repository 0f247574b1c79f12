// A call's text is its opening, its arguments and its closing, side by side. White space in them is
// written as it was said; at the outer ends it stands between calls.
//
// Invariant  what a call is written as, transformers' parser reads back.
// Cost       linear in the field.
#include "grammar_core/frontend/chat/response_call.h"

#include <array>
#include <cassert>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/structural_tag/fields.h"

namespace maskd {
namespace {

using Anchor = ResponseAnchor;
using Kind = PatternPiece::Kind;
using Pieces = std::vector<PatternPiece>;

bool TouchesSpace(absl::string_view before, absl::string_view behind) {
  const auto is_space = [](char c) { return absl::ascii_isspace(static_cast<unsigned char>(c)); };
  return (!before.empty() && is_space(before.back())) ||
         (!behind.empty() && is_space(behind.front()));
}

bool IsTrue(const JsonValue& object, absl::string_view key) {
  const std::optional<JsonValue> member = object.Find(key);
  return member.has_value() && member->type() == JsonType::kTrue;
}

// A call, in the order in which it is written.
class CallParts {
 public:
  void AddText(absl::string_view text) { text_.append(text.data(), text.size()); }
  void Add(std::string part) {
    Flush();
    parts_.push_back(std::move(part));
  }
  [[nodiscard]] const std::string& last_text() const { return text_; }
  void DropSuffix(absl::string_view suffix) {
    text_ = std::string(absl::StripSuffix(text_, suffix));
  }
  std::vector<std::string> Take() {
    Flush();
    return std::move(parts_);
  }

 private:
  void Flush() {
    if (!text_.empty()) parts_.push_back(JsonString(text_));
    text_.clear();
  }

  std::vector<std::string> parts_;
  std::string text_;
};

class CallReader {
 public:
  CallReader(const std::vector<std::string>& turn_ends, const PassedOver& passed_over)
      : turn_ends_(turn_ends),
        space_(passed_over.space),
        behind_arguments_(passed_over.behind_arguments) {}

  absl::Status Read(const JsonValue& field) {
    const absl::StatusOr<Anchor> open = ReadResponseAnchor(field, "open");
    if (!open.ok()) return open.status();
    const absl::StatusOr<Anchor> close = ReadResponseAnchor(field, "close");
    if (!close.ok()) return close.status();
    for (const auto& [anchor, key] : {std::pair{&*open, "open"}, std::pair{&*close, "close"}})
      if (anchor->empty())
        return InvalidMember(field, key, "is missing: a call stands between both");
    if (absl::Status read = ReadTransform(field); !read.ok()) return read;
    const absl::string_view content = field.FindText("content");
    const bool is_list = IsTrue(field, "transform_each");
    out_.parallel = IsTrue(field, "repeats") || is_list;
    if (!behind_arguments_.empty() && content != "xml-inline")
      return InvalidAt(field.Pointer(), "nothing is passed over behind arguments of this content");
    if (is_list) return WriteList(field, *open, *close);
    if (!IsTrue(field, "repeats"))
      return UnsupportedAt(field.Pointer(), "calls that do not repeat", "and are no list");
    if (content == "json") return WriteJsonCall(field, *open, *close);
    if (content == "xml-inline") return WriteElementsCall(field, *open, *close);
    return UnsupportedAt(absl::StrCat(field.Pointer(), "/content"), "arguments of this content",
                         "known are json and xml-inline");
  }

  [[nodiscard]] ResponseCalls Take() { return std::move(out_); }

 private:
  // The white space that is written for `piece`, between two texts.
  absl::StatusOr<std::string> SpaceFor(const PatternPiece& piece, absl::string_view before,
                                       absl::string_view behind, absl::string_view place) const {
    if (!piece.is_needed && TouchesSpace(before, behind)) return "";
    if (!space_.has_value())
      return UnsupportedAt(place, "white space that is passed over",
                           "what the model writes there must be said (--space)");
    const std::string& space = *space_;
    if (piece.text.empty() || piece.text == space) {
      if (!space.empty() || !piece.is_needed) return space;
    } else if (!piece.is_needed) {
      return "";
    }
    return InvalidAt(place, "needs white space that --space is not");
  }

  static absl::string_view TextAt(const Pieces& pieces, std::size_t index) {
    const bool is_text = index < pieces.size() && pieces[index].kind == Kind::kText;
    return is_text ? pieces[index].text : absl::string_view();
  }

  // Writes an anchor; white space at the outer end stands around the call, and is left out.
  absl::Status Write(const Anchor& anchor, bool is_open, CallParts* call) {
    if (anchor.texts.size() > 1)
      return UnsupportedAt(anchor.place, "more than one text around a call", "");
    if (!anchor.texts.empty()) call->AddText(anchor.texts.front());
    const Pieces& pieces = anchor.pieces;
    const std::size_t outer = is_open ? 0 : pieces.size() - 1;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const PatternPiece& piece = pieces[i];
      if (piece.kind == Kind::kChoice)
        return UnsupportedAt(anchor.place, "a choice between texts", "around a call");
      if (piece.kind == Kind::kText) {
        call->AddText(piece.text);
      } else if (piece.kind == Kind::kSpace) {
        if (i == outer) {
          has_space_around_ = true;
          continue;
        }
        const absl::StatusOr<std::string> space = SpaceFor(
            piece, i > 0 ? TextAt(pieces, i - 1) : "", TextAt(pieces, i + 1), anchor.place);
        if (!space.ok()) return space.status();
        call->AddText(*space);
      } else if (absl::Status named = WriteName(anchor, i, call); !named.ok()) {
        return named;
      }
    }
    return absl::OkStatus();
  }

  absl::Status WriteName(const Anchor& anchor, std::size_t index, CallParts* call) {
    const PatternPiece& piece = anchor.pieces[index];
    assert(piece.kind == Kind::kCapture && "a name is what a capture has");
    if (has_name_ || piece.text.empty() || piece.text != name_capture_)
      return UnsupportedAt(anchor.place, absl::StrCat("the capture ", piece.text),
                           "which is not the call's name");
    has_name_ = true;
    name_body_ = piece.body;
    name_place_ = anchor.place;
    const bool is_json = absl::EndsWith(call->last_text(), "\"") &&
                         absl::StartsWith(TextAt(anchor.pieces, index + 1), "\"");
    // A tool's name has no other characters than these.
    const bool takes_all = absl::c_all_of(absl::string_view("a0_-./:"), [&](char c) {
      return CaptureHas(piece.body, c).value_or(true);
    });
    call->Add(!takes_all ? R"({"name": "word"})"
              : is_json  ? R"({"name": "json"})"
                         : R"({"name": "raw"})");
    return absl::OkStatus();
  }

  // Whether `parts` has, behind the name, what ends the capture that reads it.
  absl::Status CheckName(const std::vector<std::string>& parts, char arguments_begin) const {
    if (!has_name_) return absl::OkStatus();
    const auto name = absl::c_find_if(
        parts, [](const std::string& part) { return absl::StartsWith(part, R"({"name")"); });
    assert(parts.end() - name > 1 && "the arguments stand behind the name");
    const std::string& behind = *(name + 1);
    const char next = behind[0] != '"'    ? arguments_begin
                      : behind[1] != '\\' ? behind[1]
                      : behind[2] == 'n'  ? '\n'
                                          : behind[2];
    const std::optional<bool> takes = CaptureTakes(name_body_, next);
    if (takes.has_value() && !*takes) return absl::OkStatus();
    return UnsupportedAt(
        name_place_, absl::StrCat("a name of the form ", name_body_),
        takes.has_value() ? "it takes what stands behind it" : "known are sets that repeat");
  }

  // Reads "transform": where a call's name and arguments are.
  absl::Status ReadTransform(const JsonValue& field) {
    const std::optional<JsonValue> transform = field.Find("transform");
    if (!transform.has_value() || !transform->is_object())
      return UnsupportedAt(field.Pointer(), "calls without a transform",
                           "which says where the name and the arguments are");
    std::optional<JsonValue> function;
    for (const JsonValue member : transform->children())
      if (member.key() == "function")
        function = member;
      else if (member.key() != "type" || member.text() != "function")
        return UnsupportedAt(member.Pointer(), "a member of a call",
                             "but \"type\" and \"function\"");
    if (!function.has_value()) return InvalidMember(*transform, "function", "is missing");
    if (function->is_string() && function->text() == "{content}") {
      name_ = "{content.name}";
      arguments_ = "{content.arguments}";
      return absl::OkStatus();
    }
    if (!function->is_object())
      return UnsupportedAt(function->Pointer(), "a function of this form", "");
    if (absl::Status keys = CheckKeys(*function, {"name", "arguments"}); !keys.ok()) return keys;
    name_ = std::string(function->FindText("name"));
    arguments_ = std::string(function->FindText("arguments"));
    return absl::OkStatus();
  }

  // The key in "{PREFIX.key}" or, without a prefix, in "{key}".
  static std::optional<std::string> KeyIn(absl::string_view placeholder, absl::string_view prefix) {
    const bool is_one = absl::ConsumePrefix(&placeholder, "{") &&
                        absl::ConsumePrefix(&placeholder, prefix) &&
                        absl::ConsumeSuffix(&placeholder, "}");
    if (!is_one || placeholder.empty() || absl::StrContains(placeholder, ".")) return std::nullopt;
    return std::string(placeholder);
  }

  // The JSON object of a call of which name and arguments are members.
  absl::Status WriteCallObject(const JsonValue& field, absl::string_view prefix, CallParts* call) {
    const std::optional<std::string> name = KeyIn(name_, prefix);
    const std::optional<std::string> arguments = KeyIn(arguments_, prefix);
    if (!name.has_value() || !arguments.has_value())
      return UnsupportedAt(absl::StrCat(field.Pointer(), "/transform/function"),
                           "a name and arguments of this form", "");
    call->AddText(absl::StrCat("{", JsonString(*name), ": \""));
    call->Add(R"({"name": "json"})");
    call->AddText(absl::StrCat("\", ", JsonString(*arguments), ": "));
    call->Add(R"({"arguments": "json"})");
    call->AddText("}");
    return absl::OkStatus();
  }

  absl::Status WriteList(const JsonValue& field, const Anchor& open, const Anchor& close) {
    if (field.FindText("content") != "json")
      return UnsupportedAt(absl::StrCat(field.Pointer(), "/content"), "a list", "but in json");
    if (open.texts.size() != 1 || close.texts.size() != 1)
      return UnsupportedAt(open.texts.size() != 1 ? open.place : close.place,
                           "a pattern around a list", "a text is needed");
    if (absl::Status no = CheckArguments(field); !no.ok()) return no;
    out_.begin = absl::StrCat(open.texts.front(), "[");
    out_.end = absl::StrCat("]", close.texts.front());
    out_.trigger = open.texts.front();
    out_.separator = ", ";
    CallParts call;
    if (absl::Status made = WriteCallObject(field, "", &call); !made.ok()) return made;
    out_.call = call.Take();
    return absl::OkStatus();
  }

  // JSON as it is: without arguments to its parser.
  static absl::Status CheckArguments(const JsonValue& field) {
    const std::optional<JsonValue> given = field.Find("content_args");
    if (!given.has_value() || given->size() == 0) return absl::OkStatus();
    return UnsupportedAt(given->Nth(0)->Pointer(), "JSON of another spelling", "here");
  }

  // What quotes strings where keys are bare; empty: JSON as it is.
  static absl::StatusOr<std::string> QuoteOf(const JsonValue& field) {
    const std::optional<JsonValue> given = field.Find("content_args");
    if (!given.has_value() || given->size() == 0) return "";
    const absl::Status keys = CheckKeys(*given, {"unquoted_keys", "string_delims"});
    if (!keys.ok()) return keys;
    const std::optional<JsonValue> quotes = given->Find("string_delims");
    const std::optional<JsonValue> pair =
        quotes.has_value() && quotes->is_array() && quotes->size() == 1 ? quotes->Nth(0)
                                                                        : std::nullopt;
    const bool is_pair = pair.has_value() && pair->is_array() && pair->size() == 2 &&
                         pair->Nth(0)->text() == pair->Nth(1)->text();
    if (!is_pair || !IsTrue(*given, "unquoted_keys"))
      return UnsupportedAt(given->Pointer(), "JSON of another spelling",
                           "but bare keys with one quote around strings");
    return std::string(pair->Nth(0)->text());
  }

  absl::Status WriteJsonCall(const JsonValue& field, const Anchor& open, const Anchor& close) {
    const absl::StatusOr<std::string> quote = QuoteOf(field);
    if (!quote.ok()) return quote.status();
    CallParts call;
    name_capture_ = KeyIn(name_, "").value_or("");
    if (absl::Status made = Write(open, true, &call); !made.ok()) return made;
    if (has_name_ && arguments_ == "{content}") {
      if (quote->empty()) {
        if (absl::Status made = WriteSpace(field, open, true, &call); !made.ok()) return made;
        call.Add(R"({"arguments": "json"})");
      } else {
        call.AddText("{");
        call.Add(absl::StrCat(R"({"arguments": {"quote": )", JsonString(*quote),
                              R"(, "words": "json", "names": "word"}})"));
        call.AddText("}");
      }
    } else if (has_name_ || !quote->empty()) {
      return UnsupportedAt(absl::StrCat(field.Pointer(), "/transform/function"),
                           "a name and arguments of this form", "");
    } else {
      if (absl::Status made = WriteSpace(field, open, true, &call); !made.ok()) return made;
      if (absl::Status made = WriteCallObject(field, "content.", &call); !made.ok()) return made;
    }
    if (quote->empty())
      if (absl::Status made = WriteSpace(field, close, false, &call); !made.ok()) return made;
    return Finish(open, close, '{', &call);
  }

  // White space around JSON, which its parser passes over. Within an object there is none to be
  // said: it is JSON's own.
  absl::Status WriteSpace(const JsonValue& field, const Anchor& anchor, bool is_open,
                          CallParts* call) const {
    const Pieces& pieces = anchor.pieces;
    if (is_open && !pieces.empty() && pieces.back().kind == Kind::kSpace) return absl::OkStatus();
    if (!is_open && !pieces.empty() && pieces.front().kind == Kind::kSpace) return absl::OkStatus();
    const absl::string_view next =
        is_open ? absl::string_view()
                : (anchor.texts.empty() ? TextAt(pieces, 0) : anchor.texts.front());
    if (absl::StartsWith(next, "}")) return absl::OkStatus();
    const absl::StatusOr<std::string> space =
        SpaceFor(PatternPiece{.kind = Kind::kSpace}, call->last_text(), next,
                 absl::StrCat(field.Pointer(), "/content"));
    if (!space.ok()) return space.status();
    call->AddText(*space);
    return absl::OkStatus();
  }

  static bool IsBeforeCapture(const Pieces& pieces, std::size_t index) {
    return index + 1 < pieces.size() && pieces[index + 1].kind == Kind::kCapture;
  }

  // An element of an argument: a text, the key, a text, the value, a text.
  struct Element {
    std::string open;
    std::string behind_name;
    std::string close;
    bool has_pad = false;  // white space may stand around the value
  };

  absl::StatusOr<Element> ReadElement(const Pieces& pieces, absl::string_view place) const {
    const auto fault = [&](absl::string_view what) {
      return UnsupportedAt(place, what, "an element is a text, a key, a value and texts around it");
    };
    Element out;
    const std::array<std::string*, 3> texts = {&out.open, &out.behind_name, &out.close};
    std::size_t at = 0;  // of the texts
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const PatternPiece& piece = pieces[i];
      if (piece.kind == Kind::kChoice) return fault("a choice between texts");
      if (piece.kind == Kind::kCapture) {
        if (at == 2 || piece.text != (at == 0 ? "key" : "value"))
          return fault("captures in this order");
        if (at == 1 && piece.body != ".*?") return fault("a value of this form");
        ++at;
      } else if (piece.kind == Kind::kText) {
        *texts[at] += piece.text;
      } else if (IsBeforeCapture(pieces, i) ? at == 1 : at == 2 && out.close.empty()) {
        // Before the value, or behind it.
        if (piece.is_needed) return fault("white space that must be there");
        out.has_pad = true;
      } else if (at == 1) {
        const absl::StatusOr<std::string> space =
            SpaceFor(piece, out.behind_name, TextAt(pieces, i + 1), place);
        if (!space.ok()) return space.status();
        out.behind_name += *space;
      } else {
        return fault("white space here");
      }
    }
    return at == 2 ? absl::StatusOr<Element>(std::move(out)) : fault("no value");
  }

  // An element of "tag_pattern" as a style. `*begin` is its first byte.
  absl::StatusOr<std::string> StyleOf(const JsonValue& field, char* begin) const {
    const std::optional<JsonValue> given = field.Find("content_args");
    if (!given.has_value()) return InvalidMember(field, "content_args", "is missing");
    const absl::Status keys = CheckKeys(*given, {"tag_pattern", "value_parser"});
    if (!keys.ok()) return keys;
    const absl::StatusOr<absl::string_view> pattern = RequiredText(*given, "tag_pattern");
    if (!pattern.ok()) return pattern.status();
    const std::string place = absl::StrCat(given->Pointer(), "/tag_pattern");
    const absl::StatusOr<Pieces> pieces = ReadResponsePattern(*pattern, place);
    if (!pieces.ok()) return pieces.status();
    const absl::StatusOr<Element> element = ReadElement(*pieces, place);
    if (!element.ok()) return element.status();
    *begin = element->open.empty() ? '\0' : element->open[0];
    std::string pad;
    if (element->has_pad) {
      const absl::StatusOr<std::string> space =
          SpaceFor(PatternPiece{.kind = Kind::kSpace}, "", "", place);
      if (!space.ok()) return space.status();
      if (!space->empty()) pad = absl::StrCat(R"(, "pad": )", JsonString(*space));
    }
    return absl::StrCat(R"({"open": )", JsonString(element->open), R"(, "behind_name": )",
                        JsonString(element->behind_name), R"(, "close": )",
                        JsonString(element->close), pad, "}");
  }

  absl::Status WriteElementsCall(const JsonValue& field, const Anchor& open, const Anchor& close) {
    char begin = '\0';
    const absl::StatusOr<std::string> style = StyleOf(field, &begin);
    if (!style.ok()) return style.status();
    CallParts call;
    name_capture_ = KeyIn(name_, "").value_or("");
    if (absl::Status made = Write(open, true, &call); !made.ok()) return made;
    if (!has_name_ || arguments_ != "{content}")
      return UnsupportedAt(absl::StrCat(field.Pointer(), "/transform/function"),
                           "a name and arguments of this form", "");
    // What stands between elements is passed over.
    if (space_.has_value() && !TouchesSpace(call.last_text(), "")) call.AddText(*space_);
    call.Add(absl::StrCat(R"({"arguments": )", *style, "}"));
    call.AddText(behind_arguments_);
    return Finish(open, close, begin, &call);
  }

  // Writes what closes a call; what ends a turn is written by no call.
  absl::Status Finish(const Anchor& open, const Anchor& close, char arguments_begin,
                      CallParts* call) {
    if (absl::Status made = Write(close, false, call); !made.ok()) return made;
    for (const std::string& end : turn_ends_) {
      if (end.empty() || !absl::EndsWith(call->last_text(), end)) continue;
      call->DropSuffix(end);
      out_.parallel = false;
      break;
    }
    const auto text = absl::c_find_if(
        open.pieces, [](const PatternPiece& piece) { return piece.kind == Kind::kText; });
    out_.trigger =
        open.texts.empty() ? (text == open.pieces.end() ? "" : text->text) : open.texts.front();
    if (out_.trigger.empty())
      return UnsupportedAt(open.place, "a call that begins with no text", "");
    if (has_space_around_ && out_.parallel) out_.separator = space_.value_or("");
    out_.call = call->Take();
    return CheckName(out_.call, arguments_begin);
  }

  const std::vector<std::string>& turn_ends_;
  const std::optional<std::string>& space_;
  const std::string& behind_arguments_;
  // What the transform says, and then the capture that is the name.
  std::string name_;
  std::string arguments_;
  std::string name_capture_;
  std::string name_body_;
  std::string name_place_;
  bool has_name_ = false;
  bool has_space_around_ = false;
  ResponseCalls out_;
};

}  // namespace

absl::StatusOr<ResponseAnchor> ReadResponseAnchor(const JsonValue& field, absl::string_view key) {
  ResponseAnchor anchor;
  if (const std::optional<JsonValue> at = field.Find(key); at.has_value()) {
    anchor.place = at->Pointer();
    if (at->is_string()) {
      anchor.texts.emplace_back(at->text());
      return anchor;
    }
    if (!at->is_array() || at->size() == 0)
      return InvalidAt(anchor.place, "must be a text or a list of texts");
    for (const JsonValue one : at->children()) {
      if (!one.is_string()) return InvalidAt(one.Pointer(), "must be a text");
      anchor.texts.emplace_back(one.text());
    }
    return anchor;
  }
  const std::string pattern_key = absl::StrCat(key, "_pattern");
  const std::optional<JsonValue> at = field.Find(pattern_key);
  if (!at.has_value()) return anchor;
  if (!at->is_string()) return InvalidMember(field, pattern_key, "must be a text");
  anchor.place = at->Pointer();
  absl::string_view pattern = at->text();
  // The end of the text closes what is open, whether it is said or not.
  if (key == "close" && !absl::EndsWith(pattern, "\\|$")) absl::ConsumeSuffix(&pattern, "|$");
  absl::StatusOr<Pieces> pieces = ReadResponsePattern(pattern, anchor.place);
  if (!pieces.ok()) return pieces.status();
  anchor.pieces = *std::move(pieces);
  return anchor;
}

absl::StatusOr<ResponseCalls> ReadResponseCalls(const JsonValue& field,
                                                const std::vector<std::string>& turn_ends,
                                                const PassedOver& passed_over) {
  CallReader reader(turn_ends, passed_over);
  if (absl::Status read = reader.Read(field); !read.ok()) return read;
  return reader.Take();
}

}  // namespace maskd
