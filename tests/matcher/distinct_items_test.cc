// Arrays whose items must be distinct, by their masks: a token is allowed exactly when the texts
// that begin so can be completed, also where a token holds parts of several items; over a
// vocabulary of a model, against a reader of JSON.
#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/mask/token_index.h"
#include "grammar_core/matcher/matcher.h"
#include "tests/matcher/long_tokens.h"
#include "tests/oracle/maskbench_cases.h"

namespace maskd {
namespace {

// The bytes and, behind them, tokens of several items.
const std::vector<std::string>& LongTokens() {
  static const auto* const tokens = new std::vector<std::string>{
      R"(",")", R"("a)", R"(a")", R"("a","a)", R"("a","a")", R"(["a")", R"(["a","b)", R"(",)",
      R"("])", R"(","a)", R"(","a")", R"(","b",)", R"(","b","a)", R"("",")", R"(aa)", R"(ab","ab)",
      R"(",null)", R"(1,)", R"(,1)", R"(","\u0061)",
      // The end of one item, and the next one's beginning.
      R"(b",)", R"(ab",")", R"(b","b)", R"(\",)", R"(\"",)", R"(\"","\")", R"(","\)", R"(b",""],)",
      R"(b","",)", R"(a","",")", R"(","a","a)", R"(","ab","a)", R"(\u0061",)", R"(b","\)",
      R"(\\",")"};
  return *tokens;
}

// What an array may hold.
struct Items {
  const char* name;
  const char* schema;
  std::vector<std::string> texts;  // strings, decoded
  std::vector<std::string> words;  // null, true, false
  int max_length = -1;             // of further strings, in characters; -1: there are none
  std::size_t min = 0;
  std::size_t max = 100;
};

// Whether a compact text over the characters of the tokens above can become an array of `items`.
class PrefixJudge {
 public:
  explicit PrefixJudge(const Items& items) : items_(items) {}

  bool CanBecome(absl::string_view text) {
    if (text.empty()) return true;
    if (!absl::ConsumePrefix(&text, "[")) return false;
    std::vector<std::string> seen;
    if (text == "]") return items_.min == 0;
    while (true) {
      if (seen.size() == Most()) return false;
      std::string item;
      const Read read = ReadItem(&text, &item);
      if (read == Read::kBroken) return false;
      if (read == Read::kPart) return PartCanEnd(item, seen);
      if (!IsItem(item) || std::find(seen.begin(), seen.end(), item) != seen.end()) return false;
      seen.push_back(item);
      if (text.empty()) return true;
      if (text == "]") return seen.size() >= items_.min;
      if (!absl::ConsumePrefix(&text, ",")) return false;
    }
  }

 private:
  enum class Read { kWhole, kPart, kBroken };

  std::size_t Most() const {
    const std::size_t values = items_.texts.size() + items_.words.size();
    return items_.max_length >= 0 ? items_.max : std::min(items_.max, values);
  }
  // Items are words, or a quote and decoded characters, the backslash as \x7f. In a part of one a
  // backslash begins an escape that is not complete.
  static Read ReadItem(absl::string_view* text, std::string* item) {
    if (!absl::StartsWith(*text, "\"")) {
      const std::size_t end = std::min(text->find_first_of(",]"), text->size());
      *item = std::string(text->substr(0, end));
      text->remove_prefix(end);
      return text->empty() ? Read::kPart : Read::kWhole;
    }
    *item = "\"";
    text->remove_prefix(1);
    while (!text->empty()) {
      const char c = text->front();
      text->remove_prefix(1);
      if (c == '"') return Read::kWhole;
      if (static_cast<unsigned char>(c) < 0x20) return Read::kBroken;
      if (c != '\\')
        item->push_back(c);
      else if (const Read read = ReadEscape(text, item); read != Read::kWhole)
        return read;
    }
    return Read::kPart;
  }
  static Read ReadEscape(absl::string_view* text, std::string* item) {
    const std::string escape = absl::StrCat("\\", text->substr(0, 5));
    constexpr absl::string_view kHex = "0123456789abcdef";
    if (escape.size() > 1 && escape[1] != 'u') {
      constexpr absl::string_view kShort = "\"\\/bfnrt";
      const std::size_t at = kShort.find(escape[1]);
      if (at == absl::string_view::npos) return Read::kBroken;
      item->push_back("\"\x7f/\b\f\n\r\t"[at]);
      text->remove_prefix(1);
      return Read::kWhole;
    }
    for (std::size_t i = 2; i < escape.size(); ++i)
      if (kHex.find(escape[i]) == absl::string_view::npos) return Read::kBroken;
    if (escape.size() < 6) {
      absl::StrAppend(item, escape);
      *text = "";
      return Read::kPart;
    }
    item->push_back(static_cast<char>(std::stoi(escape.substr(2), nullptr, 16)));
    text->remove_prefix(5);
    return Read::kWhole;
  }

