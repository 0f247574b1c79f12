// A name is a range of the object's sorted names and a depth in it: two numbers, whatever the
// length of the names, so an object of a thousand members makes no more terms than a text of it has
// letters. What follows a name is made when a text first ends it.
//
// Invariant  a name is offered only if its member may be written and the object ended behind it.
// Example    names "id", "item", "size": behind `"i` the term is the range of the first two at
//            depth 1.
// Cost       the end of a range is a binary search; each name of a range is asked once whether its
//            member may be written.
#include "grammar_core/terms/object_terms.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "grammar_core/base/held_bytes.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {

ObjectTerms::ObjectTerms(TermStore* store, NodeLowering* lowering, std::int64_t max_end_states)
    : store_(store),
      lowering_(lowering),
      max_end_states_(max_end_states),
      shapes_(store->ir().objects.size()) {}

// Made when a text first enters the object, so that objects which no text meets cost nothing. All
// levels of indentation share a shape.
ObjectTerms::Shape& ObjectTerms::ShapeOf(std::uint32_t placed) {
  const std::uint32_t object = store_->placed_object(placed).object;
  if (shapes_[object] != nullptr) return *shapes_[object];
  auto shape = std::make_unique<Shape>(store_->facts(), object, max_end_states_, &held_bytes_);
  const ObjectSpec& spec = Spec(object);
  SortNames(object, shape.get());
  shape->space = TermId(lowering_->Lower(spec.space, 0));
  shape->colon = store_->Byte(':');
  shape->after_colon = TermId(lowering_->Lower(spec.space_after_colon(), 0));
  shape->after_comma = TermId(lowering_->Lower(spec.space_after_comma(), 0));
  if (!spec.others.empty()) {
    const auto count = static_cast<std::uint32_t>(shape->members.size());
    // A declared name must not pass as one of the others: its value would escape its own schema.
    const CharTerm undeclared = store_->Not(store_->TextSet(shape->name_set, 0, count, 0));
    for (const ObjectSpec::Others& others : spec.others)
      shape->other_names.push_back(
          store_->And({CharTerm(lowering_->Lower(others.name, 0)), undeclared}));
  }
  held_bytes_ += static_cast<std::int64_t>(sizeof(Shape)) + HeldBytes(shape->members) +
                 HeldBytes(shape->other_names);
  shapes_[object] = std::move(shape);
  return *shapes_[object];
}

// Sorted by code points and not as declared, so that names with a common beginning are neighbours.
void ObjectTerms::SortNames(std::uint32_t object, Shape* shape) {
  const ObjectSpec& spec = Spec(object);
  std::vector<std::pair<std::u32string, std::uint32_t>> names;
  for (std::uint32_t i = 0; i < spec.members.size(); ++i) {
    const ObjectSpec::Member& member = spec.members[i];
    if (!member.bare) names.emplace_back(*Utf8ToCodePoints(member.name), i);
  }
  store_->AddEffort(8 * names.size());
  std::sort(names.begin(), names.end());
  std::vector<std::u32string> texts;
  for (auto& [text, member] : names) {
    texts.push_back(std::move(text));
    shape->members.push_back(member);
  }
  shape->name_set = store_->AddTextSet(std::move(texts));
}

TermId ObjectTerms::Start(std::uint32_t object, std::uint32_t min_bytes) {
  const auto [spec, depth] = store_->placed_object(object);
  const Hash128 key = store_->KeyAt(depth, store_->facts().ObjectHash(spec));
  return store_->Object(object, 0, ObjectPhase::kOpen, {false, min_bytes, key});
}

// The phases of an object on one line, by the byte that leads on:
//   kOpen  --{-->  kFirst  --"-->  a name, its value, then kNext
//   kNext  --,-->  kMust   --"-->  the same;  kFirst and kNext  --}-->  the end
TermId ObjectTerms::Step(std::uint32_t object, std::uint32_t progress, ObjectPhase phase,
                         unsigned char byte, Work& work) {
  if (phase == ObjectPhase::kOpen && byte != Spec(object).open()) return kNothingTerm;
  Shape& shape = ShapeOf(object);
  if (Spec(object).is_block()) return StepInBlock(object, progress, phase, byte, work);
  if (phase == ObjectPhase::kOpen) {
    return store_->Cat(shape.space,
                       Begin(object, shape.progress.start(), ObjectPhase::kFirst, work));
  }
  const bool before_close = phase != ObjectPhase::kMust;
  if (byte == Spec(object).close() && before_close && shape.progress.MayClose(progress))
    return kEmptyTerm;
  if (byte == '"' && phase != ObjectPhase::kNext) return Member(object, progress, work);
  if (byte == ',' && phase == ObjectPhase::kNext && shape.progress.MayWriteAny(progress, work))
    return store_->Cat(shape.after_comma, Begin(object, progress, ObjectPhase::kMust, work));
  return kNothingTerm;
}

