// In the declared order, without conditions, progress is an index, and all about it are sums over
// the members behind it that are made once. Otherwise it is an interned state: which members are
// closed, and what the conditions have been told. Whether a member may still come is then a search
// for an end of the object (ir/object_end.h), whose answer is kept with the state.
//
// Invariant  every progress that is handed out can be ended.
// Example    declared a?, b, c? in order. At the start a and b may come, c may not: b is required
//            and still missing. Behind b only c or the end may come.
// Cost       declared order: sums that are made once. Conditions: a search for a state and each way
//            to go on, which visits at most max_end_states.
#include "grammar_core/terms/object_progress.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "grammar_core/base/held_bytes.h"
#include "grammar_core/base/saturating.h"
#include "grammar_core/base/tight_vector.h"

namespace maskd {
namespace {

constexpr char kUnknown = '?';
constexpr char kNo = '0';
constexpr char kYes = '1';

}  // namespace

ObjectProgress::ObjectProgress(const GrammarFacts& facts, std::uint32_t object,
                               std::int64_t max_end_states, std::int64_t* held_bytes)
    : facts_(&facts),
      spec_(&facts.ir().objects[object]),
      shape_(facts.ObjectHash(object)),
      max_end_states_(max_end_states),
      held_bytes_(held_bytes) {
  FindRequired();
  *held_bytes_ +=
      HeldBytes(next_required_) + HeldBytes(required_bytes_) + HeldBytes(required_spaces_);
  const bool conditional = HasConditions(*spec_);
  // Without places a progress is an index, and the answers need no table beyond FindRequired()'s.
  if (!conditional && !spec_->any_order) return;
  Place start;
  if (conditional) {
    end_.emplace(*spec_, [&](NodeId node) { return HasValue(node); });
    start.state = end_->Start();
    std::size_t option = 0;
    for (std::uint32_t i = 0; i < member_count(); ++i) {
      first_option_.push_back(option);
      option += end_->ways(i).size();
    }
    first_option_.push_back(option);
  } else {
    start.state.closed.assign(member_count(), kNo);
  }
  Intern(std::move(start));
}

std::uint32_t ObjectProgress::MemberBytes(std::uint32_t index, std::uint32_t depth) const {
  const std::uint32_t bytes = facts_->MemberBytes(*spec_, member(index));
  if (depth == 0) return bytes;
  return SaturatingAdd(bytes, SaturatingMul(facts_->MemberSpaces(*spec_, member(index)), depth));
}

// Sums from the end, so that what is missing behind any index is one read later on.
void ObjectProgress::FindRequired() {
  const std::uint32_t count = member_count();
  next_required_.assign(count + 1, count);
  required_bytes_.assign(count + 1, 0);
  any_member_bytes_ = facts_->AnyMemberBytes(*spec_);
  if (spec_->is_block()) required_spaces_.assign(count + 1, 0);
  for (std::uint32_t i = count; i-- > 0;) {
    const bool required = member(i).required;
    next_required_[i] = required ? i : next_required_[i + 1];
    const std::uint32_t bytes = required ? SaturatingAdd(MemberBytes(i), 1) : 0;
    required_bytes_[i] = SaturatingAdd(required_bytes_[i + 1], bytes);
    if (!spec_->is_block()) continue;
    const std::uint32_t spaces = required ? facts_->MemberSpaces(*spec_, member(i)) : 0;
    required_spaces_[i] = SaturatingAdd(required_spaces_[i + 1], spaces);
  }
}

std::uint32_t ObjectProgress::NextMember(std::uint32_t progress) const {
  assert(places_.empty() || progress < places_.size());
  return places_.empty() ? progress : places_[progress].next;
}

bool ObjectProgress::IsInTurn(std::uint32_t progress, std::uint32_t index) const {
  if (!HasValue(member(index).value)) return false;
  // In declared order optional members may be passed over, a required one may not. So the members
  // in turn reach up to the next required one.
  if (spec_->any_order) return places_[progress].state.closed[index] == kNo;
  const std::uint32_t next = NextMember(progress);
  return index >= next && index <= next_required_[next];
}

// Undeclared members come after the declared ones, unless the order is free.
bool ObjectProgress::OthersInTurn(std::uint32_t progress) const {
  return spec_->any_order || next_required_[NextMember(progress)] == member_count();
}

bool ObjectProgress::MayClose(std::uint32_t progress) const {
  if (end_.has_value()) return end_->MayEndHere(places_[progress].state);
  if (!spec_->any_order) return next_required_[progress] == member_count();
  return places_[progress].missing_bytes == 0;
}

bool ObjectProgress::MayWrite(std::uint32_t progress, std::uint32_t index, Work& work) {
  if (!IsInTurn(progress, index)) return false;
  if (!end_.has_value()) return true;
  for (std::size_t way = 0; way < end_->ways(index).size(); ++way)
    if (CanEndAfter(progress, index, way, work)) return true;
  return false;
}

bool ObjectProgress::MayWriteOthers(std::uint32_t progress, std::uint32_t index, Work& work) {
  if (!OthersInTurn(progress)) return false;
  if (!end_.has_value()) return true;
  return end_->others_live(index) && CanEndAfterOthers(progress, index, work);
}

// Asked before a comma is allowed: behind a comma that nothing may follow the text would be stuck.
bool ObjectProgress::MayWriteAny(std::uint32_t progress, Work& work) {
  for (std::uint32_t i = 0; i < spec_->others.size(); ++i)
    if (MayWriteOthers(progress, i, work)) return true;
  const std::uint32_t next = spec_->any_order ? 0 : NextMember(progress);
  const std::uint32_t last = spec_->any_order ? member_count() : next_required_[next];
  for (std::uint32_t i = next; i < member_count() && i <= last; ++i)
    if (MayWrite(progress, i, work)) return true;
  return false;
}

// With conditions a member may have several values, each of which decides other conditions. Ways
// that could not be ended are left out, so the invariant holds.
std::vector<ObjectProgress::Written> ObjectProgress::Write(std::uint32_t progress,
                                                           std::uint32_t index, Work& work) {
  if (places_.empty()) return {{member(index).value, index + 1}};
  if (!end_.has_value()) return {{member(index).value, Intern(AfterMember(progress, index, {}))}};
  std::vector<Written> written;
  const std::vector<ObjectSpec::Way>& ways = end_->ways(index);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (!CanEndAfter(progress, index, i, work)) continue;
    written.push_back({ways[i].value, Intern(AfterMember(progress, index, ways[i].marks))});
  }
  return written;
}

