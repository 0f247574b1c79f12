// What ways share stands once, and their texts stay the same: held to lists of strings.
#include "grammar_core/ir/shared_beginnings.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/ir/ir_views.h"
#include "tests/frontend/ir_recognizer.h"

namespace maskd {
namespace {

using Texts = std::vector<std::string>;

// The texts of a way.
Texts WrittenOut(const std::string& way) {
  Texts texts = {""};
  for (const char c : way) {
    Texts longer;
    for (const std::string& text : texts)
      for (const char byte : c == '?' ? std::string("xy") : c == '#' ? "yz" : std::string(1, c))
        longer.push_back(text + byte);
    texts = longer;
  }
  return texts;
}

// Nodes in the making, for one test.
class Ways {
 public:
  // "?" stands for a set of bytes, "#" for another one; the rest are literals.
  NodeId Way(const std::string& text) {
    std::vector<NodeId> factors;
    for (const char c : text) {
      const std::string byte(1, c);
      factors.push_back(c == '?'   ? builder_.AnyByteOf("xy")
                        : c == '#' ? builder_.AnyByteOf("yz")
                                   : builder_.Bytes(byte));
    }
    return builder_.Concat(factors);
  }

  NodeId Shared(const Texts& ways) {
    std::vector<NodeId> nodes;
    for (const std::string& way : ways) nodes.push_back(Way(way));
    return AltWithSharedBeginnings(nodes, builder_);
  }

  // The texts over `alphabet`, up to a size, that `node` has. Ends the making.
  Texts TextsOf(NodeId node, const std::string& alphabet, std::size_t size) && {
    const RuleId rule = builder_.DeclareRule("start", "");
    builder_.DefineRule(rule, node);
    const GrammarIr ir = *std::move(builder_).Build(rule);
    Texts found;
    Texts all = {""};
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (IrRecognizer(ir).Accepts(all[i])) found.push_back(all[i]);
      if (all[i].size() == size) continue;
      for (const char c : alphabet) all.push_back(all[i] + c);
    }
    return found;
  }

  std::size_t DepthOf(NodeId node) const {
    const IrNode& n = builder_.node(node);
    std::size_t depth = 0;
    for (std::uint32_t i = 0; i < n.child_count; ++i)
      depth = std::max(depth, DepthOf(builder_.ir().children[n.first_child + i]));
    return depth + 1;
  }

  IrBuilder& builder() { return builder_; }

