// A choice of tags whose beginnings are shared, against each tag as a grammar of its own: a token
// may come where one of those that took the text so far takes it.
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"
#include "tests/matcher/test_vocabulary.h"

namespace maskd {
namespace {

using Tags = std::vector<std::string>;

std::string RandomText(std::mt19937& random, unsigned least, unsigned most) {
  // A character of two bytes, one that shares its first byte, and letters that tokens join.
  constexpr const char* kLetters[] = {"a", "b", "c", "ab", "\xC3\xA9", "\xC3\xA8", "]"};
  std::string text;
  for (unsigned n = least + random() % (most - least + 1); n > 0; --n)
    text += kLetters[random() % 7];
  return text;
}

Tags RandomTags(std::mt19937& random) {
  const std::string common = RandomText(random, 0, 5);
  Tags tags;
  for (unsigned n = 2 + random() % 6; n > 0; --n) {
    const std::string contents[] = {
        R"({"type":"regex","pattern":"[ab]{0,3}"})", R"({"type":"json_schema","json_schema":true})",
        absl::StrCat(R"({"type":"const_string","value":")", RandomText(random, 0, 3), R"("})")};
    tags.push_back(absl::StrCat(R"({"type":"tag","begin":")", common, RandomText(random, 1, 4),
                                R"(","content":)", contents[random() % 3], R"(,"end":")",
                                RandomText(random, 1, 2), R"("})"));
  }
  return tags;
}

class SharedTags {
 public:
  explicit SharedTags(const Tags& tags) {
    const std::string list = absl::StrJoin(tags, ",");
    all_ = MatcherOf(absl::StrCat(R"({"type":"or","elements":[)", list, "]}"));
    for (const std::string& tag : tags) each_.push_back(MatcherOf(tag));
  }

  // Whether the choice allows what the tags do.
  testing::AssertionResult Agrees() {
    const auto mask = all_->Mask();
    if (!mask.ok()) return testing::AssertionFailure() << mask.status();
    for (TokenId id = 0; id < kVocabSize; ++id) {
      bool expected = false;
      for (const auto& tag : each_) expected = expected || (*tag->Mask())->Allows(id);
      if ((*mask)->Allows(id) == expected) continue;
      return testing::AssertionFailure()
             << "token " << id << (expected ? " is missing" : " is let in");
    }
    return testing::AssertionSuccess();
  }

  // Takes any token that may come. False at the end of the text.
  bool Take(std::mt19937& random) {
    std::vector<TokenId> allowed;
    (*all_->Mask())->VisitAllowed([&](TokenId id) { allowed.push_back(id); });
    const TokenId id = allowed[random() % allowed.size()];
    if (id == kEnd) return false;
    EXPECT_TRUE(all_->Accept(id).ok());
    std::erase_if(each_, [&](const auto& tag) { return !tag->Accept(id).ok(); });
    return true;
  }

 private:
  static std::unique_ptr<Matcher> MatcherOf(const std::string& format) {
    Budget budget = Budget::Unlimited();
    const auto grammar = CompileGrammar(
        {"structural_tag", absl::StrCat(R"({"type":"structural_tag","format":)", format, "}"), {}},
        TokenizerSpace::Create(TestVocabulary()), Limits(), budget);
    EXPECT_TRUE(grammar.ok()) << grammar.status() << format;
    return std::make_unique<Matcher>(*grammar);
  }

  std::unique_ptr<Matcher> all_;
  std::vector<std::unique_ptr<Matcher>> each_;  // those that took the text so far
};

TEST(SharedTagsTest, AllowWhatOneOfThemAllows) {
  std::mt19937 random(3);
  for (int round = 0; round < 80; ++round) {
    const Tags tags = RandomTags(random);
    for (int walk = 0; walk < 4; ++walk) {
      SharedTags shared(tags);
      for (int token = 0; token < 24; ++token) {
        ASSERT_TRUE(shared.Agrees()) << "round " << round << ", token " << token << "\n"
                                     << absl::StrJoin(tags, "\n");
        if (!shared.Take(random)) break;
      }
    }
  }
}

}  // namespace
}  // namespace maskd
