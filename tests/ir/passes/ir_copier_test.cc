#include "grammar_core/ir/passes/ir_copier.h"

#include <optional>
#include <string>
#include <utility>

#include "gtest/gtest.h"

#include "tests/ir/passes/every_kind.h"

namespace maskd {
namespace {

class IrCopierTest : public testing::Test {
 protected:
  void SetUp() override {
    IrBuilder b{Limits()};
    const RuleId called = b.DeclareRule("called", "1:1");
    const RuleId start = b.DeclareRule("start", "2:1");
    b.DefineRule(called, b.Bytes("c"));
    b.DefineRule(start, b.Concat(NodesOfEveryKind(called, &b)));
    from_ = *std::move(b).Build(start);
    printed_ = PrintIr(from_);
  }

  // All nodes and rules, through `copier`, as text.
  std::string CopiedBy(IrCopier copier) {
    for (RuleId rule = 0; rule < from_.rules.size(); ++rule) copier.DeclareRule(rule);
    for (NodeId node = 0; node < from_.nodes.size(); ++node)
      EXPECT_TRUE(copier.Copy(node, budget_).ok());
    for (RuleId rule = 0; rule < from_.rules.size(); ++rule)
      to_.DefineRule(copier.RuleOf(rule), copier.CopyOf(from_.rules[rule].body));
    const RuleId start = copier.RuleOf(from_.start);
    const GrammarIr copied = *std::move(to_).Build(start);
    EXPECT_EQ(copied.rules[copied.start].place, "2:1");
    return PrintIr(copied);
  }

  GrammarIr from_;
  std::string printed_;
  IrBuilder to_{Limits()};
  Budget budget_ = Budget::Unlimited();
};

TEST_F(IrCopierTest, CopiesEveryKindFromAConstantIr) {
  EXPECT_EQ(CopiedBy(IrCopier(std::as_const(from_), &to_)), printed_);
  EXPECT_EQ(PrintIr(from_), printed_) << "the old one is whole";
}

TEST_F(IrCopierTest, CopiesEveryKindWhereItTakes) {
  EXPECT_EQ(CopiedBy(IrCopier(&from_, &to_)), printed_);
}

TEST_F(IrCopierTest, NothingForWhatWasNotCopied) {
  const IrCopier copier(std::as_const(from_), &to_);
  for (NodeId node = 0; node < from_.nodes.size(); ++node)
    EXPECT_EQ(copier.CopyOf(node), to_.Nothing());
}

// Whatever is made of a node that the hook replaced is made of the replacement.
TEST_F(IrCopierTest, AHookReplacesNodes) {
  IrCopier copier(std::as_const(from_), &to_);
  copier.SetHook([&](const IrNode& node) -> std::optional<NodeId> {
    if (node.kind != IrKind::kBytes) return std::nullopt;
    return to_.Bytes("?");
  });
  const std::string copied = CopiedBy(std::move(copier));
  EXPECT_NE(copied.find("b\"?\""), std::string::npos);
  for (const char* word : {"null", "line", "end\""}) {
    EXPECT_NE(printed_.find(word), std::string::npos);
    EXPECT_EQ(copied.find(word), std::string::npos) << copied;
  }
}

TEST_F(IrCopierTest, AMappedSpecSpeaksOfTheCopies) {
  to_.Bytes("so that numbers differ");
  IrCopier copier(std::as_const(from_), &to_);
  for (RuleId rule = 0; rule < from_.rules.size(); ++rule) copier.DeclareRule(rule);
  for (NodeId node = 0; node < from_.nodes.size(); ++node)
    ASSERT_TRUE(copier.Copy(node, budget_).ok());
  const ObjectSpec& old = from_.objects.at(0);
  const ObjectSpec mapped = copier.Mapped(old);
  EXPECT_EQ(mapped.space, copier.CopyOf(old.space));
  EXPECT_NE(mapped.space, old.space);
  ASSERT_EQ(mapped.members.size(), 2);
  for (const int i : {0, 1}) {
    EXPECT_EQ(mapped.members[i].value, copier.CopyOf(old.members[i].value));
    EXPECT_EQ(mapped.members[i].name, old.members[i].name);
  }
  EXPECT_EQ(mapped.members[0].ways.at(0).value, copier.CopyOf(old.members[0].ways.at(0).value));
  EXPECT_EQ(mapped.others.at(0).name, copier.CopyOf(old.others.at(0).name));
  EXPECT_EQ(mapped.others.at(0).value, copier.CopyOf(old.others.at(0).value));
  EXPECT_EQ(mapped.space_after_colon(), copier.CopyOf(old.space_after_colon()));
  EXPECT_EQ(mapped.space_after_comma(), copier.CopyOf(old.space_after_comma()));
}

TEST_F(IrCopierTest, SaysWhatEndsTheBudgetOrTheBuilder) {
  IrCopier copier(std::as_const(from_), &to_);
  Budget spent(Budget::Bounds{.work = 0});
  EXPECT_EQ(copier.Copy(2, spent).code(), absl::StatusCode::kResourceExhausted);

  Limits limits;
  limits.ir_nodes = 2;  // Nothing and Empty
  IrBuilder full(limits);
  IrCopier into_full(std::as_const(from_), &full);
  EXPECT_EQ(into_full.Copy(2, budget_).code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace maskd