std::uint32_t ObjectProgress::WriteOthers(std::uint32_t progress, std::uint32_t index) {
  if (places_.empty()) return member_count();
  return end_.has_value() ? Intern(AfterOthers(progress, index)) : progress;
}

ObjectProgress::Place ObjectProgress::AfterMember(std::uint32_t progress, std::uint32_t index,
                                                  const ObjectEnd::Marks& marks) const {
  const ObjectState& before = places_[progress].state;
  Place place;
  place.state = end_.has_value() ? end_->After(before, marks) : before;
  place.state.closed[index] = kYes;
  if (!spec_->any_order) {
    place.next = index + 1;
    // Passed over or written makes no difference any more, so both lead to one state.
    std::fill_n(place.state.closed.begin(), place.next, kYes);
  }
  return place;
}

ObjectProgress::Place ObjectProgress::AfterOthers(std::uint32_t progress,
                                                  std::uint32_t index) const {
  Place place;
  place.state = end_->After(places_[progress].state, spec_->others[index].marks);
  if (!spec_->any_order) {
    place.next = member_count();
    place.state.closed.assign(member_count(), kYes);
  }
  return place;
}

// The search is spared where the member changes nothing about the end: the object could be ended
// before it, by the invariant, so it can be ended after it.
bool ObjectProgress::CanEndAfter(std::uint32_t progress, std::uint32_t index, std::size_t way,
                                 Work& work) {
  const ObjectEnd::Marks& marks = end_->ways(index)[way].marks;
  const std::uint32_t first = spec_->any_order ? index : places_[progress].next;
  if (end_->IsNeutral(places_[progress].state, marks, first, index + 1)) return true;
  return CanEnd(
      progress, first_option_[index] + way, [&] { return AfterMember(progress, index, marks); },
      work);
}

