// The language of a pattern against RE2::FullMatch, by the slow recogniser, by the matcher of known
// texts and by the engine.
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "re2/re2.h"

#include "grammar_core/base/utf8.h"
#include "grammar_core/ir/text_match.h"
#include "tests/base/night.h"
#include "tests/frontend/ir_recognizer.h"
#include "tests/frontend/reading.h"
#include "tests/frontend/verdict.h"
#include "tests/regex/random_pattern.h"

namespace maskd {
namespace {

bool IsEmptyLanguage(const absl::Status& status) {
  return status.code() == absl::StatusCode::kInvalidArgument &&
         absl::string_view(status.message()).find("no text") != absl::string_view::npos;
}

// As the front ends match strings that a source names.
bool MatchesKnownText(const GrammarIr& ir, const std::string& text) {
  const IrNode& body = ir.nodes[ir.rules[ir.start].body];
  if (body.kind != IrKind::kEncode) return text.empty();  // only the empty string is left
  Budget budget = Budget::Unlimited();
  return *MatchesText(ir, ir.children[body.first_child], *Utf8ToCodePoints(text), budget);
}

class Comparison {
 public:
  void Compare(const std::string& pattern, const std::vector<std::string>& texts) {
    RE2::Options options;
    options.set_log_errors(false);
    const RE2 re2(pattern, options);
    if (re2.error_code() == RE2::ErrorRepeatSize) return;  // it unrolls counts, up to 1000
    ASSERT_TRUE(re2.ok()) << pattern << ": " << re2.error();
    const auto compiled = CompilePattern(pattern);
    ++patterns_;
    if (compiled.status().code() == absl::StatusCode::kUnimplemented) {
      ++refused_;
      return;
    }
    if (IsEmptyLanguage(compiled.status())) return CompareEmpty(pattern, texts, re2);
    ASSERT_TRUE(compiled.ok()) << pattern << ": " << compiled.status();
    const auto read = ReadForTest("regex", pattern);
    ASSERT_TRUE(read.ok());
    IrRecognizer recognizer(read->ir);
    for (const std::string& text : texts) {
      const bool expected = RE2::FullMatch(text, re2);
      const absl::StatusOr<bool> engine = AcceptsByText(*compiled, text);
      ++texts_;
      matches_ += expected ? 1 : 0;
      ASSERT_EQ(recognizer.Accepts(text), expected) << pattern << " on \"" << text << "\"";
      ASSERT_EQ(MatchesKnownText(read->ir, text), expected) << pattern << " on \"" << text << "\"";
      ASSERT_TRUE(engine.ok()) << pattern << " on \"" << text << "\": " << engine.status();
      ASSERT_EQ(*engine, expected) << pattern << " on \"" << text << "\"";
    }
  }

  void Print() const {
    std::cout << patterns_ << " patterns (" << empty_ << " match nothing, " << refused_
              << " refused), " << texts_ << " texts, " << matches_ << " of them match\n";
  }
  [[nodiscard]] int patterns() const { return patterns_; }
  [[nodiscard]] int refused() const { return refused_; }
  [[nodiscard]] int matches() const { return matches_; }

 private:
  void CompareEmpty(const std::string& pattern, const std::vector<std::string>& texts,
                    const RE2& re2) {
    ++empty_;
    for (const std::string& text : texts)
      ASSERT_FALSE(RE2::FullMatch(text, re2)) << pattern << " on \"" << text << "\"";
  }

  int patterns_ = 0;
  int empty_ = 0;
  int refused_ = 0;
  int texts_ = 0;
  int matches_ = 0;
};

// Every text of up to `max_length` of the characters.
std::vector<std::string> AllTexts(const std::vector<std::string>& characters, int max_length) {
  std::vector<std::string> texts = {""};
  std::size_t begin = 0;
  for (int length = 1; length <= max_length; ++length) {
    const std::size_t end = texts.size();
    for (; begin < end; ++begin)
      for (const std::string& character : characters) texts.push_back(texts[begin] + character);
  }
  return texts;
}

TEST(RegexRe2Test, EverySmallPatternOnEveryShortText) {
  const std::vector<std::string> texts = AllTexts({"a", "-"}, 5);
  Comparison comparison;
  for (int size = 1; size <= 4; ++size) {
    for (const std::string& pattern : PatternsOfSize(size, Positions())) {
      comparison.Compare(pattern, texts);
      ASSERT_FALSE(HasFatalFailure());
    }
  }
  comparison.Print();
  EXPECT_LT(comparison.refused(), comparison.patterns() / 4);
  EXPECT_GT(comparison.matches(), 10'000);
}

// U+212A, the Kelvin sign, folds to k.
TEST(RegexRe2Test, EverySmallPatternOfClassesOnEveryShortText) {
  const std::vector<std::string> texts = AllTexts({"a", "K", "7", "\u00C9", "\u03B2", "\u212A"}, 3);
  Comparison comparison;
  for (int size = 1; size <= 3; ++size) {
    for (const std::string& pattern : PatternsOfSize(size, Classes())) {
      comparison.Compare(pattern, texts);
      ASSERT_FALSE(HasFatalFailure());
    }
  }
  comparison.Print();
  EXPECT_EQ(comparison.refused(), 0);
  EXPECT_GT(comparison.matches(), 10'000);
}

TEST(RegexRe2Test, RandomPatternsOnTextsMadeForThem) {
  Random random(20240607);
  Comparison comparison;
  for (int round = 0; round < ByNight(2'000, 6'000); ++round) {
    const SampledPattern pattern = MakeRandomPattern(2 + round % 9, random);
    std::set<std::string> texts = {""};
    for (int i = 0; i < 6; ++i) {
      const std::string text = pattern.sample(random);
      if (text.size() > 60) continue;
      texts.insert(text);
      texts.insert(Mutated(text, random));
    }
    comparison.Compare(pattern.text, {texts.begin(), texts.end()});
    ASSERT_FALSE(HasFatalFailure());
  }
  comparison.Print();
  EXPECT_LT(comparison.refused(), comparison.patterns() / 5);
  EXPECT_GT(comparison.matches(), ByNight(3'000, 10'000));
}

}  // namespace
}  // namespace maskd
