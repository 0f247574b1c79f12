// Masks near the end of a budget against all texts there are: of languages so small that every text
// can be written down, a token fits exactly if some text goes on with it and ends in the tokens
// that are left. Nothing else may be allowed; of what fits a few may be missed, where the shortest
// texts differ in their tokens.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/closing.h"
#include "grammar_core/matcher/matcher.h"

namespace maskd {
namespace {

using Random = std::mt19937_64;
using Texts = std::vector<std::string>;

// Every byte, then words that end strings, go on to the next, and hold whole items.
const Texts& Words() {
  static const Texts* const words =
      new Texts{"true",   "false", "null", "ab",    "ba",     "\"a", "\"b",    "a\"",   "b\"",
                "\",\"",  "\"]",   "[\"",  "{\"",   "\":",    "\"}", "c\",\"", "xb\"]", "a\",\"",
                "b\",\"", "a\"]",  "b\"]", "ab\"]", ",\"a\"", "]}",  ":true",  "e}",    "aa\":"};
  return *words;
}

constexpr int kBytes = 256;

std::shared_ptr<const Vocabulary> SmallVocabulary() {
  std::vector<Vocabulary::Token> tokens;
  for (int byte = 0; byte < kBytes; ++byte)
    tokens.push_back({std::string(1, static_cast<char>(byte))});
  for (const std::string& word : Words()) tokens.push_back({word});
  const auto end = static_cast<TokenId>(tokens.size());
  tokens.push_back({"<end>", true});
  return *Vocabulary::Create("small", std::move(tokens), {end});
}

// All orders of `min` to `max` of `parts`, each once, as they stand between brackets.
void AddOrders(const Texts& parts, std::size_t min, std::size_t max, Texts* chosen, Texts* texts) {
  if (chosen->size() >= min) texts->push_back(absl::StrJoin(*chosen, ","));
  if (chosen->size() == max) return;
  for (const std::string& part : parts) {
    const std::string name = part.substr(0, part.find(':'));
    const bool is_new = std::ranges::none_of(
        *chosen, [&](const std::string& one) { return one.substr(0, one.find(':')) == name; });
    if (!is_new) continue;
    chosen->push_back(part);
    AddOrders(parts, min, max, chosen, texts);
    chosen->pop_back();
  }
}

Texts Orders(const Texts& parts, std::size_t min, std::size_t max, const char* brackets) {
  Texts chosen;
  Texts texts;
  AddOrders(parts, min, max, &chosen, &texts);
  for (std::string& text : texts)
    text = absl::StrCat(std::string(1, brackets[0]), text, std::string(1, brackets[1]));
  return texts;
}

Texts Members(const Texts& names, const Texts& values) {
  Texts members;
  for (const std::string& name : names)
    for (const std::string& value : values)
      members.push_back(absl::StrCat("\"", name, "\":", value));
  return members;
}

// Lists of up to three of `items` with "ab" among them.
Texts ListsWithAb(const Texts& items) {
  Texts texts;
  Texts open = {""};
  for (int size = 1; size <= 3; ++size) {
    Texts longer;
    for (const std::string& list : open)
      for (const std::string& item : items)
        longer.push_back(absl::StrCat(list, list.empty() ? "" : ",", item));
    open = std::move(longer);
    for (const std::string& list : open)
      if (absl::StrContains(list, "\"ab\"")) texts.push_back(absl::StrCat("[", list, "]"));
  }
  return texts;
}

struct ExactCase {
  const char* name;
  const char* schema;
  std::function<Texts()> texts;
};

const ExactCase kCases[] = {
    {"UniqueStrings",
     R"({"type":"array","uniqueItems":true,"minItems":2,"maxItems":3,
         "items":{"enum":["a","b","ab","ba"]}})",
     [] { return Orders({"\"a\"", "\"b\"", "\"ab\"", "\"ba\""}, 2, 3, "[]"); }},
    // Which of the words are left decides how many tokens the ending takes.
    {"UniqueBehindAQuote",
     R"({"type":"array","uniqueItems":true,"minItems":3,"items":{"enum":["xa","xb","xc"]}})",
     [] { return Orders({"\"xa\"", "\"xb\"", "\"xc\""}, 3, 3, "[]"); }},
    {"UniqueWords",
     R"({"type":"array","uniqueItems":true,"minItems":2,"items":{"enum":[true,false,null]}})",
     [] { return Orders({"true", "false", "null"}, 2, 3, "[]"); }},
    {"AllUnique",
     R"({"type":"array","uniqueItems":true,"minItems":3,"items":{"enum":["a","ab",true]}})",
     [] { return Orders({"\"a\"", "\"ab\"", "true"}, 3, 3, "[]"); }},
    {"MinProperties",
     R"({"type":"object","minProperties":2,"maxProperties":3,
         "propertyNames":{"pattern":"^[ab]{1,2}$"},"additionalProperties":{"type":"boolean"}})",
     [] {
       return Orders(Members({"a", "b", "aa", "ab", "ba", "bb"}, {"true", "false"}), 2, 3, "{}");
     }},
    {"Contains",
     R"({"type":"array","maxItems":3,"contains":{"const":"ab"},"items":{"enum":["a","b","ab"]}})",
     [] { return ListsWithAb({"\"a\"", "\"b\"", "\"ab\""}); }},
    {"If",
     R"({"type":"object","properties":{"a":{"enum":["a","b"]},"ab":{"type":"boolean"}},
         "required":["a"],"additionalProperties":false,
         "if":{"properties":{"a":{"const":"b"}}},"then":{"required":["ab"]}})",
     [] {
       return Texts{R"({"a":"a"})", R"({"a":"a","ab":true})", R"({"a":"a","ab":false})",
                    R"({"a":"b","ab":true})", R"({"a":"b","ab":false})"};
     }},
};

