// A format is a row: its name, its keys, which member holds formats, and whether something else
// must end it. The list that is built is also the queue of what is still to be looked at, so
// formats are numbered breadth first.
//
// A tag of each tool becomes that many formats; what is in them is read for each.
//
// Invariant  a format's number is less than those of its parts: loops need no stack.
// Cost       one look at each format, and a search in some twenty rows.
// Source     xgrammar's structural tags, and their older form.
#include "grammar_core/frontend/structural_tag/format.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/structural_tag/fields.h"

namespace maskd {
namespace {

using T = FormatType;

// Which member holds the formats within a format.
enum class Within : std::uint8_t {
  kNone,
  kContent,   // "content": a format
  kElements,  // "elements": a list of formats
  kTags,      // "tags": a list of tags
  kRules,     // "rules": a list of pairs, the second a format
};

constexpr std::size_t kMaxKeys = 8;
using Keys = std::array<absl::string_view, kMaxKeys>;

struct Row {
  absl::string_view name;
  FormatType type;
  Within within;
  // Whether it goes on until something else ends it.
  bool open_ended;
  // Beside "type".
  Keys keys;

  [[nodiscard]] std::vector<absl::string_view> KnownKeys() const {
    std::vector<absl::string_view> known = {"type"};
    for (const absl::string_view key : keys)
      if (!key.empty()) known.push_back(key);
    return known;
  }
};

constexpr std::array kRows = {
    Row{"const_string", T::kConstString, Within::kNone, false, {"value"}},
    Row{"json_schema",
        T::kJsonSchema,
        Within::kNone,
        false,
        {"json_schema", "style", "any_order", "max_whitespace_cnt", "excludes"}},
    Row{"qwen_xml_parameter", T::kQwenXmlParameter, Within::kNone, false, {"json_schema"}},
    Row{"regex", T::kRegex, Within::kNone, false, {"pattern"}},
    Row{"grammar", T::kGrammar, Within::kNone, false, {"grammar"}},
    Row{"any_text", T::kAnyText, Within::kNone, true, {"excludes", "max_tokens", "max_chars"}},
    Row{"sequence", T::kSequence, Within::kElements, false, {"elements"}},
    Row{"or", T::kOr, Within::kElements, false, {"elements"}},
    Row{"optional", T::kOptional, Within::kContent, false, {"content"}},
    Row{"plus", T::kPlus, Within::kContent, true, {"content"}},
    Row{"star", T::kStar, Within::kContent, true, {"content"}},
    Row{"repeat", T::kRepeat, Within::kContent, false, {"min", "max", "content"}},
    Row{"tag", T::kTag, Within::kContent, false, {"begin", "content", "end"}},
    Row{"triggered_tags",
        T::kTriggeredTags,
        Within::kTags,
        true,
        {"triggers", "tags", "at_least_one", "stop_after_first", "excludes"}},
    Row{"tags_with_separator",
        T::kTagsWithSeparator,
        Within::kTags,
        true,
        {"tags", "separator", "at_least_one", "stop_after_first"}},
    Row{"dispatch", T::kDispatch, Within::kRules, true, {"rules", "loop", "excludes"}},
    Row{"token", T::kToken, Within::kNone, false, {"token"}},
    Row{"exclude_token", T::kExcludeToken, Within::kNone, false, {"exclude_tokens"}},
    Row{"any_tokens", T::kAnyTokens, Within::kNone, true, {"exclude_tokens", "max_tokens"}},
    Row{"token_triggered_tags",
        T::kTokenTriggeredTags,
        Within::kTags,
        true,
        {"trigger_tokens", "tags", "at_least_one", "stop_after_first", "exclude_tokens"}},
    Row{"token_dispatch",
        T::kTokenDispatch,
        Within::kRules,
        true,
        {"rules", "loop", "exclude_tokens"}},
};

const Row* RowNamed(absl::string_view name) {
  const auto* const found =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& row) { return row.name == name; });
  return found == kRows.end() ? nullptr : found;
}

absl::StatusOr<const Row*> RowOf(const JsonValue& format) {
  if (!format.is_object()) return InvalidAt(format.Pointer(), "a format must be an object");
  const absl::StatusOr<absl::string_view> name = RequiredText(format, "type");
  if (!name.ok()) return name.status();
  if (const Row* row = RowNamed(*name); row != nullptr) return row;
  std::vector<absl::string_view> names;
  for (const Row& row : kRows) names.push_back(row.name);
  return InvalidMember(format, "type",
                       absl::StrCat("there is no format \"", name->substr(0, 64), "\"; known are ",
                                    absl::StrJoin(names, ", ")));
}