// Here the line feed takes part: kFirst stands before the line of the first member, and the brace
// of an object with members has a line of its own.
TermId ObjectTerms::StepInBlock(std::uint32_t object, std::uint32_t progress, ObjectPhase phase,
                                unsigned char byte, Work& work) {
  Shape& shape = ShapeOf(object);
  if (phase == ObjectPhase::kOpen)
    return Phase(object, shape.progress.start(), ObjectPhase::kFirst);
  if (phase == ObjectPhase::kMust)
    return byte == '"' ? Member(object, progress, work) : kNothingTerm;
  const ObjectSpec& spec = Spec(object);
  const std::uint32_t depth = DepthOf(object);
  const bool next = phase == ObjectPhase::kNext;
  if (byte == (next ? ',' : '\n') && shape.progress.MayWriteAny(progress, work)) {
    const TermId line = store_->Cat(store_->Spaces((depth + 1) * spec.indent),
                                    Begin(object, progress, ObjectPhase::kMust, work));
    return next ? store_->Cat(shape.after_comma, store_->Cat(store_->Byte('\n'), line)) : line;
  }
  if (byte != (next ? '\n' : spec.close()) || !shape.progress.MayClose(progress))
    return kNothingTerm;
  if (!next) return kEmptyTerm;
  const auto close = static_cast<unsigned char>(spec.close());
  return store_->Cat(store_->Spaces(depth * spec.indent), store_->Byte(close));
}

// Declared names are one cell. Each kind of other names is a cell with its own tail, as its values
// have another schema.
TermId ObjectTerms::Member(std::uint32_t object, std::uint32_t progress, Work& work) {
  std::vector<TermId> ways;
  if (const CharTerm names = Names(object, progress, 0, 0, work); names != kNothingTerm)
    ways.push_back(EncodeNames(names, {Spec(object).spelling}));
  for (std::uint32_t i = 0; i < Spec(object).others.size(); ++i)
    if (ShapeOf(object).progress.MayWriteOthers(progress, i, work))
      ways.push_back(Others(object, progress, i));
  return store_->Alt(std::move(ways));
}

// Bare items stand beside the strings, each with what follows it.
TermId ObjectTerms::Begin(std::uint32_t object, std::uint32_t progress, ObjectPhase phase,
                          Work& work) {
  if (!Spec(object).is_array) return Phase(object, progress, phase);
  ObjectProgress& behind = ShapeOf(object).progress;
  std::vector<TermId> ways;
  // The array's own cell takes a quote or the closing bracket, so it is offered only where one of
  // the two may come. Else a mask would allow a quote that leads nowhere.
  const bool may_close = phase == ObjectPhase::kFirst && behind.MayClose(progress);
  if (may_close || Member(object, progress, work) != kNothingTerm)
    ways.push_back(Phase(object, progress, phase));
  for (std::uint32_t i = 0; i < Spec(object).members.size(); ++i) {
    if (!Spec(object).members[i].bare || !behind.MayWrite(progress, i, work)) continue;
    for (const auto& [value, next] : behind.Write(progress, i, work))
      ways.push_back(store_->Cat(Value(object, value), ValueAndRest(object, value, next)));
  }
  return store_->Alt(std::move(ways));
}

TermId ObjectTerms::Others(std::uint32_t object, std::uint32_t progress, std::uint32_t index) {
  Shape& shape = ShapeOf(object);
  const TermId name = store_->Encode(shape.other_names[index], {Spec(object).spelling});
  const TermId rest = ValueAndRest(object, Spec(object).others[index].value,
                                   shape.progress.WriteOthers(progress, index));
  return store_->Cat(name, store_->Cat(store_->Byte('"'), rest));
}

// Space, ":", space, the value, space, and the object from there on. The value lies before the
// object on the stack, and an object within it is one more cell.
std::vector<TermId> ObjectTerms::SpinesOfValue(std::uint32_t object, NodeId value,
                                               std::uint32_t progress) {
  const Shape& shape = ShapeOf(object);
  const TermId rest = Phase(object, progress, ObjectPhase::kNext);
  std::vector<TermId> spines;
  if (Spec(object).is_array)
    spines = {shape.space, rest};
  else
    spines = {shape.space, shape.colon, shape.after_colon, Value(object, value), shape.space, rest};
  std::erase(spines, kEmptyTerm);
  return spines;
}

