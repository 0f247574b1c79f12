#include "grammar_core/frontend/structural_tag/style_rules.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/structural_tag/tag_parts.h"

namespace maskd {
namespace {

// Values that nest: (x) and so on, of two rules that call each other.
GrammarIr Nested() {
  IrBuilder b{Limits()};
  const RuleId outer = b.DeclareRule("outer", "/outer");
  const RuleId inner = b.DeclareRule("inner", "/inner");
  const RuleId unused = b.DeclareRule("unused", "/unused");
  b.DefineRule(outer, b.Concat({b.Bytes("o"), b.Call(inner)}));
  b.DefineRule(inner, b.Alt({b.Bytes("i"), b.Concat({b.Bytes("i"), b.Call(outer)})}));
  b.DefineRule(unused, b.Bytes("u"));
  return *std::move(b).Build(outer);
}

TEST(HoldsAny, LooksWithinTheName) {
  EXPECT_TRUE(HoldsAny("abc", {"x", "bc"}));
  EXPECT_TRUE(HoldsAny("abc", {"abc"}));
  EXPECT_FALSE(HoldsAny("abc", {"ac", "abcd"}));
  EXPECT_FALSE(HoldsAny("abc", {}));
}

TEST(StyleRules, EachCalledRuleIsMadeOnceThoseOfBodiesToo) {
  const GrammarIr from = Nested();
  TagParts parts;
  IrBuilder& b = parts.builder;
  StyleRules rules(from, "in_style", b);
  const NodeId outer = rules.Call(0);
  EXPECT_EQ(rules.Call(0), outer);
  std::vector<NodeId> asked;
  const absl::Status status = rules.Define([&](NodeId values) -> absl::StatusOr<NodeId> {
    asked.push_back(values);
    if (values == from.rules[0].body) return b.Concat({b.Bytes("<"), rules.Call(1), b.Bytes(">")});
    return b.Optional(rules.Call(0));
  });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(asked, (std::vector<NodeId>{from.rules[0].body, from.rules[1].body}));
  const GrammarIr ir = parts.GrammarOf(outer);
  IrRecognizer recognizer(ir);
  for (const char* text : {"<>", "<<>>", "<<<>>>"}) EXPECT_TRUE(recognizer.Accepts(text)) << text;
  for (const char* text : {"", "<", "<<>", "<><>"}) EXPECT_FALSE(recognizer.Accepts(text)) << text;
  EXPECT_TRUE(std::ranges::any_of(ir.rules, [](const IrRule& rule) {
    return rule.name == "in_style" && rule.place == "/inner";
  }));
}

TEST(StyleRules, AnErrorOfAFormEndsIt) {
  const GrammarIr from = Nested();
  TagParts parts;
  StyleRules rules(from, "in_style", parts.builder);
  (void)rules.Call(0);
  int calls = 0;
  const absl::Status status = rules.Define([&](NodeId) -> absl::StatusOr<NodeId> {
    ++calls;
    (void)rules.Call(1);
    return InvalidAt("/here", "no");
  });
  EXPECT_EQ(ErrorPlace(status), "/here");
  EXPECT_EQ(calls, 1);
}

struct FreeCase {
  const char* name;
  std::vector<bool> required;  // of members a, b, ...
  bool has_others;
};

class MembersInAnyOrderTest : public testing::TestWithParam<FreeCase> {};

// Every text of members and others up to five; others are written o.
TEST_P(MembersInAnyOrderTest, TakesEachOnce) {
  TagParts parts;
  IrBuilder& b = parts.builder;
  ObjectSpec spec;
  std::vector<NodeId> members;
  std::string alphabet = "o";
  for (const bool required : GetParam().required) {
    const std::string name(1, static_cast<char>('a' + members.size()));
    spec.members.push_back({name, b.Empty(), required});
    members.push_back(b.Bytes(name));
    alphabet += name;
  }
  const NodeId other = GetParam().has_others ? b.Bytes("o") : b.Nothing();
  const MembersInAnyOrder free(spec, members, other, b.Bytes(","), "/here", b);
  const NodeId all = b.Alt({b.Concat({b.Bytes("1:"), free.After(0, b.Empty())}),
                            b.Concat({b.Bytes("2:"), free.CallOfAll()}),
                            b.Concat({b.Bytes("3:"), free.After(1, b.Bytes(";"))})});
  const GrammarIr ir = parts.GrammarOf(all);
  IrRecognizer recognizer(ir);
  for (const std::string& text : TextsOver(alphabet, 4)) {
    const auto may_follow = [&](bool a_is_behind) {
      for (std::size_t i = 0; i < GetParam().required.size(); ++i) {
        const bool is_behind = i == 0 && a_is_behind;
        const auto count = std::ranges::count(text, static_cast<char>('a' + i)) + is_behind;
        if (count > 1 || (count == 0 && GetParam().required[i])) return false;
      }
      return GetParam().has_others || text.find('o') == std::string::npos;
    };
    std::string commas;
    for (const char c : text) commas += {',', c};
    const std::string first = text.empty() ? "" : commas.substr(1);
    EXPECT_EQ(recognizer.Accepts("1:" + first), may_follow(false)) << text;
    EXPECT_EQ(recognizer.Accepts("2:" + commas), may_follow(false)) << text;
    EXPECT_EQ(recognizer.Accepts("3:" + (text.empty() ? "" : ";" + first)), may_follow(true))
        << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Objects, MembersInAnyOrderTest,
                         testing::ValuesIn(std::vector<FreeCase>{
                             {"OneRequired", {true}, false},
                             {"OneOptionalAndOthers", {false}, true},
                             {"Two", {false, true}, false},
                             {"TwoAndOthers", {true, false}, true},
                             {"Three", {true, true, false}, false},
                             {"ThreeAndOthers", {false, false, true}, true},
                         }),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