bool ObjectProgress::CanEndAfterOthers(std::uint32_t progress, std::uint32_t index, Work& work) {
  const ObjectEnd::Marks& marks = spec_->others[index].marks;
  const std::uint32_t first = spec_->any_order ? member_count() : places_[progress].next;
  if (end_->IsNeutral(places_[progress].state, marks, first, member_count())) return true;
  return CanEnd(
      progress, first_option_.back() + index, [&] { return AfterOthers(progress, index); }, work);
}

template <typename Next>
bool ObjectProgress::CanEnd(std::uint32_t progress, std::size_t option, Next next, Work& work) {
  // One letter for each way to go on. A search that fails leaves '?', so that a later call with
  // more work left may still find the answer.
  std::string& known = places_[progress].can_end;
  if (known.empty()) known.assign(first_option_.back() + spec_->others.size(), kUnknown);
  if (known[option] == kUnknown) {
    if (!work.Spend()) return false;
    const auto spend = [&](std::int64_t units) {
      work.Spend(units);
      return work.error();
    };
    const absl::StatusOr<bool> can_end = end_->CanEnd(next().state, max_end_states_, spend);
    if (!can_end.ok()) {
      work.Fail(can_end.status());
      return false;
    }
    known[option] = *can_end ? kYes : kNo;
  }
  return known[option] == kYes;
}

// The id of a place is all that later answers depend on. `make` runs only for a new one, as
// FindMissing() goes over all members.
template <typename MakePlace>
std::uint32_t ObjectProgress::InternAs(const Place& like, MakePlace make) {
  const auto [known, hash] = place_ids_.Find(like);
  if (known != IndexTable<ByPlace>::kNone) return known;
  const auto bytes = [this] { return HeldBytes(places_) + place_ids_.held_bytes(); };
  const std::int64_t before = bytes();
  const Place& place = AppendTight(&places_, make());
  place_ids_.Add(hash);
  *held_bytes_ += bytes() - before + HeldBytes(place.state.closed) +
                  HeldBytes(place.state.settled) + HeldBytes(place.state.marks) +
                  static_cast<std::int64_t>(first_option_.size());
  return place_ids_.size() - 1;
}

// What was found out about a place is copied with it, so no search is made again.
std::uint32_t ObjectProgress::Adopt(const ObjectProgress& from, std::uint32_t progress) {
  if (places_.empty()) return progress;
  const Place& place = from.places_[progress];
  return InternAs(place, [&] { return place; });
}

std::uint32_t ObjectProgress::Intern(Place place) {
  return InternAs(place, [&] {
    FindMissing(&place);
    return std::move(place);
  });
}