// From the far end, as Cat has it.
TermId ObjectTerms::ValueAndRest(std::uint32_t object, NodeId value, std::uint32_t progress) {
  TermId rest = kEmptyTerm;
  for (const TermId spine : SpinesOfValue(object, value, progress) | std::views::reverse)
    rest = store_->Cat(spine, rest);
  return rest;
}

std::vector<TermId> ObjectTerms::SpinesAfterName(std::uint32_t object, std::uint32_t progress,
                                                 std::uint32_t first, Work& work) {
  Shape& shape = ShapeOf(object);
  const auto ways = shape.progress.Write(progress, shape.members[first], work);
  if (ways.size() == 1) return SpinesOfValue(object, ways[0].value, ways[0].progress);
  return {AfterName(object, progress, first, work)};
}

// More than one way only where conditions give the member several values.
TermId ObjectTerms::AfterName(std::uint32_t object, std::uint32_t progress, std::uint32_t first,
                              Work& work) {
  Shape& shape = ShapeOf(object);
  std::vector<TermId> ways;
  for (const auto& [value, next] : shape.progress.Write(progress, shape.members[first], work))
    ways.push_back(ValueAndRest(object, value, next));
  return store_->Alt(std::move(ways));
}

TermId ObjectTerms::Phase(std::uint32_t object, std::uint32_t progress, ObjectPhase phase) {
  const ObjectSpec& spec = Spec(object);
  store_->AddEffort((spec.members.size() + 4 * spec.conditions.size()) / 8);
  const std::uint32_t min_bytes = MinBytes(object, progress, phase);
  return store_->Object(object, progress, phase, {false, min_bytes, KeyOf(object, progress)});
}

std::uint32_t ObjectTerms::MinBytes(std::uint32_t object, std::uint32_t progress,
                                    ObjectPhase phase) {
  const ObjectProgress& behind = ShapeOf(object).progress;
  const std::uint32_t depth = DepthOf(object);
  const std::uint32_t required = behind.RequiredBytes(progress, depth);
  const std::uint32_t end = behind.EndBytes(depth);
  if (phase == ObjectPhase::kNext) return SaturatingAdd(required, end);
  if (required == 0 && phase == ObjectPhase::kFirst) return 1;
  // None for the comma that the phase has behind it or does not need.
  const std::uint32_t members = required > 0 ? required - 1 : behind.any_member_bytes();
  return SaturatingAdd(phase == ObjectPhase::kFirst ? members : behind.BehindLine(members, depth),
                       end);
}

// Names with the same beginning are neighbours, so the first one that differs ends the range.
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

CharTerm ObjectTerms::Names(std::uint32_t object, std::uint32_t progress, std::uint32_t first,
                            std::uint32_t depth, Work& work) {
  Shape& shape = ShapeOf(object);
  if (shape.members.empty()) return kNothingTerm;
  const std::vector<std::u32string>& names = store_->text_set(shape.name_set);
  const std::uint32_t end = RangeEnd(shape, first, depth);
  store_->AddEffort((end - first) * NameEffort(object));
  TermStore::ObjectFacts facts;
  facts.min_bytes = kNoEnd;
  auto first_member = static_cast<std::uint32_t>(shape.members.size());
  for (std::uint32_t i = first; i < end; ++i) {
    const std::uint32_t member = shape.members[i];
    // A name that may not come is no part of the bounds; a range of such names alone is Nothing.
    if (!shape.progress.MayWrite(progress, member, work)) continue;
    first_member = std::min(first_member, member);
    const auto rest = static_cast<std::uint32_t>(names[i].size()) - depth;
    facts.nullable |= rest == 0;
    facts.min_bytes = std::min(
        facts.min_bytes,
        SaturatingAdd(rest, shape.progress.BytesAfterName(progress, member, DepthOf(object))));
  }
  if (facts.min_bytes == kNoEnd) return kNothingTerm;
  // Progress that differs only in members before these names makes no difference now: one term.
  progress = shape.progress.Narrowed(progress, first_member);
  facts.key = Mix(Mix(KeyOf(object, progress), first), depth);
  return store_->NameSet(object, progress, first, depth, facts);
}

