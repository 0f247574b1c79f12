// Rules of one grammar in another, and where their errors and remarks stand then.
#include "grammar_core/frontend/notation/splice.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/frontend/ir_recognizer.h"

namespace maskd {
namespace {

// "(" itself ")" or "x", with a fault, a remark of each kind, and tokens.
ReadResult Brackets() {
  Limits limits;
  IrBuilder builder(limits);
  const RuleId start = builder.DeclareRule("start", "/a");
  const NodeId within =
      builder.Concat({builder.Bytes("("), builder.Call(start), builder.Bytes(")")});
  const NodeId tokens =
      builder.Concat({builder.Tokens({.ids = {{7, 7}}, .place = "/t"}), builder.Bytes("never")});
  builder.DefineRule(start, builder.Alt({within, builder.Bytes("x"), tokens}));
  ReadResult read;
  read.ir = *std::move(builder).Build(start);
  read.warnings = {{"/w", "warned"}, {"", "warned of all"}, {"options.indent", "too wide"}};
  read.bounds = {{"/b", "bounded"}, {"doc#/b", "bounded there"}};
  read.faults.emplace(start, InvalidAt("/f", "faulty"));
  return read;
}

TEST(SpliceTest, RulesAreCopiedWithTheirFaults) {
  const ReadResult read = Brackets();
  Limits limits;
  Budget budget = Budget::Unlimited();
  IrBuilder builder(limits);
  const RuleId whole = builder.DeclareRule("whole", "1:1");
  IrCopier copier(read.ir, &builder);
  RuleFaults faults;
  ASSERT_TRUE(SpliceRules(read, copier, builder, budget, faults).ok());
  const RuleId copy = copier.RuleOf(read.ir.start);
  EXPECT_NE(copy, whole);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults.begin()->first, copy);
  builder.DefineRule(whole, builder.Concat({builder.Bytes("<"), builder.Call(copy)}));
  const absl::StatusOr<GrammarIr> ir = std::move(builder).Build(whole);
  ASSERT_TRUE(ir.ok()) << ir.status();
  EXPECT_EQ(ir->rules[copy].name, "start");
  EXPECT_EQ(ir->rules[copy].place, "/a");
  IrRecognizer recognizer(*ir);
  for (const char* text : {"<x", "<((x))"}) EXPECT_TRUE(recognizer.Accepts(text)) << text;
  for (const char* text : {"x", "<", "<(x", "<()"}) EXPECT_FALSE(recognizer.Accepts(text)) << text;
}

TEST(SpliceTest, TheBudgetEndsIt) {
  const ReadResult read = Brackets();
  Limits limits;
  Budget budget(Budget::Bounds{.work = 1});
  IrBuilder builder(limits);
  IrCopier copier(read.ir, &builder);
  RuleFaults faults;
  EXPECT_EQ(SpliceRules(read, copier, builder, budget, faults).code(),
            absl::StatusCode::kResourceExhausted);
}

std::vector<std::string> Told(const std::vector<Diagnostic>& remarks) {
  std::vector<std::string> told;
  for (const Diagnostic& remark : remarks) told.push_back(remark.place + " | " + remark.message);
  return told;
}
using Strings = std::vector<std::string>;

TEST(SpliceTest, PointersOfTheOwnTextAreMoved) {
  ReadResult read = Brackets();
  MovePlaces("/m", &read);
  EXPECT_EQ(Told(read.warnings),
            (Strings{"/m/w | warned", "/m | warned of all", "options.indent | too wide"}));
  EXPECT_EQ(Told(read.bounds), (Strings{"/m/b | bounded", "doc#/b | bounded there"}));
  EXPECT_EQ(read.ir.rules[0].place, "/m/a");
  EXPECT_EQ(read.faults.begin()->second.message(), "/m/f: faulty");
}

TEST(SpliceTest, AStatusIsMovedByItsPlace) {
  const auto moved = [](const absl::Status& status) {
    return std::string(MovedStatus(status, "/m").message());
  };
  EXPECT_TRUE(MovedStatus(absl::OkStatus(), "/m").ok());
  EXPECT_EQ(moved(InvalidAt("/a", "/a: odd")), "/m/a: /a: odd");
  EXPECT_EQ(moved(InvalidAt("", "odd")), "/m: odd");
  EXPECT_EQ(moved(InvalidAt("1:2", "odd")), "1:2: odd");
  EXPECT_EQ(moved(InvalidAt("doc#/a", "odd")), "doc#/a: odd");
  EXPECT_EQ(moved(absl::CancelledError("gone")), "gone");
  const absl::Status limit = MovedStatus(LimitExceeded("/a", "ir_nodes", 1, 2), "/m");
  EXPECT_EQ(limit.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrorPlace(limit), "/m/a");
  EXPECT_EQ(ErrorReason(limit), ErrorReason(LimitExceeded("/a", "ir_nodes", 1, 2)));
}

TEST(SpliceTest, WhatIsEnclosedStandsAtItsText) {
  ReadResult read = Brackets();
  EnclosePlaces("3:4", "in it: ", &read);
  EXPECT_EQ(Told(read.warnings), (Strings{"3:4 | in it: /w: warned", "3:4 | in it: warned of all",
                                          "3:4 | in it: options.indent: too wide"}));
  EXPECT_EQ(Told(read.bounds),
            (Strings{"3:4 | in it: /b: bounded", "3:4 | in it: doc#/b: bounded there"}));
  EXPECT_EQ(read.ir.rules[0].place, "3:4");
  EXPECT_EQ(read.ir.token_specs[0].place, "3:4");
  EXPECT_EQ(read.faults.begin()->second.message(), "3:4: in it: /f: faulty");
}

TEST(SpliceTest, AStatusIsEnclosedWithItsCode) {
  EXPECT_TRUE(EnclosedStatus(absl::OkStatus(), "3:4", "in it: ").ok());
  EXPECT_EQ(EnclosedStatus(absl::CancelledError("gone"), "3:4", "in it: ").message(), "gone");
  const absl::Status status = EnclosedStatus(UnsupportedAt("/a", "that"), "3:4", "in it: ");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(ErrorPlace(status), "3:4");
  EXPECT_EQ(status.message(), "3:4: in it: /a: that is not supported");
  EXPECT_EQ(ErrorReason(status), ErrorReason(UnsupportedAt("/a", "that")));
}

}  // namespace
}  // namespace maskd
