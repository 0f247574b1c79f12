// A schema and texts that its grammar must take or refuse, judged by the slow recogniser.
#ifndef MASKD_TESTS_FRONTEND_TEXTS_CASE_H_
#define MASKD_TESTS_FRONTEND_TEXTS_CASE_H_

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "tests/frontend/ir_recognizer.h"
#include "tests/frontend/reading.h"

namespace maskd {

struct TextsCase {
  const char* name;
  const char* schema;
  std::vector<std::string> accepts;
  std::vector<std::string> rejects;
  GrammarOptions options = {};
};

inline GrammarOptions AnyOrder() {
  GrammarOptions options;
  options.property_order = PropertyOrder::kAny;
  return options;
}

inline std::string TextsCaseName(const testing::TestParamInfo<TextsCase>& test) {
  return test.param.name;
}

inline void ExpectTexts(const TextsCase& wanted) {
  const auto read = ReadForTest("json_schema", wanted.schema, wanted.options);
  ASSERT_TRUE(read.ok()) << read.status();
  IrRecognizer recognizer(read->ir);
  for (const std::string& text : wanted.accepts) EXPECT_TRUE(recognizer.Accepts(text)) << text;
  for (const std::string& text : wanted.rejects) EXPECT_FALSE(recognizer.Accepts(text)) << text;
}

}  // namespace maskd

#endif  // MASKD_TESTS_FRONTEND_TEXTS_CASE_H_