  bool IsItem(const std::string& item) const {
    if (item.empty() || item[0] != '"')
      return std::find(items_.words.begin(), items_.words.end(), item) != items_.words.end();
    const std::string text = item.substr(1);
    return std::find(items_.texts.begin(), items_.texts.end(), text) != items_.texts.end() ||
           static_cast<int>(text.size()) <= items_.max_length;
  }

  bool PartCanEnd(const std::string& part, const std::vector<std::string>& seen) const {
    if (!part.empty() && part[0] == '"' && LongerCanEnd(part, seen)) return true;
    std::vector<std::string> all = items_.words;
    for (const std::string& text : items_.texts) all.push_back(absl::StrCat("\"", text));
    return std::any_of(all.begin(), all.end(),
                       [&](const std::string& item) {
                         return std::find(seen.begin(), seen.end(), item) == seen.end() &&
                                Begins(item, part);
                       }) ||
           (part.empty() && items_.max_length >= 0);
  }
  // Further strings are too many to run out while a character more may come.
  bool LongerCanEnd(const std::string& part, const std::vector<std::string>& seen) const {
    const std::string whole = part.substr(0, part.find('\\'));
    const int length = static_cast<int>(whole.size()) - 1;
    if (whole.size() < part.size()) return length < items_.max_length && EscapeCanEnd(part, seen);
    return length < items_.max_length ||
           (length == items_.max_length && std::find(seen.begin(), seen.end(), part) == seen.end());
  }
  // Whether not all characters that the escape may be make a string that was seen.
  bool EscapeCanEnd(const std::string& part, const std::vector<std::string>& seen) const {
    const std::size_t at = part.find('\\');
    if (part.size() < at + 5 || static_cast<int>(at) < items_.max_length) return true;
    for (const char digit : std::string("0123456789abcdef")) {
      std::string item = part.substr(0, at);
      item.push_back(static_cast<char>(std::stoi(part.substr(at + 2) + digit, nullptr, 16)));
      if (std::find(seen.begin(), seen.end(), item) == seen.end()) return true;
    }
    return false;
  }
  static bool Begins(const std::string& item, const std::string& part) {
    const std::size_t at = part.find('\\');
    if (at == std::string::npos || part[0] != '"') return absl::StartsWith(item, part);
    if (item.size() <= at || item.substr(0, at) != part.substr(0, at)) return false;
    const std::string escape = absl::StrCat("\\u00", absl::Hex(item[at], absl::kZeroPad2));
    return absl::StartsWith(escape, part.substr(at));
  }

  const Items& items_;
};

class DistinctItemsTest : public testing::TestWithParam<Items> {};

INSTANTIATE_TEST_SUITE_P(
    Arrays, DistinctItemsTest,
    testing::ValuesIn(std::vector<Items>{
        {"Strings", R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})", {}, {}, 99},
        {"OneCharacter",
         R"({"type":"array","uniqueItems":true,"items":{"type":"string","maxLength":1}})",
         {},
         {},
         1},
        {"TwoCharactersCounted",
         R"({"type":"array","uniqueItems":true,"minItems":3,"maxItems":4,"items":{"type":"string","maxLength":2}})",
         {},
         {},
         2,
         3,
         4},
        {"Listed",
         R"({"type":"array","uniqueItems":true,"items":{"enum":["a","ab","b","",null,true]}})",
         {"a", "ab", "b", ""},
         {"null", "true"}},
        {"ListedCounted",
         R"({"type":"array","uniqueItems":true,"minItems":2,"maxItems":3,"items":{"enum":["a","b",null]}})",
         {"a", "b"},
         {"null"},
         -1,
         2,
         3},
        {"Both",
         R"({"type":"array","uniqueItems":true,"items":{"anyOf":[{"enum":["ab","abab",null]},{"type":"string","maxLength":1}]}})",
         {"ab", "abab"},
         {"null"},
         1},
    }),
    [](const auto& test) { return test.param.name; });

std::shared_ptr<const CompiledGrammar> Compiled(const Items& items) {
  GrammarSource source = {"json_schema", items.schema, {}};
  source.options.white_space = WhiteSpace::kCompact;
  Budget budget = Budget::Unlimited();
  auto compiled = CompileGrammar(source, SpaceWith(LongTokens()), Limits(), budget);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return *compiled;
}

