// Rules of one grammar in another, and where their errors and remarks stand then.
#include "grammar_core/frontend/notation/splice.h"

#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json_schema/json_schema.h"
#include "grammar_core/ir/facts/closed_nodes.h"
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

// Oracle of what is copied by hashes: what is copied node by node.
struct Spliced {
  GrammarIr ir;
  RuleFaults faults;
  std::size_t made = 0;  // nodes that were found again, or may be
};

// A choice of the schemas, the places of each behind "/" and its number.
Spliced Splice(const std::vector<std::string>& schemas, bool by_hashes) {
  Budget budget = Budget::Unlimited();
  IrBuilder b{Limits()};
  const RuleId start = b.DeclareRule("start", "");
  std::vector<NodeId> calls;
  MadeParts made;
  RuleFaults faults;
  for (std::size_t i = 0; i < schemas.size(); ++i) {
    ReadResult read = *ReadJsonSchema({"json_schema", schemas[i], {}}, Limits(), budget);
    const std::string place = absl::StrCat("/", i);
    if (!by_hashes) MovePlaces(place, &read);
    IrCopier copier(read.ir, &b);
    const absl::Status status = by_hashes ? SpliceRules(read, {HashClosedNodes(read.ir)}, place,
                                                        copier, b, budget, faults, made)
                                          : SpliceRules(read, copier, b, budget, faults);
    EXPECT_TRUE(status.ok()) << status;
    calls.push_back(b.Call(copier.RuleOf(read.ir.start)));
  }
  b.DefineRule(start, b.Alt(calls));
  return {*std::move(b).Build(start), std::move(faults), made.nodes.size()};
}

// What each rule of `ir` is made of, sorted: the order of alternatives and the numbers of what
// PrintIr() has a line of its own for (n0, n1, ...) are those of nodes, which are no part of a
// grammar.
std::vector<std::vector<std::string>> RulesOf(const GrammarIr& ir) {
  std::string rules;
  std::map<std::string, std::string, std::less<>> shared;
  const std::string printed = PrintIr(ir);
  for (const absl::string_view line : absl::StrSplit(printed, '\n', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(line, absl::MaxSplits(" = ", 1));
    if (line[0] == 'n')
      shared.insert(parts);
    else
      absl::StrAppend(&rules, line, "\n");
  }
  const std::regex name("\\bn[0-9]+\\b");
  for (std::smatch found; std::regex_search(rules, found, name);)
    rules = absl::StrCat(found.prefix().str(), shared.at(found.str()), found.suffix().str());
  std::vector<std::vector<std::string>> all;
  for (const absl::string_view rule : absl::StrSplit(rules, '\n', absl::SkipEmpty())) {
    all.push_back(absl::StrSplit(rule, absl::ByAnyChar("()| "), absl::SkipEmpty()));
    std::ranges::sort(all.back());
  }
  return all;
}

std::vector<std::string> Schemas() {
  return {R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"}}})",
          R"({"type":"object","properties":{"b":{"type":"number"},"c":{"enum":["x","y",1,null]}}})",
          R"({"type":"array","items":{"type":"string","pattern":"^[a-c]+$","maxLength":9}})",
          R"({"type":"array","items":{"type":["integer","boolean"],"minimum":3}})",
          R"({"$defs":{"t":{"type":"array","items":{"$ref":"#/$defs/t"}}},"$ref":"#/$defs/t"})",
          R"({"anyOf":[{"type":"string","minLength":2},{"type":"integer","multipleOf":7}]})",
          R"({"type":"object","properties":{"n":{"allOf":[{"const":1},{"const":2}]}}})",
          R"({"type":"string","pattern":"^[a-c]+$","maxLength":9})"};
}

TEST(SpliceTest, ByHashesIsTheSameGrammar) {
  const std::vector<std::string> all = Schemas();
  for (const std::string& first : all) {
    for (const std::string& second : all) {
      const Spliced plain = Splice({first, second, first}, false);
      const Spliced hashed = Splice({first, second, first}, true);
      EXPECT_EQ(RulesOf(hashed.ir), RulesOf(plain.ir)) << first << "\n" << second;
      EXPECT_LE(hashed.ir.nodes.size(), plain.ir.nodes.size());
      ASSERT_EQ(hashed.ir.rules.size(), plain.ir.rules.size());
      for (RuleId rule = 0; rule < plain.ir.rules.size(); ++rule)
        EXPECT_EQ(hashed.ir.rules[rule].place, plain.ir.rules[rule].place);
    }
  }
  EXPECT_GT(Splice(all, true).made, 10);
}

TEST(SpliceTest, MovesFaults) {
  const std::vector<std::string> schemas = {"true", R"({"allOf":[{"const":1},{"const":2}]})"};
  for (const bool by_hashes : {false, true}) {
    const Spliced spliced = Splice(schemas, by_hashes);
    ASSERT_EQ(spliced.faults.size(), 1) << by_hashes;
    const auto& [rule, fault] = *spliced.faults.begin();
    EXPECT_EQ(ErrorPlace(fault).substr(0, 2), "/1") << fault;
    EXPECT_EQ(spliced.ir.rules[rule].place, "/1");
  }
}

}  // namespace
}  // namespace maskd
