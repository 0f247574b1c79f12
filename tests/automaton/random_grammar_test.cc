// Random grammars, left-recursive and ambiguous ones among them, through the passes and the
// automaton, against their languages computed from the definition: the least sets of texts of up to
// five letters that satisfy the rules, by iteration from the empty sets.
#include <bitset>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/passes/left_recursion.h"
#include "grammar_core/ir/passes/productive.h"
#include "grammar_core/mask/token_index.h"
#include "grammar_core/rows/masked_automaton.h"
#include "grammar_core/tokenizer/loader.h"
#include "tests/rooms/shown_terms.h"

namespace maskd {
namespace {

constexpr std::size_t kLetters = 5;
// Texts over "ab" of up to kLetters letters: 1 and the letters as binary digits, less 1.
constexpr std::size_t kTexts = (std::size_t{2} << kLetters) - 1;
using Language = std::bitset<kTexts>;

std::string TextOf(std::size_t index) {
  std::string text;
  for (std::size_t rest = index + 1; rest > 1; rest /= 2) text += rest % 2 == 0 ? 'a' : 'b';
  return {text.rbegin(), text.rend()};
}

std::size_t IndexOf(const std::string& text) {
  std::size_t index = 1;
  for (const char letter : text) index = 2 * index + (letter == 'b' ? 1 : 0);
  return index - 1;
}

Language One(const std::string& text) { return Language().set(IndexOf(text)); }

Language Joined(const Language& x, const Language& y) {
  Language joined;
  for (std::size_t i = 0; i < kTexts; ++i) {
    for (std::size_t j = 0; x[i] && j < kTexts; ++j) {
      if (!y[j]) continue;
      const std::string text = TextOf(i) + TextOf(j);
      if (text.size() <= kLetters) joined.set(IndexOf(text));
    }
  }
  return joined;
}

struct Expression {
  enum Kind { kText, kCall, kConcat, kAlt, kRepeat, kCharacters, kAnd, kNot } kind;
  std::vector<Expression> parts;
  std::string text;
  RuleId rule = 0;
  std::uint32_t min = 0;
  std::uint32_t max = 0;
};

Language Evaluate(const Expression& e, const std::vector<Language>& rules) {
  std::vector<Language> parts;
  for (const Expression& part : e.parts) parts.push_back(Evaluate(part, rules));
  Language all;
  switch (e.kind) {
    case Expression::kText:
      return One(e.text);
    case Expression::kCall:
      return rules[e.rule];
    case Expression::kConcat:
      all = One("");
      for (const Language& part : parts) all = Joined(all, part);
      return all;
    case Expression::kAlt:
      for (const Language& part : parts) all |= part;
      return all;
    case Expression::kRepeat: {
      Language round = One("");
      // After a round for each letter a further one can only repeat or, without one, end.
      for (std::uint32_t i = 0; i <= std::min<std::uint32_t>(e.max, e.min + kLetters); ++i) {
        if (i >= e.min) all |= round;
        round = Joined(round, parts[0]);
      }
      return all;
    }
    case Expression::kCharacters:
      return parts[0];
    case Expression::kAnd:
      return parts[0] & parts[1];
    case Expression::kNot:
      return ~parts[0];
  }
  return all;
}

std::vector<Language> LeastLanguages(const std::vector<Expression>& bodies) {
  std::vector<Language> rules(bodies.size());
  for (bool grew = true; grew;) {
    grew = false;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const Language now = Evaluate(bodies[i], rules);
      grew |= now != rules[i];
      rules[i] = now;
    }
  }
  return rules;
}

class RandomGrammar {
 public:
  explicit RandomGrammar(std::uint64_t seed) : random_(seed), rules_(1 + Below(4)) {}

  std::vector<Expression> Bodies() {
    std::vector<Expression> bodies;
    for (int i = 0; i < rules_; ++i) bodies.push_back(Bytes(3));
    return bodies;
  }

 private:
  int Below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random_); }

  std::string Letters() {
    static constexpr const char* kSome[] = {"a", "b", "aa", "ab", "ba"};
    return kSome[Below(5)];
  }

  Expression Counted(Expression part) {
    static constexpr std::pair<std::uint32_t, std::uint32_t> kCounts[] = {
        {0, 1}, {0, kUnbounded}, {1, kUnbounded}, {2, kUnbounded}, {0, 2},
        {1, 2}, {2, 2},          {2, 3},          {1, 4},          {3, 3}};
    const auto [min, max] = kCounts[Below(10)];
    return {Expression::kRepeat, {std::move(part)}, "", 0, min, max};
  }

  template <typename Make>
  std::vector<Expression> Some(Make make) {
    std::vector<Expression> parts;
    for (int i = 2 + Below(2); i > 0; --i) parts.push_back(make());
    return parts;
  }

  Expression Characters(int depth) {
    if (depth == 0) return {Expression::kText, {}, Letters()};
    const auto part = [&] { return Characters(depth - 1); };
    switch (Below(6)) {
      case 0:
        return {Expression::kConcat, Some(part), ""};
      case 1:
        return {Expression::kAlt, Some(part), ""};
      case 2:
        return {Expression::kAnd, {part(), part()}, ""};
      case 3:
        return {Expression::kNot, {part()}, ""};
      default:
        return Counted(part());
    }
  }

  Expression Bytes(int depth) {
    if (depth == 0) {
      if (Below(2) == 0) return {Expression::kText, {}, Letters()};
      return {Expression::kCall, {}, "", static_cast<RuleId>(Below(rules_))};
    }
    const auto part = [&] { return Bytes(depth - 1 - Below(2) % depth); };
    switch (Below(7)) {
      case 0:
      case 1:
      case 2:
        return {Expression::kConcat, Some(part), ""};
      case 3:
      case 4:
        return {Expression::kAlt, Some(part), ""};
      case 5:
        return Counted(part());
      default:
        return Below(3) == 0 ? Expression{Expression::kCharacters, {Characters(2)}, ""} : part();
    }
  }

  std::mt19937_64 random_;
  const int rules_;
};