// A tag in a list of tags needs no type.
absl::StatusOr<const Row*> TagRow(const JsonValue& tag) {
  if (tag.is_object() && !tag.Find("type").has_value()) return RowNamed("tag");
  absl::StatusOr<const Row*> row = RowOf(tag);
  if (row.ok() && (*row)->type != T::kTag) return InvalidMember(tag, "type", "must be \"tag\"");
  return row;
}

absl::Status ReadBegin(const JsonValue& tag, std::string* text, TagBounds* bounds) {
  const absl::StatusOr<JsonValue> begin = RequiredMember(tag, "begin");
  if (!begin.ok()) return begin.status();
  if (begin->is_string()) {
    *text = std::string(begin->text());
    return absl::OkStatus();
  }
  if (!begin->is_object()) return InvalidMember(tag, "begin", "must be a string or a token");
  absl::StatusOr<TokenSpec> token = ReadTokenFormat(*begin);
  if (!token.ok()) return token.status();
  bounds->begin_token = *std::move(token);
  return absl::OkStatus();
}

absl::Status AddEnd(const JsonValue& end, TagBounds* bounds) {
  if (!end.is_string()) return InvalidAt(end.Pointer(), "must be a string");
  if (end.text().empty())
    bounds->may_end_empty = true;
  else
    bounds->ends.emplace_back(end.text());
  return absl::OkStatus();
}

absl::Status ReadEnd(const JsonValue& tag, TagBounds* bounds) {
  const absl::StatusOr<JsonValue> end = RequiredMember(tag, "end");
  if (!end.ok()) return end.status();
  if (end->is_string()) return AddEnd(*end, bounds);
  if (end->is_object()) {
    absl::StatusOr<TokenSpec> token = ReadTokenFormat(*end);
    if (!token.ok()) return token.status();
    bounds->end_token = *std::move(token);
    return absl::OkStatus();
  }
  if (!end->is_array()) return InvalidMember(tag, "end", "must be a string, a list or a token");
  if (end->size() == 0) return InvalidMember(tag, "end", "must not be empty");
  for (const JsonValue one : end->children())
    if (absl::Status status = AddEnd(one, bounds); !status.ok()) return status;
  return absl::OkStatus();
}

bool RepeatsWithoutEnd(const Row& row, const JsonValue& at) {
  if (row.type != T::kRepeat) return false;
  const std::optional<JsonValue> max = at.Find("max");
  return max.has_value() && max->is_number() && max->text() == "-1";
}

class FormatReader {
 public:
  FormatReader(Budget& budget, const std::vector<TagTool>* tools)
      : budget_(budget), tools_(tools) {}

  absl::StatusOr<std::vector<TagFormat>> Read(const JsonValue& root) {
    if (absl::Status status = AddRoot(root); !status.ok()) return status;
    for (FormatId id = 0; id < formats_.size(); ++id) {
      if (absl::Status status = budget_.Spend(); !status.ok()) return status;
      if (absl::Status status = AddParts(id); !status.ok()) return status;
    }
    if (absl::Status status = CheckEnds(); !status.ok()) return status;
    return std::move(formats_);
  }

 private:
  absl::Status AddRoot(const JsonValue& root) {
    if (!root.is_object()) return InvalidAt("", "a structural tag is a JSON object");
    if (const auto type = root.Find("type"); type.has_value() && type->text() != "structural_tag")
      return InvalidAt("/type", "must be \"structural_tag\"");
    if (root.Find("structures").has_value() || root.Find("triggers").has_value()) {
      formats_.push_back({.type = T::kStructures, .at = root, .open_ended = true});
      return CheckKeys(root, {"type", "structures", "triggers", "at_least_one"});
    }
    if (absl::Status status = CheckKeys(root, {"type", "format"}); !status.ok()) return status;
    const absl::StatusOr<JsonValue> format = RequiredMember(root, "format");
    if (!format.ok()) return format.status();
    const absl::StatusOr<const Row*> row = RowOf(*format);
    return row.ok() ? Add(**row, *format, kNoFormat) : row.status();
  }

