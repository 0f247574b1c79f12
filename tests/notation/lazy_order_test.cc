// Grammars with lazy rules, against a lexer that tries every way to cut a text.
#include "grammar_core/frontend/lark/lazy_order.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/frontend/ir_recognizer.h"
#include "tests/frontend/reading.h"
#include "tests/notation/lark_definitions.h"
#include "tests/notation/node_texts.h"

namespace maskd {
namespace {

// Terminals by their names, with all their texts; those in lower case are lazy rules.
using Terminals = std::map<char, std::vector<std::string>>;
const Terminals kTerminals = {{'A', {"x", "xy", "yy"}},
                              {'B', {"y", "yx", "xxy"}},
                              {'l', {"x", "xx"}},
                              {'m', {"yx", "y"}},
                              {'n', {"xyx", "yyx"}}};

bool IsLazy(char name) { return name >= 'a'; }

// What is left of a grammar: a regular expression of terminals.
struct Left;
using LeftPtr = std::shared_ptr<const Left>;
struct Left {
  char kind;  // a terminal, or '0' nothing, '1' the empty text, '.' both in order, '|', '*'
  LeftPtr one, other;
};

LeftPtr Make(char kind, LeftPtr one = nullptr, LeftPtr other = nullptr) {
  return std::make_shared<Left>(Left{kind, std::move(one), std::move(other)});
}

bool MayEnd(const LeftPtr& left) {
  switch (left->kind) {
    case '1':
    case '*':
      return true;
    case '.':
      return MayEnd(left->one) && MayEnd(left->other);
    case '|':
      return MayEnd(left->one) || MayEnd(left->other);
    default:
      return false;
  }
}

// Brzozowski's derivative; simplified a little, so that it stays small.
LeftPtr Behind(const LeftPtr& left, char terminal) {
  const auto sequence = [](const LeftPtr& one, const LeftPtr& other) {
    if (one->kind == '0') return one;
    return one->kind == '1' ? other : Make('.', one, other);
  };
  const auto either = [](const LeftPtr& one, const LeftPtr& other) {
    if (one->kind == '0') return other;
    return other->kind == '0' ? one : Make('|', one, other);
  };
  switch (left->kind) {
    case '0':
    case '1':
      return Make('0');
    case '.': {
      const LeftPtr first = sequence(Behind(left->one, terminal), left->other);
      return MayEnd(left->one) ? either(first, Behind(left->other, terminal)) : first;
    }
    case '|':
      return either(Behind(left->one, terminal), Behind(left->other, terminal));
    case '*':
      return sequence(Behind(left->one, terminal), left);
    default:
      return Make(left->kind == terminal ? '1' : '0');
  }
}

bool StartsWithOneOf(const std::string& text, const std::vector<std::string>& texts,
                     bool and_more) {
  return std::any_of(texts.begin(), texts.end(), [&](const std::string& one) {
    return absl::StartsWith(text, one) && (!and_more || text.size() > one.size());
  });
}

// Whether the terminal may be `text` where those of `place` may come.
bool MayBe(char terminal, const std::string& text, const std::string& place) {
  const std::vector<std::string>& texts = kTerminals.at(terminal);
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) return false;
  return std::none_of(place.begin(), place.end(), [&](char lazy) {
    return IsLazy(lazy) && (lazy != terminal || IsLazy(terminal)) &&
           StartsWithOneOf(text, kTerminals.at(lazy), IsLazy(terminal));
  });
}

bool Matches(const LeftPtr& left, const std::string& text) {
  if (text.empty()) return MayEnd(left);
  std::map<char, LeftPtr> behind;
  std::string place;
  for (const auto& [terminal, texts] : kTerminals) {
    const LeftPtr next = Behind(left, terminal);
    if (next->kind == '0') continue;
    behind[terminal] = next;
    place.push_back(terminal);
  }
  for (const char terminal : place)
    for (std::size_t size = 1; size <= text.size(); ++size)
      if (MayBe(terminal, text.substr(0, size), place) &&
          Matches(behind[terminal], text.substr(size)))
        return true;
  return false;
}

// A grammar and what it stands for. Parts of it are rules, some in two definitions.
class GrammarMaker {
 public:
  explicit GrammarMaker(std::uint64_t seed) : random_(seed) {}

  std::pair<std::string, LeftPtr> Make() {
    rules_.clear();
    extensions_.clear();
    const auto [text, left] = Part(0);
    std::string grammar = absl::StrCat("start: ", text, "\n", rules_, extensions_);
    for (const auto& [name, texts] : kTerminals) {
      absl::StrAppend(&grammar, std::string(1, name), IsLazy(name) ? "[lazy]" : "", ": \"",
                      absl::StrJoin(texts, "\" | \""), "\"\n");
    }
    return {grammar, left};
  }

