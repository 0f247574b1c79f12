// Each format is a rule of the network, and so is each text that it writes. Formats are taken from
// the last to the first, so a format finds its parts made.
//
// Invariant  free text holds no end of its tag and no trigger; so what is named behind an end is
//            what follows it.
// Cost       the characters of all texts.
#include "grammar_core/frontend/places/tag_places.h"

#include <cassert>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/frontend/places/pattern_places.h"
#include "grammar_core/frontend/places/text_rules.h"
#include "grammar_core/frontend/structural_tag/fields.h"
#include "grammar_core/frontend/structural_tag/written_style.h"

namespace maskd {
namespace {

using RuleNo = PlaceNetwork::RuleNo;
using Way = PlaceNetwork::Way;
using Texts = std::vector<std::string>;

// What a member says; its default where it is not there or is of another type.
bool Flag(const JsonValue& at, absl::string_view key, bool otherwise = false) {
  const absl::StatusOr<bool> flag = FlagOf(at, key);
  return flag.ok() && at.Find(key).has_value() ? *flag : otherwise;
}

void Append(const absl::StatusOr<Texts>& some, Texts* all) {
  if (some.ok()) absl::c_copy(*some, std::back_inserter(*all));
}

void Append(const absl::StatusOr<TokenSpec>& tokens, Texts* all) {
  if (tokens.ok()) absl::c_copy(tokens->names, std::back_inserter(*all));
}

class TagPlaces {
 public:
  TagPlaces(const std::vector<TagFormat>& formats, const PlaceOfFormat& place_of,
            PlaceNetwork& network)
      : formats_(formats), place_of_(place_of), network_(network), rules_(formats.size()) {}

  std::optional<RuleNo> Build() {
    assert(!formats_.empty() && "the first format is the whole");
    for (std::size_t id = formats_.size(); id-- > 0;) {
      if (network_.full()) return std::nullopt;
      rules_[id] = network_.NewRule();
      Build(formats_[id], rules_[id]);
    }
    return rules_.front();
  }

 private:
  void Build(const TagFormat& format, RuleNo rule) {
    switch (format.type) {
      case FormatType::kConstString:
        return ConstString(format, rule);
      case FormatType::kJsonSchema:
      case FormatType::kQwenXmlParameter:
        return Schema(format, "json_schema", rule);
      case FormatType::kStructureSchema:
        return Schema(format, "schema", rule);
      case FormatType::kRegex:
        return Pattern(format, rule);
      case FormatType::kGrammar:
        return Rules(format, rule);
      case FormatType::kAnyText:
        return network_.AddChain(rule, {FreeText(format, {})});
      case FormatType::kSequence:
        return network_.AddChain(rule, PartsOf(format));
      case FormatType::kOr:
        for (const RuleNo part : PartsOf(format)) network_.AddChain(rule, {part});
        return;
      case FormatType::kOptional:
        return network_.AddRepeat(rule, PartsOf(format)[0], 0, 1);
      case FormatType::kPlus:
      case FormatType::kStar:
        return network_.AddRepeat(rule, PartsOf(format)[0],
                                  format.type == FormatType::kPlus ? 1 : 0, kUnbounded);
      case FormatType::kRepeat:
        return Repeat(format, rule);
      case FormatType::kTag:
      case FormatType::kStructure:
        return Tag(format, rule);
      case FormatType::kTriggeredTags:
      case FormatType::kStructures:
        return TriggeredTags(format, TextsOf(format.at, "triggers"), rule);
      case FormatType::kTagsWithSeparator:
        return TagsWithSeparator(format, rule);
      case FormatType::kDispatch:
      case FormatType::kTokenDispatch:
        return Dispatch(format, rule);
      case FormatType::kToken:
        return Token(format, rule);
      case FormatType::kExcludeToken:
      case FormatType::kAnyTokens:
        network_.Approximate();
        return network_.AddChain(rule, {FreeText(format, TokensOf(format.at, "exclude_tokens"))});
      case FormatType::kTokenTriggeredTags:
        return TriggeredTags(format, TokensOf(format.at, "trigger_tokens"), rule);
    }
  }

  [[nodiscard]] std::vector<RuleNo> PartsOf(const TagFormat& format) const {
    std::vector<RuleNo> parts;
    for (const FormatId part : format.parts) parts.push_back(rules_[part]);
    return parts;
  }