  static absl::StatusOr<TagFormat> FormatOf(const Row& row, const JsonValue& at) {
    if (absl::Status status = CheckKeys(at, row.KnownKeys()); !status.ok()) return status;
    const bool open_ended = row.open_ended || RepeatsWithoutEnd(row, at);
    TagFormat format = {.type = row.type, .at = at, .open_ended = open_ended};
    if (row.type != T::kTag) return format;
    TagBounds bounds;
    if (absl::Status status = ReadBegin(at, &format.begin, &bounds); !status.ok()) return status;
    if (absl::Status status = ReadEnd(at, &bounds); !status.ok()) return status;
    format.bounds = std::make_shared<const TagBounds>(std::move(bounds));
    return format;
  }

  absl::Status Add(const Row& row, const JsonValue& at, FormatId parent) {
    absl::StatusOr<TagFormat> format = FormatOf(row, at);
    if (format.ok()) Append(*std::move(format), parent);
    return format.status();
  }

  absl::Status AddTagOfEachTool(const JsonValue& at, FormatId parent) {
    const absl::StatusOr<TagFormat> format = FormatOf(*RowNamed("tag"), at);
    if (!format.ok()) return format.status();
    const bool may_share = absl::c_none_of(format->bounds->ends, [](const std::string& end) {
      return absl::StrContains(end, kToolMark);
    });
    for (const TagTool& tool : *tools_) {
      TagFormat one = *format;
      one.tool = &tool;
      one.begin = TextOfTool(one.begin, one);
      if (!may_share) one.bounds = BoundsOfTool(one);
      Append(std::move(one), parent);
    }
    return absl::OkStatus();
  }

  static std::shared_ptr<const TagBounds> BoundsOfTool(const TagFormat& format) {
    TagBounds bounds = *format.bounds;
    for (std::string& end : bounds.ends) end = TextOfTool(end, format);
    return std::make_shared<const TagBounds>(std::move(bounds));
  }

  void Append(TagFormat format, FormatId parent) {
    if (parent != kNoFormat) {
      assert(parent < formats_.size() && "a part is read behind what it is a part of");
      const T around = formats_[parent].type;
      const bool in_tag = around == T::kTag || around == T::kStructure;
      format.tag = in_tag ? parent : formats_[parent].tag;
      if (format.tool == nullptr) format.tool = formats_[parent].tool;
      formats_[parent].parts.push_back(static_cast<FormatId>(formats_.size()));
    }
    formats_.push_back(std::move(format));
  }

  absl::Status AddParts(FormatId id) {
    const JsonValue at = formats_[id].at;
    switch (formats_[id].type) {
      case T::kStructures:
        return AddStructures(id, at);
      case T::kStructure:
        Append({.type = T::kStructureSchema, .at = at}, id);
        return absl::OkStatus();
      case T::kStructureSchema:
        return absl::OkStatus();
      default:
        return AddWithin(id, at);
    }
  }

  absl::Status AddWithin(FormatId id, const JsonValue& at) {
    const auto* const row = std::find_if(
        kRows.begin(), kRows.end(), [&](const Row& one) { return one.type == formats_[id].type; });
    switch (row->within) {
      case Within::kNone:
        return absl::OkStatus();
      case Within::kContent: {
        const absl::StatusOr<JsonValue> content = RequiredMember(at, "content");
        return content.ok() ? AddFormat(*content, id) : content.status();
      }
      case Within::kElements:
        return AddEach(at, "elements", id, &FormatReader::AddFormat);
      case Within::kTags:
        return AddEach(at, "tags", id, &FormatReader::AddTag);
      case Within::kRules:
        return AddEach(at, "rules", id, &FormatReader::AddRule);
    }
    return absl::OkStatus();
  }

  absl::Status AddEach(const JsonValue& at, absl::string_view key, FormatId id,
                       absl::Status (FormatReader::*add)(const JsonValue&, FormatId)) {
    const absl::StatusOr<JsonValue> list = RequiredList(at, key);
    if (!list.ok()) return list.status();
    for (const JsonValue element : list->children())
      if (absl::Status status = (this->*add)(element, id); !status.ok()) return status;
    return absl::OkStatus();
  }