 private:
  std::size_t Pick(std::size_t count) { return random_() % count; }

  std::pair<std::string, LeftPtr> Part(int depth) {
    switch (Pick(depth > 3 ? 3 : 9)) {
      case 0:
      case 1:
      case 2: {
        const char name = "AABBlmn"[Pick(7)];
        return {std::string(1, name), maskd::Make(name)};
      }
      case 3:
      case 4:
        return Both(depth, '.', " ");
      case 5:
        return Both(depth, '|', " | ");
      case 6: {
        const auto [text, left] = Part(depth + 1);
        return {absl::StrCat("(", text, ")*"), maskd::Make('*', left)};
      }
      case 7: {
        const auto [text, left] = Part(depth + 1);
        return {absl::StrCat("[", text, "]"), maskd::Make('|', left, maskd::Make('1'))};
      }
      default:
        return Rule(depth);
    }
  }

  std::pair<std::string, LeftPtr> Both(int depth, char kind, absl::string_view between) {
    const auto one = Part(depth + 1);
    const auto other = Part(depth + 1);
    return {absl::StrCat("(", one.first, between, other.first, ")"),
            maskd::Make(kind, one.second, other.second)};
  }

  std::pair<std::string, LeftPtr> Rule(int depth) {
    const auto [text, left] = Part(depth + 1);
    const std::string name = absl::StrCat("r", ++rule_);
    absl::StrAppend(&rules_, name, ": ", text, "\n");
    if (Pick(2) == 0) return {name, left};
    const auto more = Part(depth + 1);
    absl::StrAppend(&extensions_, "%extend ", name, ": ", more.first, "\n");
    return {name, maskd::Make('|', left, more.second)};
  }

  std::mt19937_64 random_;
  std::string rules_;
  std::string extensions_;
  int rule_ = 0;
};

TEST(LazyOrderTest, RandomGrammarsHaveTheLanguageOfALexer) {
  const std::vector<std::string> texts = LetterTexts("xy", 6);
  GrammarMaker maker(24);
  int compared = 0;
  int with_some_texts = 0;
  for (int i = 0; i < 400; ++i) {
    const auto [grammar, left] = maker.Make();
    const auto read = ReadForTest("lark", grammar);
    if (read.status().code() == absl::StatusCode::kUnimplemented) continue;
    const bool is_empty = !read.ok();
    if (is_empty) ASSERT_TRUE(absl::StrContains(read.status().message(), "no text")) << grammar;
    std::set<std::string> expected;
    std::set<std::string> accepted;
    const GrammarIr ir = is_empty ? GrammarIr() : read->ir;
    IrRecognizer recognizer(ir);
    for (const std::string& text : texts) {
      if (Matches(left, text)) expected.insert(text);
      if (!is_empty && recognizer.Accepts(text)) accepted.insert(text);
    }
    ASSERT_EQ(accepted, expected) << grammar;
    ++compared;
    with_some_texts += expected.size() > 2 ? 1 : 0;
  }
  EXPECT_GT(compared, 150);
  EXPECT_GT(with_some_texts, 60);
}

TEST(LazyOrderTest, WithoutLazyRulesNothingChanges) {
  TextInReading text("start: A b\nA: \"x\"\nb: \"y\"");
  ReadDefinitions(text);
  const std::size_t definitions = text.grammar.definitions.size();
  const std::size_t expressions = text.grammar.expressions.size();
  ASSERT_TRUE(PutLazyFirst(text.grammar.Symbol("start"), text.reading, text.grammar).ok());
  EXPECT_EQ(text.grammar.definitions.size(), definitions);
  EXPECT_EQ(text.grammar.expressions.size(), expressions);
}

// Only what stands beside the lazy rule is written anew.
TEST(LazyOrderTest, WhatIsApartKeepsItsDefinition) {
  TextInReading text("start: a \"1\" t | u\na[lazy]: \"x\"\nt: /x/\nu: /xy/");
  ReadDefinitions(text);
  const auto before = text.grammar.definition_of;
  ASSERT_TRUE(PutLazyFirst(text.grammar.Symbol("start"), text.reading, text.grammar).ok());
  for (const char* kept : {"start", "a", "t"}) {
    const SymbolId symbol = text.grammar.Symbol(kept);
    EXPECT_EQ(text.grammar.definition_of[symbol], before[symbol]) << kept;
  }
  const SymbolId held = text.grammar.Symbol("u");
  EXPECT_NE(text.grammar.definition_of[held], before[held]);
}

}  // namespace
}  // namespace maskd
