// Whether a partly written object can be ended, against all ways to go on.
#include "grammar_core/ir/object_end.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

constexpr NodeId kSpace = 0;
constexpr NodeId kDead = 1;
constexpr NodeId kValue = 2;
constexpr int kMarks = 4;

absl::Status Free(std::int64_t /*units*/) { return absl::OkStatus(); }

using Random = std::mt19937;

int Below(int bound, Random* random) {
  return std::uniform_int_distribution<int>(0, bound - 1)(*random);
}

std::vector<ObjectSpec::Mark> SomeMarks(Random* random) {
  std::set<ObjectSpec::Mark> marks;
  for (int i = Below(3, random); i > 0; --i) marks.insert(Below(kMarks, random));
  return {marks.begin(), marks.end()};
}

ObjectSpec RandomSpec(Random* random) {
  ObjectSpec spec = {{}, {}, kSpace, true};
  for (int i = Below(5, random); i > 0; --i) {
    ObjectSpec::Member member = {std::string(1, static_cast<char>('a' + i)), kValue,
                                 Below(4, random) == 0};
    for (int way = Below(3, random); way > 0; --way)
      member.ways.push_back({Below(5, random) == 0 ? kDead : kValue, SomeMarks(random)});
    spec.members.push_back(member);
  }
  if (Below(2, random) == 0) spec.others.push_back({kValue, kValue, SomeMarks(random)});
  for (int i = Below(4, random); i > 0; --i)
    spec.conditions.push_back({SomeMarks(random), SomeMarks(random)});
  if (Below(3, random) == 0) spec.min_members = Below(4, random);
  if (Below(3, random) == 0) spec.max_members = Below(4, random);
  return spec;
}

// Tries everything: each member once, by each way, and the others up to four times.
class BruteForce {
 public:
  explicit BruteForce(const ObjectSpec& spec) : spec_(spec) { From(0, 0, 0, {}); }

  // The fewest members that end the object, if any do.
  [[nodiscard]] const std::optional<std::uint32_t>& fewest() const { return fewest_; }

 private:
  void From(std::size_t member, unsigned written, std::uint32_t count,
            const std::set<ObjectSpec::Mark>& marks) {
    if (member == spec_.members.size()) return FromOthers(written, count, marks, 4);
    From(member + 1, written, count, marks);
    std::vector<ObjectSpec::Way> ways = spec_.members[member].ways;
    if (ways.empty()) ways.push_back({spec_.members[member].value, {}});
    for (const ObjectSpec::Way& way : ways) {
      if (way.value == kDead) continue;
      std::set<ObjectSpec::Mark> more = marks;
      more.insert(way.marks.begin(), way.marks.end());
      From(member + 1, written | 1U << member, count + 1, more);
    }
  }

  void FromOthers(unsigned written, std::uint32_t count, const std::set<ObjectSpec::Mark>& marks,
                  int left) {
    if (Holds(written, count, marks)) fewest_ = std::min(fewest_.value_or(count), count);
    if (left == 0 || spec_.others.empty()) return;
    std::set<ObjectSpec::Mark> more = marks;
    more.insert(spec_.others[0].marks.begin(), spec_.others[0].marks.end());
    FromOthers(written, count + 1, more, left - 1);
  }

  bool Holds(unsigned written, std::uint32_t count, const std::set<ObjectSpec::Mark>& marks) const {
    for (std::size_t i = 0; i < spec_.members.size(); ++i)
      if (spec_.members[i].required && (written >> i & 1U) == 0) return false;
    const auto left = [&](ObjectSpec::Mark mark) { return marks.count(mark) > 0; };
    for (const ObjectSpec::Condition& c : spec_.conditions) {
      const bool met = std::any_of(c.some.begin(), c.some.end(), left);
      if (!met && std::all_of(c.unless_all.begin(), c.unless_all.end(), left)) return false;
    }
    return spec_.min_members <= count && count <= spec_.max_members;
  }

  const ObjectSpec& spec_;
  std::optional<std::uint32_t> fewest_;
};