NodeId Built(const Expression& e, bool characters, IrBuilder* b) {
  std::vector<NodeId> parts;
  const bool inside = characters || e.kind == Expression::kCharacters;
  for (const Expression& part : e.parts) parts.push_back(Built(part, inside, b));
  switch (e.kind) {
    case Expression::kText:
      return characters ? b->Text(e.text) : b->Bytes(e.text);
    case Expression::kCall:
      return b->Call(e.rule);
    case Expression::kConcat:
      return b->Concat(parts);
    case Expression::kAlt:
      return b->Alt(parts);
    case Expression::kRepeat:
      return b->Repeat(parts[0], e.min, e.max);
    case Expression::kCharacters:
      return b->Encode(Spelling::kUtf8, parts[0]);
    case Expression::kAnd:
      return b->And(parts);
    case Expression::kNot:
      return b->Not(parts[0]);
  }
  return b->Nothing();
}

class RandomGrammarTest : public testing::Test {
 protected:
  // Nothing where no text satisfies the grammar.
  std::unique_ptr<MaskedAutomaton> Compiled(const std::vector<Expression>& bodies) {
    IrBuilder b{Limits()};
    for (std::size_t i = 0; i < bodies.size(); ++i) b.DeclareRule(absl::StrCat("r", i), "");
    for (RuleId rule = 0; rule < bodies.size(); ++rule)
      b.DefineRule(rule, Built(bodies[rule], false, &b));
    const absl::StatusOr<GrammarIr> built = std::move(b).Build(0);
    EXPECT_TRUE(built.ok()) << built.status();
    absl::StatusOr<GrammarIr> ir = DropUnproductive(*built, IrForm::kBuilt, Limits(), budget_);
    const absl::StatusOr<GrammarIr> made_anew =
        DropUnproductive(*built, IrForm::kEdited, Limits(), budget_);
    EXPECT_EQ(ir.ok(), made_anew.ok());
    if (!ir.ok()) return nullptr;
    EXPECT_EQ(PrintIr(*ir), PrintIr(*made_anew));
    EXPECT_LE(ir->nodes.size(), made_anew->nodes.size());
    ir = RemoveLeftRecursion(*std::move(ir), Limits(), budget_);
    EXPECT_TRUE(ir.ok()) << ir.status();
    ir_ = *std::move(ir);
    return *MaskedAutomaton::Create(ir_, &masks_, Limits(), budget_);
  }

  bool Accepts(MaskedAutomaton* automaton, const std::string& text) {
    Work work(budget_);
    std::size_t taken = 0;
    const TermId state = automaton->StepText(automaton->start(), text, &taken, work);
    EXPECT_TRUE(work.ok()) << work.error();
    return taken == text.size() && automaton->MayEnd(state);
  }

  Budget budget_ = Budget::Unlimited();
  TokenIndex index_{EmbeddedByteVocabulary()};
  MaskStore masks_{&index_, 1 << 26};
  GrammarIr ir_;
};

TEST_F(RandomGrammarTest, AcceptsItsTexts) {
  constexpr std::uint64_t kGrammars = 3000;
  int compiled = 0;
  for (std::uint64_t seed = 0; seed < kGrammars && !HasFatalFailure(); ++seed) {
    const std::vector<Expression> bodies = RandomGrammar(seed).Bodies();
    const Language language = LeastLanguages(bodies)[0];
    const std::unique_ptr<MaskedAutomaton> automaton = Compiled(bodies);
    compiled += automaton != nullptr ? 1 : 0;
    for (std::size_t i = 0; i < kTexts; ++i) {
      const bool accepts = automaton != nullptr && Accepts(automaton.get(), TextOf(i));
      ASSERT_EQ(accepts, language[i]) << "seed " << seed << " \"" << TextOf(i) << "\"\n"
                                      << PrintIr(ir_);
    }
  }
  EXPECT_GT(compiled, kGrammars / 3);
}

}  // namespace
}  // namespace maskd
