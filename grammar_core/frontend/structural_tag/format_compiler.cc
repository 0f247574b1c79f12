// Formats become nodes from the last to the first, so a format finds its parts made. A tag is made
// twice: whole, and from behind its begin (its tail), as a trigger may be only the beginning of a
// tag's begin.
//
// Invariant  nodes_ of all greater numbers are made when a format is; free text holds no end of its
//            tag.
// Cost       each format once; a dispatch is linear in its triggers and their texts.
// Source     xgrammar's structural tags.
#include "grammar_core/frontend/structural_tag/format_compiler.h"

#include <cassert>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/structural_tag/fields.h"
#include "grammar_core/frontend/structural_tag/tags_by_trigger.h"
#include "grammar_core/ir/shared_beginnings.h"

namespace maskd {
namespace {

// A text of at least one character under `key`.
absl::StatusOr<JsonValue> SourceText(const TagFormat& format, absl::string_view key) {
  const absl::StatusOr<absl::string_view> text = RequiredText(format.at, key);
  if (!text.ok()) return text.status();
  if (text->empty()) return InvalidMember(format.at, key, "must not be empty");
  return *format.at.Find(key);
}

std::string PlaceOf(const JsonValue& at, absl::string_view key) {
  return absl::StrCat(at.Pointer(), "/", key);
}

// Whether free text goes on behind what it leads to; true where it does not say.
absl::StatusOr<bool> LoopOf(const JsonValue& at) {
  if (!at.Find("loop").has_value()) return true;
  return FlagOf(at, "loop");
}

// Equal schemas that are JSON are made once.
bool MayEndInText(const TagFormat& format) {
  return format.open_ended || !format.parts.empty() || format.type == FormatType::kJsonSchema ||
         format.type == FormatType::kQwenXmlParameter;
}

}  // namespace

FormatCompiler::FormatCompiler(const std::vector<TagFormat>& formats, const GrammarSource& source,
                               const ReadContext& context, const Limits& limits, Budget& budget)
    : formats_(formats),
      source_(source),
      budget_(budget),
      builder_(limits),
      speller_(context.markers, builder_),
      embedded_(source, context.schemas, limits, budget, builder_, speller_, result_),
      nodes_(formats.size(), builder_.Nothing()),
      tails_(nodes_) {}

absl::StatusOr<ReadResult> FormatCompiler::Compile() && {
  constexpr std::size_t kNodesPerFormat = 8;  // of tools; another number costs time alone
  builder_.Reserve(kNodesPerFormat * formats_.size());
  for (FormatId id = static_cast<FormatId>(formats_.size()); id-- > 0;) {
    const Made made = Make(id);
    if (!made.ok()) return made.status();
    if (!builder_.status().ok()) return builder_.status();
    if (!speller_.status().ok()) return speller_.status();
    nodes_[id] = *made;
  }
  speller_.Finish(&result_);
  const RuleId start = builder_.DeclareRule("structural_tag", "");
  assert(!nodes_.empty());
  builder_.DefineRule(start, nodes_.front());
  absl::StatusOr<GrammarIr> ir = std::move(builder_).Build(start);
  if (!ir.ok()) return ir.status();
  result_.ir = *std::move(ir);
  return std::move(result_);
}

FormatCompiler::Made FormatCompiler::Make(FormatId id) {
  assert(id < formats_.size());
  const TagFormat& format = formats_[id];
  if (absl::Status status = budget_.Spend(1 + static_cast<std::int64_t>(format.parts.size()));
      !status.ok()) {
    return status;
  }
  switch (format.type) {
    case FormatType::kConstString:
      return ConstString(format);
    case FormatType::kJsonSchema:
      return JsonSchema(format);
    case FormatType::kQwenXmlParameter:
      return QwenXmlParameter(format);
    case FormatType::kStructureSchema:
      return StructureSchema(format);
    case FormatType::kRegex:
      return Pattern(format);
    case FormatType::kGrammar:
      return Rules(format);
    case FormatType::kAnyText:
      return AnyText(format);
    case FormatType::kSequence:
    case FormatType::kOr:
    case FormatType::kOptional:
    case FormatType::kPlus:
    case FormatType::kStar:
      return Composite(format);
    case FormatType::kRepeat:
      return Repeat(format);
    case FormatType::kTag:
    case FormatType::kStructure:
      return Tag(id);
    case FormatType::kTriggeredTags:
    case FormatType::kStructures:
      return TriggeredTags(format);
    case FormatType::kTagsWithSeparator:
      return TagsWithSeparator(format);
    case FormatType::kDispatch:
      return TextRules(format);
    case FormatType::kToken:
      return Token(format);
    case FormatType::kExcludeToken:
      return ExcludeToken(format);
    case FormatType::kAnyTokens:
      return AnyTokens(format);
    case FormatType::kTokenTriggeredTags:
      return TokenTriggeredTags(format);
    case FormatType::kTokenDispatch:
      return TokenRules(format);
  }
  return builder_.Nothing();
}

NodeId FormatCompiler::Composite(const TagFormat& format) {
  switch (format.type) {
    case FormatType::kSequence:
      return builder_.Concat(PartsOf(format));
    case FormatType::kOr:
      return AnyPart(format);
    case FormatType::kOptional:
      return builder_.Optional(PartOf(format));
    default:
      return builder_.Repeat(PartOf(format), format.type == FormatType::kPlus ? 1 : 0, kUnbounded);
  }
}

NodeId FormatCompiler::AnyPart(const TagFormat& format) {
  return AltWithSharedBeginnings(PartsOf(format), builder_);
}

FormatCompiler::Made FormatCompiler::ConstString(const TagFormat& format) {
  const absl::StatusOr<absl::string_view> value = RequiredText(format.at, "value");
  if (!value.ok()) return value.status();
  return speller_.Spell(TextOfTool(*value, format), [&] { return PlaceOf(format.at, "value"); });
}

FormatCompiler::Made FormatCompiler::Pattern(const TagFormat& format) {
  const absl::StatusOr<JsonValue> pattern = SourceText(format, "pattern");
  return pattern.ok() ? embedded_.Pattern(*pattern) : pattern.status();
}

FormatCompiler::Made FormatCompiler::Rules(const TagFormat& format) {
  const absl::StatusOr<JsonValue> rules = SourceText(format, "grammar");
  return rules.ok() ? embedded_.Rules(*rules) : rules.status();
}

absl::StatusOr<std::vector<std::string>> FormatCompiler::ExcludedTexts(const TagFormat& format) {
  absl::StatusOr<std::vector<std::string>> texts = TextsOf(format.at, "excludes");
  if (!texts.ok()) return texts;
  for (const std::string& text : *texts) speller_.Keep(text, PlaceOf(format.at, "excludes"));
  absl::c_move(TagEnds(format), std::back_inserter(*texts));
  return texts;
}

std::vector<std::string> FormatCompiler::TagEnds(const TagFormat& format) const {
  if (format.tag == kNoFormat) return {};
  return speller_.TextOnly(formats_[format.tag].bounds->ends);
}

absl::StatusOr<TokenSpec> FormatCompiler::ExcludedTokens(const TagFormat& format) const {
  absl::StatusOr<TokenSpec> tokens = TokensOf(format.at, "exclude_tokens");
  if (!tokens.ok() || format.tag == kNoFormat) return tokens;
  const std::optional<TokenSpec>& end = formats_[format.tag].bounds->end_token;
  if (end.has_value()) AddTokens(*end, &*tokens);
  return tokens;
}

FormatCompiler::Made FormatCompiler::AnyText(const TagFormat& format) {
  const absl::StatusOr<std::vector<std::string>> excludes = ExcludedTexts(format);
  if (!excludes.ok()) return excludes.status();
  const absl::StatusOr<std::optional<std::uint32_t>> characters = CountOf(format.at, "max_chars");
  if (!characters.ok()) return characters.status();
  const absl::StatusOr<std::optional<std::uint32_t>> tokens = CountOf(format.at, "max_tokens");
  if (!tokens.ok()) return tokens.status();
  if (tokens->value_or(1) == 0) return builder_.Empty();
  NodeId text = FreeText(*excludes, builder_, last_);
  if (characters->has_value())
    text = builder_.And({text, builder_.Repeat(builder_.AnyChar(), 0, **characters)});
  const NodeId bytes = builder_.Encode(Spelling::kUtf8, text);
  return tokens->has_value() ? builder_.Limited(bytes, **tokens) : bytes;
}

FormatCompiler::Made FormatCompiler::Repeat(const TagFormat& format) {
  const absl::StatusOr<std::uint32_t> min = BoundOf(format.at, "min", false);
  if (!min.ok()) return min.status();
  const absl::StatusOr<std::uint32_t> max = BoundOf(format.at, "max", true);
  if (!max.ok()) return max.status();
  if (*max < *min)
    return InvalidMember(format.at, "max", absl::StrCat(*max, " is less than min ", *min));
  return builder_.Repeat(PartOf(format), *min, *max);
}

FormatCompiler::Made FormatCompiler::Tag(FormatId id) {
  const TagFormat& format = formats_[id];
  const TagBounds& bounds = *format.bounds;
  const Made tail = TailOf(format);
  if (!tail.ok()) return tail.status();
  tails_[id] = *tail;
  const NodeId begin =
      bounds.begin_token.has_value()
          ? NamedToken(*bounds.begin_token)
          : speller_.Spell(format.begin, [&] { return PlaceOf(format.at, "begin"); });
  return builder_.Concat({begin, tails_[id]});
}

// Ends before which the content must not end with the same texts stand together.
FormatCompiler::Made FormatCompiler::TailOf(const TagFormat& tag) {
  const TagBounds& bounds = *tag.bounds;
  const auto [sooner, is_new] = sooner_.try_emplace(bounds.ends);
  if (is_new) {
    auto found = BeginningsOfSoonerEnds(bounds.ends, speller_, budget_);
    if (!found.ok()) return found.status();
    sooner->second = *std::move(found);
  }
  const auto spell = [&](const std::string& end) {
    return speller_.Spell(end, [&] { return PlaceOf(tag.at, "end"); });
  };
  const bool is_one = bounds.ends.size() == 1 && !bounds.may_end_empty && !bounds.end_token;
  if (is_one && sooner->second.front().empty())
    return builder_.Concat({nodes_[tag.parts.front()], spell(bounds.ends.front())});
  std::map<std::vector<std::string>, std::vector<NodeId>> ends;
  for (std::size_t i = 0; i < bounds.ends.size(); ++i)
    ends[sooner->second[i]].push_back(spell(bounds.ends[i]));
  if (bounds.may_end_empty) ends[{}].push_back(builder_.Empty());
  if (bounds.end_token.has_value()) ends[{}].push_back(NamedToken(*bounds.end_token));
  std::vector<NodeId> tails;
  for (auto& [last, nodes] : ends) {
    const Made content = ContentBefore(tag.parts.front(), last);
    if (!content.ok()) return content.status();
    tails.push_back(builder_.Concat({*content, builder_.Alt(std::move(nodes))}));
  }
  return builder_.Alt(std::move(tails));
}

FormatCompiler::Made FormatCompiler::ContentBefore(FormatId content,
                                                   const std::vector<std::string>& last) {
  if (last.empty()) return nodes_[content];
  // What the content may end with is made again, what is within before what is around it.
  std::set<FormatId> ending = {content};
  for (const FormatId id : ending) {
    const auto& parts = formats_[id].parts;
    if (formats_[id].type == FormatType::kOr || formats_[id].type == FormatType::kOptional)
      ending.insert(parts.begin(), parts.end());
    if (formats_[id].type == FormatType::kSequence && !parts.empty()) ending.insert(parts.back());
  }
  std::map<FormatId, NodeId> before;
  last_ = last;
  for (auto id = ending.rbegin(); id != ending.rend(); ++id) {
    const Made made = MayEndInText(formats_[*id]) ? Make(*id) : nodes_[*id];
    if (!made.ok()) return made.status();
    before[*id] = std::exchange(nodes_[*id], *made);
  }
  last_.clear();
  const NodeId made = nodes_[content];
  for (const auto& [id, node] : before) nodes_[id] = node;
  return made;
}

absl::StatusOr<FormatCompiler::Flow> FormatCompiler::FlowOf(const TagFormat& format) {
  const absl::StatusOr<bool> at_least_one = FlagOf(format.at, "at_least_one");
  if (!at_least_one.ok()) return at_least_one.status();
  const absl::StatusOr<bool> stop = FlagOf(format.at, "stop_after_first");
  if (!stop.ok()) return stop.status();
  return Flow{.at_least_one = *at_least_one, .stop_after_first = *stop};
}

FormatCompiler::Made FormatCompiler::WithFlow(const Flow& flow, NodeId one, NodeId dispatch) {
  if (!flow.at_least_one) return dispatch;
  return flow.stop_after_first ? one : builder_.Concat({one, dispatch});
}

FormatCompiler::Made FormatCompiler::TriggeredTags(const TagFormat& format) {
  const absl::StatusOr<Flow> flow = FlowOf(format);
  if (!flow.ok()) return flow.status();
  absl::StatusOr<std::vector<std::string>> excludes = ExcludedTexts(format);
  if (!excludes.ok()) return excludes.status();
  absl::StatusOr<TriggeredGroups> groups =
      TagsByTrigger(format, formats_, nodes_, tails_, *excludes, budget_, speller_, builder_);
  if (!groups.ok()) return groups.status();
  const TextDispatch dispatch = {.triggers = std::move(groups->by_text),
                                 .marked = std::move(groups->marked),
                                 .excludes = *std::move(excludes),
                                 .last = last_,
                                 .loop = !flow->stop_after_first};
  std::vector<NodeId> each = dispatch.marked;
  for (const TextDispatch::Trigger& trigger : dispatch.triggers)
    each.push_back(builder_.Concat({builder_.Bytes(trigger.text), trigger.behind}));
  const Made made = MakeTextDispatch(dispatch, budget_, builder_);
  return made.ok() ? WithFlow(*flow, builder_.Alt(std::move(each)), *made) : made.status();
}

FormatCompiler::Made FormatCompiler::TagsWithSeparator(const TagFormat& format) {
  const absl::StatusOr<Flow> flow = FlowOf(format);
  if (!flow.ok()) return flow.status();
  const absl::StatusOr<absl::string_view> text = RequiredText(format.at, "separator");
  if (!text.ok()) return text.status();
  const NodeId separator = speller_.Spell(*text, PlaceOf(format.at, "separator"));
  NodeId tags = AnyPart(format);
  if (!flow->stop_after_first) {
    const NodeId more = builder_.Concat({separator, tags});
    tags = builder_.Concat({tags, builder_.Repeat(more, 0, kUnbounded)});
  }
  return flow->at_least_one ? tags : builder_.Optional(tags);
}

FormatCompiler::Made FormatCompiler::TextRules(const TagFormat& format) {
  absl::StatusOr<std::vector<std::string>> excludes = ExcludedTexts(format);
  if (!excludes.ok()) return excludes.status();
  const absl::StatusOr<bool> loop = LoopOf(format.at);
  if (!loop.ok()) return loop.status();
  TextDispatch dispatch = {.excludes = *std::move(excludes), .last = last_, .loop = *loop};
  std::size_t rule = 0;
  for (const JsonValue pair : format.at.Find("rules")->children()) {
    const JsonValue text = *pair.Nth(0);
    if (!text.is_string() || text.text().empty())
      return InvalidAt(text.Pointer(), "must be a string that is not empty");
    const NodeId behind = nodes_[format.parts[rule++]];
    if (speller_.HasMarker(text.text())) {
      const NodeId head = speller_.Spell(text.text(), text.Pointer());
      dispatch.marked.push_back(builder_.Concat({head, behind}));
    } else {
      dispatch.triggers.push_back({std::string(text.text()), behind});
    }
  }
  return MakeTextDispatch(dispatch, budget_, builder_);
}

FormatCompiler::Made FormatCompiler::Token(const TagFormat& format) {
  const absl::StatusOr<JsonValue> token = RequiredMember(format.at, "token");
  if (!token.ok()) return token.status();
  absl::StatusOr<TokenSpec> spec = ReadToken(*token);
  return spec.ok() ? Made(NamedToken(*std::move(spec))) : spec.status();
}

NodeId FormatCompiler::NamedToken(TokenSpec token) {
  speller_.Keep(token);
  return builder_.Tokens(std::move(token));
}

NodeId FormatCompiler::AllTokensBut(TokenSpec excluded) {
  excluded.negated = true;
  return builder_.Tokens(std::move(excluded));
}

FormatCompiler::Made FormatCompiler::ExcludeToken(const TagFormat& format) {
  absl::StatusOr<TokenSpec> excluded = ExcludedTokens(format);
  return excluded.ok() ? Made(AllTokensBut(*std::move(excluded))) : excluded.status();
}

FormatCompiler::Made FormatCompiler::AnyTokens(const TagFormat& format) {
  absl::StatusOr<TokenSpec> excluded = ExcludedTokens(format);
  if (!excluded.ok()) return excluded.status();
  const absl::StatusOr<std::optional<std::uint32_t>> most = CountOf(format.at, "max_tokens");
  if (!most.ok()) return most.status();
  return builder_.Repeat(AllTokensBut(*std::move(excluded)), 0, most->value_or(kUnbounded));
}

FormatCompiler::Made FormatCompiler::TokenTriggeredTags(const TagFormat& format) {
  const absl::StatusOr<Flow> flow = FlowOf(format);
  if (!flow.ok()) return flow.status();
  const absl::StatusOr<JsonValue> list = RequiredList(format.at, "trigger_tokens");
  if (!list.ok()) return list.status();
  const absl::StatusOr<TokenSpec> triggers = TokensOf(format.at, "trigger_tokens");
  if (!triggers.ok()) return triggers.status();
  absl::StatusOr<TokenSpec> excluded = ExcludedTokens(format);
  if (!excluded.ok()) return excluded.status();
  AddTokens(*triggers, &*excluded);
  for (const FormatId tag : format.parts) {
    const std::optional<TokenSpec>& begin = formats_[tag].bounds->begin_token;
    if (!begin.has_value())
      return InvalidMember(formats_[tag].at, "begin", "must be a token, as the triggers are");
    if (!MayBeAmong(*begin, *triggers))
      return InvalidMember(formats_[tag].at, "begin", "is none of the trigger tokens");
    AddTokens(*begin, &*excluded);
  }
  const NodeId tags = AnyPart(format);
  const NodeId free = builder_.Repeat(AllTokensBut(*std::move(excluded)), 0, kUnbounded);
  const NodeId dispatch =
      MakeDispatch(free, builder_.Concat({free, tags}), !flow->stop_after_first, builder_);
  return WithFlow(*flow, tags, dispatch);
}

FormatCompiler::Made FormatCompiler::TokenRules(const TagFormat& format) {
  absl::StatusOr<TokenSpec> excluded = ExcludedTokens(format);
  if (!excluded.ok()) return excluded.status();
  const absl::StatusOr<bool> loop = LoopOf(format.at);
  if (!loop.ok()) return loop.status();
  std::vector<NodeId> ways;
  for (const JsonValue pair : format.at.Find("rules")->children()) {
    const absl::StatusOr<TokenSpec> token = ReadToken(*pair.Nth(0));
    if (!token.ok()) return token.status();
    AddTokens(*token, &*excluded);
    ways.push_back(builder_.Concat({NamedToken(*token), nodes_[format.parts[ways.size()]]}));
  }
  const NodeId free = builder_.Repeat(AllTokensBut(*std::move(excluded)), 0, kUnbounded);
  const NodeId way = builder_.Concat({free, AltWithSharedBeginnings(ways, builder_)});
  return MakeDispatch(free, way, *loop, builder_);
}

}  // namespace maskd