TEST(ObjectEndTest, AgreesWithTryingEverything) {
  Random random(5);
  int can_end = 0;
  constexpr int kSpecs = 20'000;
  for (int i = 0; i < kSpecs; ++i) {
    const ObjectSpec spec = RandomSpec(&random);
    const ObjectEnd end(spec, [](NodeId node) { return node != kDead; });
    const absl::StatusOr<bool> found = end.CanEnd(end.Start(), 10'000, Free);
    ASSERT_TRUE(found.ok()) << found.status();
    const std::optional<std::uint32_t> fewest = BruteForce(spec).fewest();
    ASSERT_EQ(*found, fewest.has_value()) << "spec " << i;
    if (!*found) continue;
    ASSERT_LE(end.MissingMembers(end.Start()), *fewest) << "spec " << i;
    const auto one = [](std::size_t) { return 1U; };
    ASSERT_LE(end.MendingBytes(end.Start(), one, one).bytes, *fewest) << "spec " << i;
    ++can_end;
  }
  EXPECT_GT(can_end, kSpecs / 4);
  EXPECT_LT(can_end, kSpecs * 3 / 4);
}

// The states behind one member or others more, in any order, and whether each was told neutral.
struct Behind {
  ObjectState state;
  bool neutral;
};
std::vector<Behind> AllBehind(const ObjectSpec& spec, const ObjectEnd& end,
                              const ObjectState& state) {
  std::vector<Behind> all;
  for (std::size_t i = 0; i < spec.members.size(); ++i) {
    if (state.closed[i] == '1') continue;
    for (const ObjectSpec::Way& way : end.ways(i)) {
      all.push_back({end.After(state, way.marks), end.IsNeutral(state, way.marks, i, i + 1)});
      all.back().state.closed[i] = '1';
    }
  }
  for (const ObjectSpec::Others& others : spec.others)
    all.push_back({end.After(state, others.marks), end.IsNeutral(state, others.marks, 0, 0)});
  return all;
}

TEST(ObjectEndTest, WhatIsNeutralLeavesTheEndWithinReach) {
  Random random(7);
  int neutral = 0;
  for (int i = 0; i < 5'000; ++i) {
    const ObjectSpec spec = RandomSpec(&random);
    const ObjectEnd end(spec, [](NodeId node) { return node != kDead; });
    ObjectState state = end.Start();
    while (*end.CanEnd(state, 10'000, Free)) {
      const std::vector<Behind> behind = AllBehind(spec, end, state);
      for (const Behind& next : behind) {
        neutral += next.neutral ? 1 : 0;
        if (!next.neutral) continue;
        ASSERT_TRUE(*end.CanEnd(next.state, 10'000, Free)) << "spec " << i;
      }
      if (behind.empty() || Below(4, &random) == 0) break;
      state = behind[Below(static_cast<int>(behind.size()), &random)].state;
    }
  }
  EXPECT_GT(neutral, 2'000);
}

// As above, where members come in the order they are declared.
TEST(ObjectEndTest, WhatPassesOverOthersIsNeutralOnlyIfTheyAreNotMissed) {
  Random random(8);
  int neutral = 0;
  for (int i = 0; i < 5'000; ++i) {
    const ObjectSpec spec = RandomSpec(&random);
    const ObjectEnd end(spec, [](NodeId node) { return node != kDead; });
    const ObjectState start = end.Start();
    if (!*end.CanEnd(start, 10'000, Free)) continue;
    for (std::size_t m = 0; m < spec.members.size(); ++m) {
      if (m > 0 && spec.members[m - 1].required) break;
      for (const ObjectSpec::Way& way : end.ways(m)) {
        if (!end.IsNeutral(start, way.marks, 0, m + 1)) continue;
        ObjectState next = end.After(start, way.marks);
        std::fill_n(next.closed.begin(), m + 1, '1');
        ASSERT_TRUE(*end.CanEnd(next, 10'000, Free)) << "spec " << i;
        ++neutral;
      }
    }
  }
  EXPECT_GT(neutral, 1'000);
}

TEST(ObjectEndTest, LimitIsAnError) {
  // Pigeons and holes: each of six needs one of five, and no two may share.
  ObjectSpec spec = {{}, {}, kSpace, true};
  for (ObjectSpec::Mark pigeon = 0; pigeon < 6; ++pigeon) {
    std::vector<ObjectSpec::Mark> some;
    for (ObjectSpec::Mark hole = 0; hole < 5; ++hole) {
      const ObjectSpec::Mark mark = pigeon * 5 + hole;
      some.push_back(mark);
      spec.members.push_back({std::to_string(mark), kValue, false, {{kValue, {mark}}}});
      for (ObjectSpec::Mark other = 0; other < pigeon; ++other)
        spec.conditions.push_back({{}, {mark, other * 5 + hole}});
    }
    spec.conditions.push_back({some});
  }
  const ObjectEnd end(spec, [](NodeId) { return true; });
  EXPECT_EQ(end.CanEnd(end.Start(), 100, Free).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(*end.CanEnd(end.Start(), 1'000'000, Free));
}

}  // namespace
}  // namespace maskd