// A lower bound, never too high: required members count one by one, and what conditions ask for
// besides counts as the larger of two bounds, never as their sum.
void ObjectProgress::FindMissing(Place* place) const {
  std::uint32_t required = 0;
  for (std::uint32_t i = 0; i < member_count(); ++i) {
    if (!member(i).required || place->state.closed[i] == kYes) continue;
    place->missing_bytes = SaturatingAdd(place->missing_bytes, SaturatingAdd(MemberBytes(i), 1));
    place->missing_spaces =
        SaturatingAdd(place->missing_spaces, facts_->MemberSpaces(*spec_, member(i)));
    ++required;
  }
  if (!end_.has_value()) return;
  const std::uint32_t any_missing = end_->MissingMembers(place->state) - required;
  const std::uint32_t any = SaturatingAdd(any_member_bytes_, 1);
  const ObjectEnd::Mending mending = end_->MendingBytes(
      place->state,
      [&](std::size_t i) {
        const auto index = static_cast<std::uint32_t>(i);
        return member(index).required ? 0 : SaturatingAdd(MemberBytes(index), 1);
      },
      [&](std::size_t i) {
        return SaturatingAdd(facts_->OthersBytes(*spec_, spec_->others[i]), 1);
      });
  const bool strings = RemembersTexts(*spec_) && member_count() == 0;
  const std::uint32_t others = strings ? ItemBytes(any_missing) : SaturatingMul(any, any_missing);
  const std::uint32_t bytes = std::max(others, mending.bytes);
  place->missing_bytes = SaturatingAdd(place->missing_bytes, bytes);
  place->next_bytes = bytes - std::max(others - std::min(others, any), mending.bytes_after_one);
}

// Items must differ, so only one of them may be the empty string.
std::uint32_t ObjectProgress::ItemBytes(std::uint32_t count) const {
  const std::uint32_t bytes = SaturatingMul(SaturatingAdd(any_member_bytes_, 1), count);
  const std::uint32_t longer = count > 0 ? count - 1 : 0;
  const bool may_be_empty = facts_->MinBytes(spec_->others.front().name) == 0;
  return may_be_empty ? SaturatingAdd(bytes, longer) : bytes;
}

std::uint32_t ObjectProgress::RequiredBytes(std::uint32_t progress, std::uint32_t depth) const {
  const bool by_place = !places_.empty();
  const std::uint32_t bytes =
      by_place ? places_[progress].missing_bytes : required_bytes_[progress];
  if (depth == 0 || !spec_->is_block()) return bytes;
  const std::uint32_t spaces =
      by_place ? places_[progress].missing_spaces : required_spaces_[progress];
  return SaturatingAdd(bytes, SaturatingMul(spaces, depth));
}

std::uint32_t ObjectProgress::EndBytes(std::uint32_t depth) const {
  constexpr std::uint32_t kBrace = 1;
  constexpr std::uint32_t kLineFeedBrace = 2;
  if (!spec_->is_block()) return kBrace;
  return SaturatingAdd(SaturatingMul(spec_->indent, depth), kLineFeedBrace);
}

std::uint32_t ObjectProgress::BehindLine(std::uint32_t bytes, std::uint32_t depth) const {
  if (!spec_->is_block() || bytes == kNoEnd) return bytes;
  const std::uint32_t spaces = SaturatingMul(spec_->indent, spec_->DepthWithin(depth));
  return bytes - std::min(bytes, SaturatingAdd(spaces, 1));
}

// What RequiredBytes() counts for this very member is taken off, else it would be counted twice.
std::uint32_t ObjectProgress::BytesAfterName(std::uint32_t progress, std::uint32_t index,
                                             std::uint32_t depth) const {
  constexpr std::uint32_t kQuote = 1;
  constexpr std::uint32_t kQuoteColon = 2;
  std::uint32_t required = RequiredBytes(progress, depth);
  if (member(index).required)
    required -= std::min(required, SaturatingAdd(MemberBytes(index, depth), 1));
  else if (!places_.empty())
    required -= std::min(required, places_[progress].next_bytes);
  const std::uint32_t value = facts_->MinBytes(member(index).value, spec_->DepthWithin(depth));
  return SaturatingAdd(SaturatingAdd(required, value),
                       SaturatingAdd(spec_->is_array ? kQuote : kQuoteColon, EndBytes(depth)));
}

// By what a place holds, not by its number: numbers follow the order in which texts met the places.
Hash128 ObjectProgress::Key(std::uint32_t progress) const {
  if (places_.empty()) return Mix(shape_, progress);
  const Place& place = places_[progress];
  return Mix(MixBytes(shape_, place.state.Key()), place.next);
}

}  // namespace maskd