std::vector<ObjectTerms::NameEdge> ObjectTerms::NameEdges(std::uint32_t object,
                                                          std::uint32_t progress,
                                                          std::uint32_t first, std::uint32_t depth,
                                                          Work& work) {
  const Shape& shape = ShapeOf(object);
  const std::vector<std::u32string>& names = store_->text_set(shape.name_set);
  std::vector<NameEdge> edges;
  std::uint32_t at = first;
  const std::uint32_t end = RangeEnd(shape, first, depth);
  // A name that ends here has no next character. The others go on, a range for each character.
  while (at < end && names[at].size() == depth) ++at;
  while (at < end) {
    const CharTerm next = Names(object, progress, at, depth + 1, work);
    if (next != kNothingTerm) edges.push_back({names[at][depth], next});
    at = RangeEnd(shape, at, depth + 1);
  }
  return edges;
}

// The names of the range ascend, and so do their rests behind `depth`.
ObjectTerms::NameRange ObjectTerms::NamesWith(const Shape& shape, NameRange within,
                                              std::uint32_t depth, std::u32string_view text) const {
  const std::vector<std::u32string>& names = store_->text_set(shape.name_set);
  const auto rest = [&](const std::u32string& name) {
    return std::u32string_view(name).substr(depth, text.size());
  };
  const auto range = std::ranges::equal_range(
      names.begin() + within.first, names.begin() + within.end, text, std::ranges::less(), rest);
  return {static_cast<std::uint32_t>(range.begin() - names.begin()),
          static_cast<std::uint32_t>(range.end() - names.begin())};
}

CharTerm ObjectTerms::NamesBehind(std::uint32_t object, std::uint32_t progress, std::uint32_t first,
                                  std::uint32_t depth, std::u32string_view text, Work& work) {
  const Shape& shape = ShapeOf(object);
  const auto [begin, end] = NamesWith(shape, {first, RangeEnd(shape, first, depth)}, depth, text);
  if (begin == end) return kNothingTerm;
  return Names(object, progress, begin, depth + static_cast<std::uint32_t>(text.size()), work);
}

// The shortest of the names that go on with a text comes first.
std::optional<std::uint32_t> ObjectTerms::NameOf(std::uint32_t object, std::uint32_t progress,
                                                 std::uint32_t first, std::uint32_t depth,
                                                 std::u32string_view text, Work& work) {
  Shape& shape = ShapeOf(object);
  const auto [name, end] = NamesWith(shape, {first, RangeEnd(shape, first, depth)}, depth, text);
  store_->AddEffort(NameEffort(object));
  if (name == end || NameLength(object, name) != depth + text.size() ||
      !shape.progress.MayWrite(progress, shape.members[name], work)) {
    return std::nullopt;
  }
  return name;
}

std::uint32_t ObjectTerms::NameLength(std::uint32_t object, std::uint32_t name) {
  return static_cast<std::uint32_t>(store_->text_set(ShapeOf(object).name_set)[name].size());
}

ObjectTerms::NameTexts ObjectTerms::TextsOf(std::uint32_t object, std::uint32_t progress,
                                            std::uint32_t first, std::uint32_t depth, Work& work) {
  Shape& shape = ShapeOf(object);
  const std::vector<std::u32string>& names = store_->text_set(shape.name_set);
  NameTexts texts;
  texts.list.depth = depth;
  texts.list.spelling = Spec(object).spelling;
  const std::uint32_t end = RangeEnd(shape, first, depth);
  store_->AddEffort((end - first) * NameEffort(object));
  for (std::uint32_t i = first; i < end; ++i) {
    if (!shape.progress.MayWrite(progress, shape.members[i], work)) continue;
    texts.list.texts.push_back(&names[i]);
    texts.names.push_back(i);
  }
  return texts;
}

std::uint32_t ObjectTerms::AdoptProgress(const ObjectTerms& from, std::uint32_t object,
                                         std::uint32_t placed, std::uint32_t progress) {
  const auto& theirs = from.shapes_[from.store_->placed_object(object).object];
  // One that was not entered there has no progress yet.
  return theirs == nullptr ? progress : ShapeOf(placed).progress.Adopt(theirs->progress, progress);
}

// The number does not say whose it is, so the shapes are searched: each object's names are a set of
// their own.
std::uint32_t ObjectTerms::AdoptNames(const ObjectTerms& from, std::uint32_t set) {
  std::uint32_t object = 0;
  while (from.shapes_[object] == nullptr || from.shapes_[object]->name_set != set) ++object;
  return ShapeOf(object).name_set;  // with no level around it, an object has its own number
}

TermId ObjectTerms::EncodeNames(CharTerm names, PartialChar partial, std::uint32_t partial_bytes) {
  if (names == kNothingTerm) return kNothingTerm;
  const NameSetView set = AsNameSet(store_->term(names));
  return store_->EncodeNames(names, partial, set.object, set.progress,
                             KeyOf(set.object, set.progress), partial_bytes);
}

}  // namespace maskd