  // What is in a tag of each tool is looked at once: it comes for one tool after the other.
  absl::Status AddFormat(const JsonValue& at, FormatId parent) {
    if (!last_.has_value() || last_->at.id() != at.id()) {
      const absl::StatusOr<const Row*> row = RowOf(at);
      if (!row.ok()) return row.status();
      absl::StatusOr<TagFormat> format = FormatOf(**row, at);
      if (!format.ok()) return format.status();
      last_ = *std::move(format);
    }
    Append(*last_, parent);
    return absl::OkStatus();
  }

  absl::Status AddTag(const JsonValue& at, FormatId parent) {
    if (tools_ != nullptr && at.FindText("type") == kTagOfEachTool)
      return AddTagOfEachTool(at, parent);
    const absl::StatusOr<const Row*> row = TagRow(at);
    return row.ok() ? Add(**row, at, parent) : row.status();
  }

  absl::Status AddRule(const JsonValue& pair, FormatId parent) {
    if (!pair.is_array() || pair.size() != 2)
      return InvalidAt(pair.Pointer(), "must be a pair: what leads to a format, and the format");
    return AddFormat(*pair.Nth(1), parent);
  }

  absl::Status AddStructures(FormatId id, const JsonValue& at) {
    const absl::StatusOr<JsonValue> list = RequiredList(at, "structures");
    if (!list.ok()) return list.status();
    for (const JsonValue structure : list->children()) {
      const absl::Status status = CheckKeys(structure, {"begin", "schema", "end"});
      if (!status.ok()) return status;
      TagFormat format = {.type = T::kStructure, .at = structure};
      const absl::StatusOr<absl::string_view> begin = RequiredText(structure, "begin");
      if (!begin.ok()) return begin.status();
      const absl::StatusOr<absl::string_view> end = RequiredText(structure, "end");
      if (!end.ok()) return end.status();
      format.begin = std::string(*begin);
      TagBounds bounds = {.may_end_empty = end->empty()};
      if (!end->empty()) bounds.ends.emplace_back(*end);
      format.bounds = std::make_shared<const TagBounds>(std::move(bounds));
      Append(std::move(format), id);
    }
    return absl::OkStatus();
  }

  // Content that goes on until the tag's end needs one.
  absl::Status CheckEnds() {
    for (FormatId id = static_cast<FormatId>(formats_.size()); id-- > 0;) {
      TagFormat& format = formats_[id];
      if (format.type == T::kTag) {
        const TagBounds& bounds = *format.bounds;
        assert(!format.parts.empty() && "a tag has content");
        if (!formats_[format.parts.front()].open_ended || bounds.end_token.has_value()) continue;
        if (bounds.ends.empty()) {
          return InvalidMember(format.at, "end",
                               "must not be empty: nothing else ends what is in the tag");
        }
        continue;
      }
      assert(std::ranges::all_of(format.parts, [&](FormatId part) { return part > id; }) &&
             "parts are settled before what they are parts of");
      for (const FormatId part : format.parts)
        format.open_ended = format.open_ended || formats_[part].open_ended;
    }
    return absl::OkStatus();
  }

  Budget& budget_;
  const std::vector<TagTool>* const tools_;
  std::vector<TagFormat> formats_;
  std::optional<TagFormat> last_;  // as AddFormat() read it
};

constexpr absl::string_view kToolPlace = "tool \"";

}  // namespace

std::string PlaceOfTool(const TagTool& tool) { return absl::StrCat(kToolPlace, tool.name, "\": "); }

bool IsPlaceInTool(absl::string_view place) { return absl::StartsWith(place, kToolPlace); }

std::string TextOfTool(absl::string_view text, const TagFormat& format) {
  if (format.tool == nullptr) return std::string(text);
  std::string whole;
  whole.reserve(text.size() + format.tool->name.size());
  for (std::size_t at = 0; at != absl::string_view::npos;) {
    const std::size_t mark = text.find(kToolMark, at);
    absl::StrAppend(&whole, text.substr(at, mark - at));
    if (mark == absl::string_view::npos) break;
    whole += format.tool->name;
    at = mark + kToolMark.size();
  }
  return whole;
}

absl::StatusOr<std::vector<TagFormat>> ReadFormats(const JsonValue& root, Budget& budget,
                                                   const std::vector<TagTool>* tools) {
  return FormatReader(budget, tools).Read(root);
}

}  // namespace maskd