// The tokens of which the judge speaks.
bool IsJudged(absl::string_view token) {
  return !token.empty() && token.find_first_not_of("[]\",ab1nultre\\06") == absl::string_view::npos;
}

// Whether an escape of `text` may be one of a character of two bytes: the judge knows none.
bool HasWideEscape(absl::string_view text) {
  for (std::size_t at = text.find("\\u"); at != absl::string_view::npos;
       at = text.find("\\u", at + 1)) {
    if (!absl::StartsWith("00", text.substr(at + 2, 2))) return true;
  }
  return false;
}

TEST_P(DistinctItemsTest, MasksAreWhatCanBecomeAnArray) {
  const auto grammar = Compiled(GetParam());
  const Vocabulary& vocabulary = grammar->tokenizer().vocabulary();
  PrefixJudge judge(GetParam());
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    Matcher matcher(grammar);
    std::string text;
    for (int step = 0; step < 25; ++step) {
      const absl::StatusOr<MaskRef> mask = matcher.Mask();
      ASSERT_TRUE(mask.ok()) << mask.status();
      std::vector<TokenId> allowed;
      for (TokenId id = 0; id < kEndOfLongTokens; ++id) {
        const absl::string_view token = vocabulary.TokenBytes(id);
        if (!IsJudged(token) || HasWideEscape(absl::StrCat(text, token))) continue;
        ASSERT_EQ((*mask)->Allows(id), judge.CanBecome(absl::StrCat(text, token)))
            << text << " then " << token;
        if ((*mask)->Allows(id)) allowed.push_back(id);
      }
      if (allowed.empty()) break;
      const TokenId id = allowed[random() % allowed.size()];
      ASSERT_TRUE(matcher.Accept(id).ok()) << text;
      absl::StrAppend(&text, vocabulary.TokenBytes(id));
    }
  }
}

// Whether an item of an array of strings, written so far, is over and repeats one before it.
bool Repeats(absl::string_view text) {
  std::set<std::string> items;
  for (std::size_t at = text.find('"'); at != absl::string_view::npos; at = text.find('"', at)) {
    std::size_t end = at + 1;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    if (end >= text.size()) return false;
    const auto item = nlohmann::json::parse(text.substr(at, end + 1 - at), nullptr, false);
    if (!item.is_string() || !items.insert(item.get<std::string>()).second) return true;
    at = end + 1;
  }
  return false;
}

// Any string may go on, so the masks of such an array are those of one of any strings, less the
// tokens that end an item which is there.
class DistinctStrings {
 public:
  explicit DistinctStrings(std::shared_ptr<TokenizerSpace> space) : space_(std::move(space)) {
    distinct_ = Compiled(R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})");
    any_ = Compiled(R"({"type":"array","items":{"type":"string"}})");
  }

  // Of how many tokens the masks behind `text` differ.
  int Compare(absl::string_view text) const {
    const MaskRef distinct = MaskBehind(distinct_, text);
    const MaskRef any = MaskBehind(any_, text);
    if (distinct == nullptr || any == nullptr) return 0;
    const TokenMask exact = *distinct;
    int refused = 0;
    any->VisitAllowed([&](TokenId id) {
      const absl::string_view bytes = space_->vocabulary().TokenBytes(id);
      const bool repeats = absl::StrContains(bytes, '"') && Repeats(absl::StrCat(text, bytes));
      refused += repeats ? 1 : 0;
      EXPECT_EQ(exact.Allows(id), !repeats) << text << " then " << bytes;
    });
    EXPECT_EQ(exact.CountAllowed() + refused, any->CountAllowed()) << text;
    return refused;
  }

 private:
  std::shared_ptr<const CompiledGrammar> Compiled(const char* schema) const {
    Budget budget = Budget::Unlimited();
    auto compiled = CompileGrammar({"json_schema", schema, {}}, space_, Limits(), budget);
    EXPECT_TRUE(compiled.ok()) << compiled.status();
    return *compiled;
  }
  MaskRef MaskBehind(const std::shared_ptr<const CompiledGrammar>& grammar,
                     absl::string_view text) const {
    Matcher matcher(grammar);
    for (std::size_t i = 0; i < text.size(); ++i)
      if (!matcher.Accept(space_->index().Find(text.substr(i, 1))).ok()) return nullptr;
    absl::StatusOr<MaskRef> mask = matcher.Mask();
    EXPECT_TRUE(mask.ok()) << mask.status();
    return mask.ok() ? *mask : nullptr;
  }

  std::shared_ptr<TokenizerSpace> space_;
  std::shared_ptr<const CompiledGrammar> distinct_;
  std::shared_ptr<const CompiledGrammar> any_;
};

