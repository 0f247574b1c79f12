#include "grammar_core/automaton/object_terms.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "grammar_core/base/utf8.h"

namespace maskd {
namespace {

// Two quotes and a colon.
constexpr std::uint32_t kMemberPunctuation = 3;

}  // namespace

ObjectTerms::ObjectTerms(TermStore* store, NodeLowering* lowering)
    : store_(store), lowering_(lowering), shapes_(store->ir().objects.size()) {}

ObjectTerms::Shape& ObjectTerms::ShapeOf(std::uint32_t object) {
  if (shapes_[object] != nullptr) return *shapes_[object];
  auto shape = std::make_unique<Shape>();
  const ObjectSpec& spec = Spec(object);
  SortNames(object, shape.get());
  FindRequired(object, shape.get());
  shape->space = lowering_->Lower(spec.space);
  shape->other_value = lowering_->Lower(spec.other_value);
  shape->other_name = kNothingTerm;
  if (shape->other_value != kNothingTerm) {
    const auto count = static_cast<std::uint32_t>(shape->members.size());
    const TermId declared = store_->TextSet(shape->name_set, 0, count, 0);
    shape->other_name = store_->And({lowering_->Lower(spec.other_name), store_->Not(declared)});
  }
  shape->any_member_bytes = ShortestMember(spec);
  shapes_[object] = std::move(shape);
  return *shapes_[object];
}

void ObjectTerms::SortNames(std::uint32_t object, Shape* shape) {
  const ObjectSpec& spec = Spec(object);
  std::vector<std::u32string> texts;
  for (const ObjectSpec::Member& member : spec.members) {
    texts.push_back(*Utf8ToCodePoints(member.name));
  }
  shape->members.resize(texts.size());
  std::iota(shape->members.begin(), shape->members.end(), 0);
  std::sort(shape->members.begin(), shape->members.end(),
            [&](std::uint32_t x, std::uint32_t y) { return texts[x] < texts[y]; });
  std::sort(texts.begin(), texts.end());
  shape->name_set = store_->AddTextSet(std::move(texts));
}

std::uint32_t ObjectTerms::MemberBytes(const ObjectSpec::Member& member) const {
  const auto name = static_cast<std::uint32_t>(member.name.size());
  return SaturatingAdd(name + kMemberPunctuation, store_->facts().MinBytes(member.value));
}

void ObjectTerms::FindRequired(std::uint32_t object, Shape* shape) const {
  const std::vector<ObjectSpec::Member>& members = Spec(object).members;
  const auto count = static_cast<std::uint32_t>(members.size());
  shape->next_required.assign(count + 1, count);
  shape->required_bytes.assign(count + 1, 0);
  for (std::uint32_t i = count; i-- > 0;) {
    const bool required = members[i].required;
    shape->next_required[i] = required ? i : shape->next_required[i + 1];
    const std::uint32_t bytes = required ? SaturatingAdd(MemberBytes(members[i]), 1) : 0;
    shape->required_bytes[i] = SaturatingAdd(shape->required_bytes[i + 1], bytes);
  }
}

std::uint32_t ObjectTerms::InternSeen(std::string seen) {
  const auto [at, is_new] =
      seen_ids_.try_emplace(std::move(seen), static_cast<std::uint32_t>(seen_sets_.size()));
  if (is_new) seen_sets_.push_back(at->first);
  return at->second;
}

bool ObjectTerms::Allowed(const Shape& shape, std::uint32_t object, std::uint32_t progress,
                          std::uint32_t member) const {
  const ObjectSpec& spec = Spec(object);
  if (store_->facts().MinBytes(spec.members[member].value) == kNoEnd) return false;
  if (spec.any_order) return seen_sets_[progress][member] == '0';
  return member >= progress && member <= shape.next_required[progress];
}

bool ObjectTerms::OthersAllowed(const Shape& shape, std::uint32_t object,
                                std::uint32_t progress) const {
  if (shape.other_name == kNothingTerm) return false;
  return Spec(object).any_order || shape.next_required[progress] == shape.members.size();
}

bool ObjectTerms::AnyMemberAllowed(const Shape& shape, std::uint32_t object,
                                   std::uint32_t progress) const {
  if (OthersAllowed(shape, object, progress)) return true;
  const bool any_order = Spec(object).any_order;
  const std::uint32_t first = any_order ? 0 : progress;
  for (std::uint32_t member = first; member < shape.members.size(); ++member) {
    if (Allowed(shape, object, progress, member)) return true;
    if (!any_order && member >= shape.next_required[progress]) break;
  }
  return false;
}

bool ObjectTerms::MayClose(const Shape& shape, std::uint32_t object, std::uint32_t progress) const {
  const ObjectSpec& spec = Spec(object);
  if (!spec.any_order) return shape.next_required[progress] == shape.members.size();
  const std::string& seen = seen_sets_[progress];
  for (std::size_t i = 0; i < spec.members.size(); ++i) {
    if (spec.members[i].required && seen[i] == '0') return false;
  }
  return true;
}

std::uint32_t ObjectTerms::After(std::uint32_t object, std::uint32_t progress,
                                 std::uint32_t member) {
  if (!Spec(object).any_order) return member + 1;
  std::string seen = seen_sets_[progress];
  seen[member] = '1';
  return InternSeen(std::move(seen));
}

std::uint32_t ObjectTerms::AfterOther(std::uint32_t object, std::uint32_t progress) const {
  const ObjectSpec& spec = Spec(object);
  return spec.any_order ? progress : static_cast<std::uint32_t>(spec.members.size());
}

TermId ObjectTerms::Start(std::uint32_t object, std::uint32_t min_bytes) {
  return store_->Object(object, 0, ObjectPhase::kOpen,
                        {false, min_bytes, store_->facts().ObjectHash(object)});
}

TermId ObjectTerms::Opened(std::uint32_t object) {
  const Shape& shape = ShapeOf(object);
  const std::uint32_t progress =
      Spec(object).any_order ? InternSeen(std::string(shape.members.size(), '0')) : 0;
  return store_->Cat(shape.space, Phase(object, progress, ObjectPhase::kFirst));
}

TermId ObjectTerms::Step(std::uint32_t object, std::uint32_t progress, ObjectPhase phase,
                         unsigned char byte) {
  if (phase == ObjectPhase::kOpen) return byte == '{' ? Opened(object) : kNothingTerm;
  const Shape& shape = ShapeOf(object);
  const bool before_close = phase != ObjectPhase::kMust;
  if (byte == '}' && before_close && MayClose(shape, object, progress)) return kEmptyTerm;
  if (byte == '"' && phase != ObjectPhase::kNext) return Member(object, progress);
  if (byte == ',' && phase == ObjectPhase::kNext && AnyMemberAllowed(shape, object, progress)) {
    return store_->Cat(shape.space, Phase(object, progress, ObjectPhase::kMust));
  }
  return kNothingTerm;
}

TermId ObjectTerms::Member(std::uint32_t object, std::uint32_t progress) {
  const Shape& shape = ShapeOf(object);
  std::vector<TermId> ways;
  if (const TermId names = Names(object, progress, 0, 0); names != kNothingTerm) {
    ways.push_back(EncodeNames(names, {Spelling::kJsonString}, object, progress));
  }
  if (OthersAllowed(shape, object, progress)) {
    const TermId name = store_->Encode(shape.other_name, {Spelling::kJsonString});
    const TermId rest = ValueAndRest(object, shape.other_value, AfterOther(object, progress));
    ways.push_back(store_->Cat(name, store_->Cat(store_->Byte('"'), rest)));
  }
  return store_->Alt(std::move(ways));
}

TermId ObjectTerms::ValueAndRest(std::uint32_t object, TermId value, std::uint32_t progress) {
  const TermId space = ShapeOf(object).space;
  TermId rest = store_->Cat(space, Phase(object, progress, ObjectPhase::kNext));
  rest = store_->Cat(value, rest);
  rest = store_->Cat(store_->Byte(':'), store_->Cat(space, rest));
  return store_->Cat(space, rest);
}

TermId ObjectTerms::AfterName(std::uint32_t object, std::uint32_t progress, std::uint32_t first) {
  const Shape& shape = ShapeOf(object);
  const std::uint32_t member = shape.members[first];
  const TermId value = lowering_->Lower(Spec(object).members[member].value);
  return ValueAndRest(object, value, After(object, progress, member));
}

TermId ObjectTerms::Phase(std::uint32_t object, std::uint32_t progress, ObjectPhase phase) {
  return store_->Object(object, progress, phase,
                        {false, MinBytes(object, progress, phase), ProgressKey(object, progress)});
}

std::uint32_t ObjectTerms::ShortestMember(const ObjectSpec& spec) const {
  const GrammarFacts& facts = store_->facts();
  std::uint32_t shortest =
      SaturatingAdd(SaturatingAdd(facts.MinBytes(spec.other_name), kMemberPunctuation),
                    facts.MinBytes(spec.other_value));
  for (const ObjectSpec::Member& member : spec.members) {
    shortest = std::min(shortest, MemberBytes(member));
  }
  return shortest;
}

std::uint32_t ObjectTerms::RequiredBytes(const Shape& shape, std::uint32_t object,
                                         std::uint32_t progress) const {
  const ObjectSpec& spec = Spec(object);
  if (!spec.any_order) return shape.required_bytes[progress];
  std::uint32_t bytes = 0;
  for (std::size_t i = 0; i < spec.members.size(); ++i) {
    if (spec.members[i].required && seen_sets_[progress][i] == '0') {
      bytes = SaturatingAdd(bytes, SaturatingAdd(MemberBytes(spec.members[i]), 1));
    }
  }
  return bytes;
}

std::uint32_t ObjectTerms::MinBytes(std::uint32_t object, std::uint32_t progress,
                                    ObjectPhase phase) {
  const Shape& shape = ShapeOf(object);
  const std::uint32_t required = RequiredBytes(shape, object, progress);
  // One byte for '}', and none for the comma that the phase has behind it or does not need.
  if (phase == ObjectPhase::kNext) return SaturatingAdd(required, 1);
  if (required > 0) return required;
  return phase == ObjectPhase::kFirst ? 1 : SaturatingAdd(shape.any_member_bytes, 1);
}

std::uint32_t ObjectTerms::MinBytesAfterName(const Shape& shape, std::uint32_t object,
                                             std::uint32_t progress, std::uint32_t member) const {
  constexpr std::uint32_t kQuoteColonBrace = 3;
  const ObjectSpec::Member& spec = Spec(object).members[member];
  std::uint32_t required = Spec(object).any_order ? RequiredBytes(shape, object, progress)
                                                  : shape.required_bytes[member];
  if (spec.required) required -= std::min(required, SaturatingAdd(MemberBytes(spec), 1));
  const std::uint32_t value = store_->facts().MinBytes(spec.value);
  return SaturatingAdd(SaturatingAdd(required, value), kQuoteColonBrace);
}

Hash128 ObjectTerms::ProgressKey(std::uint32_t object, std::uint32_t progress) const {
  const Hash128& shape = store_->facts().ObjectHash(object);
  return Spec(object).any_order ? MixBytes(shape, seen_sets_[progress]) : Mix(shape, progress);
}

std::uint32_t ObjectTerms::RangeEnd(const Shape& shape, std::uint32_t first,
                                    std::uint32_t depth) const {
  const std::vector<std::u32string>& names = store_->text_set(shape.name_set);
  const std::u32string_view prefix = std::u32string_view(names[first]).substr(0, depth);
  const auto end =
      std::partition_point(names.begin() + first, names.end(), [&](const std::u32string& name) {
        return std::u32string_view(name).substr(0, depth) == prefix;
      });
  return static_cast<std::uint32_t>(end - names.begin());
}

TermId ObjectTerms::Names(std::uint32_t object, std::uint32_t progress, std::uint32_t first,
                          std::uint32_t depth) {
  const Shape& shape = ShapeOf(object);
  if (shape.members.empty()) return kNothingTerm;
  const std::vector<std::u32string>& names = store_->text_set(shape.name_set);
  const std::uint32_t end = RangeEnd(shape, first, depth);
  TermStore::ObjectFacts facts;
  facts.min_bytes = kNoEnd;
  for (std::uint32_t i = first; i < end; ++i) {
    const std::uint32_t member = shape.members[i];
    if (!Allowed(shape, object, progress, member)) continue;
    const auto rest = static_cast<std::uint32_t>(names[i].size()) - depth;
    facts.nullable |= rest == 0;
    facts.min_bytes = std::min(
        facts.min_bytes, SaturatingAdd(rest, MinBytesAfterName(shape, object, progress, member)));
  }
  if (facts.min_bytes == kNoEnd) return kNothingTerm;
  facts.key = Mix(Mix(ProgressKey(object, progress), first), depth);
  return store_->NameSet(object, progress, first, depth, facts);
}

std::vector<ObjectTerms::NameEdge> ObjectTerms::NameEdges(std::uint32_t object,
                                                          std::uint32_t progress,
                                                          std::uint32_t first,
                                                          std::uint32_t depth) {
  const Shape& shape = ShapeOf(object);
  const std::vector<std::u32string>& names = store_->text_set(shape.name_set);
  std::vector<NameEdge> edges;
  std::uint32_t at = first;
  const std::uint32_t end = RangeEnd(shape, first, depth);
  while (at < end && names[at].size() == depth) ++at;
  while (at < end) {
    const TermId next = Names(object, progress, at, depth + 1);
    if (next != kNothingTerm) edges.push_back({names[at][depth], next});
    at = RangeEnd(shape, at, depth + 1);
  }
  return edges;
}

std::uint32_t ObjectTerms::NameLength(std::uint32_t object, std::uint32_t name) {
  return static_cast<std::uint32_t>(store_->text_set(ShapeOf(object).name_set)[name].size());
}

ObjectTerms::NameTexts ObjectTerms::TextsOf(std::uint32_t object, std::uint32_t progress,
                                            std::uint32_t first, std::uint32_t depth) {
  const Shape& shape = ShapeOf(object);
  const std::vector<std::u32string>& names = store_->text_set(shape.name_set);
  NameTexts texts;
  texts.list.depth = depth;
  const std::uint32_t end = RangeEnd(shape, first, depth);
  for (std::uint32_t i = first; i < end; ++i) {
    if (!Allowed(shape, object, progress, shape.members[i])) continue;
    texts.list.texts.push_back(&names[i]);
    texts.names.push_back(i);
  }
  return texts;
}

TermId ObjectTerms::EncodeNames(TermId names, PartialChar partial, std::uint32_t object,
                                std::uint32_t progress, std::uint32_t partial_bytes) {
  return store_->EncodeNames(names, partial, object, progress, ProgressKey(object, progress),
                             partial_bytes);
}

}  // namespace maskd