  void Name(RuleNo rule, const TagFormat& format, absl::string_view key, std::string says) {
    network_.SetPart(rule, {.what = NextPart::What::kMarker,
                            .pointer = place_of_(format, key),
                            .says = std::move(says)});
  }
  // A text that is written as it is.
  RuleNo Marker(const TagFormat& format, absl::string_view key, absl::string_view text) {
    const RuleNo rule = network_.NewRule();
    if (!text.empty()) Name(rule, format, key, JsonString(text));
    network_.AddUtf8(rule, text);
    return rule;
  }
  // One of some tokens, by their names; of tokens by their ids the texts are not known.
  RuleNo Marker(const TagFormat& format, absl::string_view key, const TokenSpec& tokens) {
    const RuleNo rule = network_.NewRule();
    Name(rule, format, key, "a token");
    for (const std::string& name : tokens.names) network_.AddUtf8(rule, name);
    if (!tokens.ids.empty() || tokens.negated) {
      network_.Approximate();
      network_.AddAnyText(rule);
    }
    return rule;
  }

  template <typename Excluded>
  RuleNo FreeText(const TagFormat& format, const Excluded& excluded) {
    Texts texts;
    Append(excluded, &texts);
    return FreeText(format, std::move(texts));
  }
  // Any text but `excluded`, what the format excludes and the ends of its tag.
  RuleNo FreeText(const TagFormat& format, Texts excluded) {
    Append(TextsOf(format.at, "excludes"), &excluded);
    if (format.tag != kNoFormat) {
      const TagBounds& bounds = *formats_[format.tag].bounds;
      absl::c_copy(bounds.ends, std::back_inserter(excluded));
      if (bounds.end_token.has_value())
        absl::c_copy(bounds.end_token->names, std::back_inserter(excluded));
    }
    if (format.at.Find("max_chars").has_value() || format.at.Find("max_tokens").has_value())
      network_.Approximate();
    const RuleNo rule = network_.NewRule();
    Name(rule, format, "", "free text");
    network_.AddTextWithout(rule, excluded);
    return rule;
  }

  void ConstString(const TagFormat& format, RuleNo rule) {
    const std::string text = TextOfTool(format.at.FindText("value"), format);
    network_.AddChain(rule, {Marker(format, "value", text)});
  }

  // The schema's own rules are found when they are asked for; here only where its value ends.
  void Schema(const TagFormat& format, absl::string_view key, RuleNo rule) {
    WrittenStyleRef style;
    if (format.type == FormatType::kQwenXmlParameter) style = FindWrittenStyle("qwen_xml");
    const std::optional<JsonValue> said = format.at.Find("style");
    if (said.has_value()) {
      const absl::StatusOr<WrittenStyleRef> read = ReadWrittenStyle(*said);
      if (read.ok()) style = *read;
    }
    network_.SetPart(
        rule, {.what = NextPart::What::kSchema, .pointer = place_of_(format, key), .style = style});
    if (style == nullptr)
      return network_.Add(network_.begin(rule), Way::kJson, 0, network_.end(rule));
    network_.Approximate();
    network_.AddTextWithout(rule,
                            format.tag == kNoFormat ? Texts() : formats_[format.tag].bounds->ends);
  }

  void AnyText(RuleNo rule) {
    network_.Approximate();
    network_.AddAnyText(rule);
  }

  void Pattern(const TagFormat& format, RuleNo rule) {
    const auto syntax = ReadPatternSyntax(format.at.FindText("pattern"));
    if (!syntax.has_value()) return AnyText(rule);
    network_.AddChain(rule, {AddPattern(*syntax, place_of_(format, "pattern"), false, network_)});
  }

  void Rules(const TagFormat& format, RuleNo rule) {
    const auto rules =
        AddRules("ebnf", format.at.FindText("grammar"), {}, place_of_(format, "grammar"), network_);
    if (!rules.has_value()) return AnyText(rule);
    network_.AddChain(rule, {*rules});
  }

  void Repeat(const TagFormat& format, RuleNo rule) {
    const absl::StatusOr<std::uint32_t> min = BoundOf(format.at, "min", false);
    const absl::StatusOr<std::uint32_t> max = BoundOf(format.at, "max", true);
    if (!min.ok() || !max.ok() || *max < *min) return AnyText(rule);
    network_.AddRepeat(rule, PartsOf(format)[0], *min, *max);
  }