// Some items, all different, and a part of one more, which may be one of them.
std::string RandomItems(std::mt19937_64* random) {
  const std::vector<std::string> words = {
      "",         "a",        "ab", "the",  "\\n",  "\\\"", "name", "id", ",",     " ", "\\t",
      "\\u0061b", "\xC3\xA9", ", ", "type", "\\\\", "#",    "1",    "$",  "a\\\"", "-"};
  std::string text = "[";
  std::set<std::string> seen;
  for (std::size_t count = (*random)() % 6; seen.size() < count;) {
    const std::string item = words[(*random)() % words.size()] + words[(*random)() % words.size()];
    const auto value = nlohmann::json::parse(absl::StrCat("\"", item, "\"")).get<std::string>();
    if (!seen.insert(value).second) continue;
    absl::StrAppend(&text, text.size() > 1 ? "," : "", (*random)() % 2 == 0 ? " " : "", "\"", item,
                    "\"");
  }
  if ((*random)() % 4 == 0) return text;
  absl::StrAppend(&text, text.size() > 1 ? "," : "");
  if ((*random)() % 4 == 0) return text;
  return absl::StrCat(text, "\"", words[(*random)() % words.size()]);
}

TEST(DistinctItemsRowTest, MasksOfAVocabularyAreThoseOfAnyStringsLessTheRepetitions) {
  const auto vocabulary = LoadLlama3(MASKD_SOURCE_DIR);
  if (!vocabulary.ok()) GTEST_SKIP() << "no Llama 3 vocabulary: " << vocabulary.status();
  const DistinctStrings strings(TokenizerSpace::Create(*vocabulary));
  std::mt19937_64 random(3);
  int refused = 0;
  for (int round = 0; round < 150; ++round) refused += strings.Compare(RandomItems(&random));
  EXPECT_GT(refused, 20);
}

TEST_P(DistinctItemsTest, CompletionsAreArrays) {
  const auto grammar = Compiled(GetParam());
  const Vocabulary& vocabulary = grammar->tokenizer().vocabulary();
  std::mt19937_64 random(11);
  for (int round = 0; round < 40; ++round) {
    Matcher matcher(grammar);
    for (int step = 0; step < 8; ++step) {
      const MaskRef mask = *matcher.Mask();
      TokenId id = static_cast<TokenId>(random() % kEndOfLongTokens);
      for (int tries = 0; tries < 500 && !mask->Allows(id); ++tries)
        id = static_cast<TokenId>(random() % kEndOfLongTokens);
      if (mask->Allows(id) && IsJudged(vocabulary.TokenBytes(id)))
        ASSERT_TRUE(matcher.Accept(id).ok());
    }
    const absl::StatusOr<std::string> rest = matcher.ShortestCompletion(1'000);
    ASSERT_TRUE(rest.ok()) << rest.status();
    for (const char byte : *rest)
      ASSERT_TRUE(matcher.Accept(static_cast<unsigned char>(byte)).ok()) << *rest;
    EXPECT_TRUE(matcher.may_end());
  }
}

TEST(DistinctItemsRowTest, RowsAndForksDoNotSeeOneAnother) {
  const auto grammar =
      Compiled({"", R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})", {}, {}});
  const auto take = [](Matcher* matcher, absl::string_view text) {
    for (const char byte : text)
      if (!matcher->Accept(static_cast<unsigned char>(byte)).ok()) return false;
    return true;
  };
  Matcher first(grammar);
  ASSERT_TRUE(take(&first, R"(["a","b)"));
  Matcher second(grammar);
  EXPECT_TRUE(take(&second, R"(["b","a"])"));
  Matcher fork = first.Fork();
  EXPECT_TRUE(take(&fork, R"(","c")"));
  EXPECT_TRUE(take(&first, R"(c","b","c"])"));
  ASSERT_TRUE(fork.Rollback(5).ok());
  EXPECT_FALSE(take(&fork, R"(b","bb")"));
}

TEST(DistinctItemsRowTest, StatesOfARowGoWithIt) {
  const auto grammar =
      Compiled({"", R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})", {}, {}});
  const std::int64_t before = grammar->costs().terms;
  {
    Matcher matcher(grammar);
    ASSERT_TRUE(matcher.Accept('[').ok());
    ASSERT_TRUE(matcher.Accept('"').ok());
    for (int i = 0; i < 2'000; ++i) ASSERT_TRUE(matcher.Accept('a' + i % 26).ok());
  }
  EXPECT_EQ(grammar->costs().terms, before);
}

}  // namespace
}  // namespace maskd