// By texts written down.
class Judge {
 public:
  explicit Judge(Texts texts) : texts_(std::move(texts)) {}

  // The fewest words and bytes that spell `text`.
  int Few(const std::string& text) {
    if (text.empty()) return 0;
    if (const auto known = few_.find(text); known != few_.end()) return known->second;
    int few = 1 + Few(text.substr(1));
    for (const std::string& word : Words())
      if (absl::StartsWith(text, word)) few = std::min(few, 1 + Few(text.substr(word.size())));
    return few_[text] = few;
  }
  int Fewest() {
    int few = Few(texts_[0]);
    for (const std::string& text : texts_) few = std::min(few, Few(text));
    return few;
  }

  // The tokens behind `begun` that some text goes on with and that leave it `left` tokens in all,
  // that one and `end` included.
  std::set<TokenId> Fitting(const std::string& begun, int left, TokenId end) {
    std::set<TokenId> fitting;
    for (const std::string& text : texts_) {
      if (!absl::StartsWith(text, begun)) continue;
      const std::string rest = text.substr(begun.size());
      if (rest.empty()) fitting.insert(end);
      const auto add = [&](TokenId id, std::size_t size) {
        if (Few(rest.substr(size)) <= left - 2) fitting.insert(id);
      };
      if (!rest.empty()) add(static_cast<unsigned char>(rest[0]), 1);
      for (std::size_t i = 0; i < Words().size(); ++i)
        if (absl::StartsWith(rest, Words()[i]))
          add(static_cast<TokenId>(kBytes + i), Words()[i].size());
    }
    return fitting;
  }

 private:
  const Texts texts_;
  absl::flat_hash_map<std::string, int> few_;
};

class ExactClosingTest : public testing::TestWithParam<ExactCase> {};

INSTANTIATE_TEST_SUITE_P(Schemas, ExactClosingTest, testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

TEST_P(ExactClosingTest, MasksHaveWhatFitsAndNothingElse) {
  const auto space = TokenizerSpace::Create(SmallVocabulary());
  GrammarSource source = {"json_schema", GetParam().schema, {}};
  source.options.white_space = WhiteSpace::kCompact;
  source.options.spelling = JsonSpelling::kCanonical;
  Budget budget = Budget::Unlimited();
  const auto grammar = CompileGrammar(source, space, Limits(), budget);
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  const Vocabulary& vocabulary = space->vocabulary();
  const TokenId end = vocabulary.stop_ids().front();
  Judge judge(GetParam().texts());
  Random random(11);  // NOLINT(cert-msc51-cpp): the same walks in every run
  ClosingMasks closing;
  int wrong = 0;
  int missed = 0;
  int looks = 0;
  for (int walk = 0; walk < 200; ++walk) {
    Matcher matcher(*grammar);
    std::string text;
    const int spare = static_cast<int>(random() % 8);
    for (int left = judge.Fewest() + 1 + spare; !matcher.finished(); --left) {
      const MaskRef mask = *matcher.Mask();
      const TokenMask narrowed = *closing.Narrow(matcher.stepper(), matcher.place(), mask, left);
      const std::set<TokenId> fitting = judge.Fitting(text, left, end);
      ASSERT_FALSE(fitting.empty()) << "after " << text << " with " << left << " left";
      std::vector<TokenId> allowed;
      narrowed.VisitAllowed([&](TokenId id) {
        const bool fits = fitting.contains(id);
        if (fits) allowed.push_back(id);
        wrong += fits ? 0 : 1;
        EXPECT_TRUE(fits) << "after " << text << " with " << left
                          << " left: " << vocabulary.TokenBytes(id);
      });
      for (const TokenId id : fitting) missed += narrowed.Allows(id) ? 0 : 1;
      looks += static_cast<int>(fitting.size());
      ASSERT_FALSE(allowed.empty()) << "after " << text << " with " << left << " left";
      const TokenId token = allowed[random() % allowed.size()];
      ASSERT_TRUE(matcher.Accept(token).ok());
      if (token != end) absl::StrAppend(&text, vocabulary.TokenBytes(token));
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(looks, 500);
  // Of texts as short as the known ending one of fewer tokens is not looked for.
  EXPECT_LE(missed, looks / 10) << "of " << looks;
}

}  // namespace
}  // namespace maskd