  void Tag(const TagFormat& format, RuleNo rule) {
    const TagBounds& bounds = *format.bounds;
    const RuleNo begin = bounds.begin_token.has_value()
                             ? Marker(format, "begin", *bounds.begin_token)
                             : Marker(format, "begin", format.begin);
    const RuleNo ends = network_.NewRule();
    for (const std::string& end : bounds.ends)
      network_.AddChain(ends, {Marker(format, "end", end)});
    if (bounds.end_token.has_value())
      network_.AddChain(ends, {Marker(format, "end", *bounds.end_token)});
    const bool may_be_empty =
        bounds.may_end_empty || (bounds.ends.empty() && !bounds.end_token.has_value());
    if (may_be_empty) network_.AddChain(ends, {});
    network_.AddChain(rule, {begin, PartsOf(format)[0], ends});
  }

  // Free text, and ways out of it: again and again, or once.
  void Ways(RuleNo rule, RuleNo free, RuleNo way, bool loops) {
    const RuleNo one = network_.NewRule();
    network_.AddChain(one, {free, way});
    if (!loops) {
      network_.AddChain(rule, {free});
      return network_.AddChain(rule, {one});
    }
    const RuleNo many = network_.NewRule();
    network_.AddRepeat(many, one, 0, kUnbounded);
    network_.AddChain(rule, {many, free});
  }

  template <typename Triggers>
  void TriggeredTags(const TagFormat& format, const Triggers& triggers, RuleNo rule) {
    const RuleNo free = FreeText(format, triggers);
    const RuleNo tags = network_.NewRule();
    for (const RuleNo tag : PartsOf(format)) network_.AddChain(tags, {tag});
    const bool loops = !Flag(format.at, "stop_after_first");
    if (!Flag(format.at, "at_least_one")) return Ways(rule, free, tags, loops);
    if (!loops) return network_.AddChain(rule, {tags});
    const RuleNo more = network_.NewRule();
    Ways(more, free, tags, loops);
    network_.AddChain(rule, {tags, more});
  }

  void TagsWithSeparator(const TagFormat& format, RuleNo rule) {
    const RuleNo tags = network_.NewRule();
    for (const RuleNo tag : PartsOf(format)) network_.AddChain(tags, {tag});
    const RuleNo more = network_.NewRule();
    if (!Flag(format.at, "stop_after_first")) {
      const RuleNo next = network_.NewRule();
      network_.AddChain(next, {Marker(format, "separator", format.at.FindText("separator")), tags});
      network_.AddRepeat(more, next, 0, kUnbounded);
    } else {
      network_.AddChain(more, {});
    }
    network_.AddChain(rule, {tags, more});
    if (!Flag(format.at, "at_least_one")) network_.AddChain(rule, {});
  }

  // Rules are pairs of a text, or a token, and the format that it leads to.
  void Dispatch(const TagFormat& format, RuleNo rule) {
    const std::vector<RuleNo> parts = PartsOf(format);
    const RuleNo ways = network_.NewRule();
    Texts triggers;
    std::size_t index = 0;
    for (const JsonValue pair : format.at.Find("rules")->children()) {
      assert(index < parts.size() && "each rule has a format");
      const JsonValue trigger = *pair.Nth(0);
      const std::string key = absl::StrCat("rules/", index, "/0");
      RuleNo head = 0;
      if (trigger.is_string() && format.type == FormatType::kDispatch) {
        triggers.emplace_back(trigger.text());
        head = Marker(format, key, trigger.text());
      } else {
        const absl::StatusOr<TokenSpec> token = ReadToken(trigger);
        Append(token, &triggers);
        head = Marker(format, key, token.ok() ? *token : TokenSpec{.negated = true});
      }
      network_.AddChain(ways, {head, parts[index++]});
    }
    Ways(rule, FreeText(format, std::move(triggers)), ways, Flag(format.at, "loop", true));
  }

  void Token(const TagFormat& format, RuleNo rule) {
    const std::optional<JsonValue> token = format.at.Find("token");
    const absl::StatusOr<TokenSpec> spec =
        token.has_value() ? ReadToken(*token) : absl::StatusOr<TokenSpec>(TokenSpec());
    network_.AddChain(rule, {Marker(format, "token", spec.ok() ? *spec : TokenSpec())});
  }

  const std::vector<TagFormat>& formats_;
  const PlaceOfFormat& place_of_;
  PlaceNetwork& network_;
  std::vector<RuleNo> rules_;  // by format
};

}  // namespace

std::optional<RuleNo> AddFormats(const std::vector<TagFormat>& formats,
                                 const PlaceOfFormat& place_of, PlaceNetwork& network) {
  return TagPlaces(formats, place_of, network).Build();
}

}  // namespace maskd