 private:
  IrBuilder builder_{Limits()};
};

TEST(SharedBeginningsTest, ALiteralIsSplitWhereWaysPart) {
  IrBuilder b{Limits()};
  const NodeId one = b.Repeat(b.Bytes("ab"), 1, 5);
  const NodeId other = b.Repeat(b.Bytes("cd"), 1, 5);
  const auto way = [&](const char* text, NodeId behind) {
    return b.Concat({b.Bytes(text), behind});
  };
  EXPECT_EQ(AltWithSharedBeginnings({way("get_time(", one), way("get_name(", other)}, b),
            way("get_", b.Alt({way("time(", one), way("name(", other)})));
}

TEST(SharedBeginningsTest, AFactorThatIsTheSameIsShared) {
  IrBuilder b{Limits()};
  const NodeId digits = b.Repeat(b.AnyByteOf("0123456789"), 1, kUnbounded);
  const auto way = [&](const char* end) { return b.Concat({b.Bytes("id"), digits, b.Bytes(end)}); };
  EXPECT_EQ(AltWithSharedBeginnings({way("ab"), way("bc")}, b),
            b.Concat({b.Bytes("id"), digits, b.Alt({b.Bytes("ab"), b.Bytes("bc")})}));
}

TEST(SharedBeginningsTest, WaysThatShareNothingStayAsTheyAre) {
  Ways ways;
  IrBuilder& b = ways.builder();
  const NodeId one = ways.Way("ab?");
  const NodeId other = ways.Way("ba#");
  EXPECT_EQ(AltWithSharedBeginnings({one, other}, b), b.Alt({one, other}));
  EXPECT_EQ(AltWithSharedBeginnings({one}, b), one);
  EXPECT_EQ(AltWithSharedBeginnings({one, one}, b), one);
  EXPECT_EQ(AltWithSharedBeginnings({}, b), b.Nothing());
}

TEST(SharedBeginningsTest, AWayMayEndWhereAnotherGoesOn) {
  Ways ways;
  const NodeId shared = ways.Shared({"ab", "abc", "", "a?"});
  EXPECT_THAT(std::move(ways).TextsOf(shared, "abcxyz", 4),
              testing::UnorderedElementsAre("", "ab", "abc", "ax", "ay"));
}

TEST(SharedBeginningsTest, AnOptionalWayIsItsWaysAndTheEmptyText) {
  Ways ways;
  IrBuilder& b = ways.builder();
  const NodeId optional = b.Optional(b.Alt({ways.Way("abx"), ways.Way("acx")}));
  const NodeId shared = AltWithSharedBeginnings({optional, ways.Way("abz")}, b);
  EXPECT_THAT(std::move(ways).TextsOf(shared, "abcxz", 3),
              testing::UnorderedElementsAre("", "abx", "acx", "abz"));
}

// A literal is what people read: no piece of it ends within a character.
TEST(SharedBeginningsTest, ACharacterIsNotSplit) {
  IrBuilder b{Limits()};
  const NodeId one = b.Bytes("x\xC3\xA9t");    // x, e acute
  const NodeId other = b.Bytes("x\xC3\xA8t");  // x, e grave
  EXPECT_EQ(AltWithSharedBeginnings({one, other}, b),
            b.Concat({b.Bytes("x"), b.Alt({b.Bytes("\xC3\xA9t"), b.Bytes("\xC3\xA8t")})}));
  // Bytes that are no text may be split anywhere.
  EXPECT_EQ(AltWithSharedBeginnings({b.Bytes("\xC3\xC3t"), b.Bytes("\xC3\xA9t")}, b),
            b.Alt({b.Bytes("\xC3\xC3t"), b.Bytes("\xC3\xA9t")}));
  EXPECT_EQ(AltWithSharedBeginnings({b.Bytes("\xFFta"), b.Bytes("\xFFtb")}, b),
            b.Concat({b.Bytes("\xFFt"), b.AnyByteOf("ab")}));
}

// 4,000 lists of ways, each text written out.
TEST(SharedBeginningsTest, RandomWaysKeepTheirTexts) {
  std::mt19937 random(11);
  for (int round = 0; round < 4'000; ++round) {
    Texts list;
    std::set<std::string> expected;
    for (unsigned n = 1 + random() % 6; n > 0; --n) {
      std::string way;
      for (unsigned size = random() % 5; size > 0; --size) way += "xyx?#"[random() % 5];
      list.push_back(way);
      for (const std::string& text : WrittenOut(way)) expected.insert(text);
    }
    Ways ways;
    const NodeId shared = ways.Shared(list);
    EXPECT_THAT(std::move(ways).TextsOf(shared, "xyz", 4),
                testing::UnorderedElementsAreArray(expected))
        << testing::PrintToString(list);
  }
}

// 200 names: a choice has as many ways as there are bytes that may come, not as there are names.
TEST(SharedBeginningsTest, ManyNamesAreATree) {
  Ways ways;
  Texts names;
  for (int i = 0; i < 200; ++i) names.push_back("call:tool_" + std::to_string(i) + "(?");
  const GrammarIr& ir = ways.builder().ir();
  const IrNode& shared = ir.nodes[ways.Shared(names)];
  EXPECT_EQ(BytesOf(ir, ir.nodes[ir.children[shared.first_child]]), "call:tool_");
  for (const IrNode& node : ir.nodes)
    if (node.kind == IrKind::kAlt) EXPECT_LE(node.child_count, 11U);
}

// Each way begins another: no tree is deeper than the bound, however many there are.
TEST(SharedBeginningsTest, HostileWaysNestNoDeeperThanTheBound) {
  Ways ways;
  Texts list;
  for (std::size_t i = 1; i < 600; ++i) list.push_back(std::string(i, 'a') + "?#");
  const std::size_t depth = ways.DepthOf(ways.Shared(list));
  EXPECT_LE(depth, 2U * kMostShared + 4U);
  EXPECT_GE(depth, 2U * kMostShared - 2U);
}

}  // namespace
}  // namespace maskd
