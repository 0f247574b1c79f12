// The language of one node of characters, judged by the slow recogniser, for tests of formats.
#ifndef MASKD_TESTS_JSON_SCHEMA_FORMATS_FORMAT_TEXTS_H_
#define MASKD_TESTS_JSON_SCHEMA_FORMATS_FORMAT_TEXTS_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "gtest/gtest.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/json_schema/formats/format.h"
#include "grammar_core/ir/ir_builder.h"
#include "tests/frontend/ir_recognizer.h"

namespace maskd {

// The strings that a function of formats makes.
class FormatTexts {
 public:
  explicit FormatTexts(const std::function<NodeId(FormatMaker&)>& make) : ir_(Made(make)) {}
  FormatTexts(const FormatTexts&) = delete;
  FormatTexts& operator=(const FormatTexts&) = delete;

  bool Has(const std::string& text) { return IrRecognizer(ir_).Accepts(text); }

 private:
  static GrammarIr Made(const std::function<NodeId(FormatMaker&)>& make) {
    const Limits limits;
    Budget budget = Budget::Unlimited();
    IrBuilder b(limits);
    FormatMaker maker(limits, budget, b);
    const RuleId rule = b.DeclareRule("", "");
    b.DefineRule(rule, b.Encode(Spelling::kUtf8, make(maker)));
    EXPECT_TRUE(maker.status().ok()) << maker.status();
    absl::StatusOr<GrammarIr> ir = std::move(b).Build(rule);
    EXPECT_TRUE(ir.ok()) << ir.status();
    return *std::move(ir);
  }

  const GrammarIr ir_;
};

}  // namespace maskd

#endif  // MASKD_TESTS_JSON_SCHEMA_FORMATS_FORMAT_TEXTS_H_
