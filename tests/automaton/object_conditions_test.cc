// Objects with conditions, counts and several ways to write a member: which texts the automaton
// takes, and that it takes no step from which there is no end, by the slow recogniser over every
// text of a small alphabet.
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/passes/productive.h"
#include "grammar_core/mask/token_index.h"
#include "grammar_core/rows/masked_automaton.h"
#include "grammar_core/tokenizer/loader.h"
#include "tests/frontend/ir_recognizer.h"
#include "tests/rooms/shown_terms.h"

namespace maskd {
namespace {

using Random = std::mt19937;

constexpr int kMarks = 3;

int Below(int bound, Random* random) {
  return std::uniform_int_distribution<int>(0, bound - 1)(*random);
}

std::vector<ObjectSpec::Mark> SomeMarks(Random* random) {
  std::set<ObjectSpec::Mark> marks;
  for (int i = Below(3, random); i > 0; --i) marks.insert(Below(kMarks, random));
  return {marks.begin(), marks.end()};
}

// Members a, b and c with the values 1 and 2, others x and y.
ObjectSpec RandomSpec(IrBuilder* b, Random* random) {
  const NodeId value = b->AnyByteOf("12");
  ObjectSpec spec = {{}, {}, b->Empty(), Below(2, random) == 0};
  for (const char* name : {"b", "a", "c"}) {
    ObjectSpec::Member member = {name, value, Below(5, random) == 0};
    if (Below(2, random) == 0)
      member.ways = {{b->Bytes("1"), SomeMarks(random)}, {b->Bytes("2"), SomeMarks(random)}};
    spec.members.push_back(member);
  }
  if (Below(2, random) == 0)
    spec.others.push_back({b->Text("x"), b->Bytes("1"), SomeMarks(random)});
  if (Below(2, random) == 0)
    spec.others.push_back({b->Chars(CharSet({{'x', 'y'}})), b->Bytes("1"), SomeMarks(random)});
  for (int i = 1 + Below(3, random); i > 0; --i)
    spec.conditions.push_back({SomeMarks(random), SomeMarks(random)});
  if (Below(3, random) == 0) spec.min_members = Below(4, random);
  if (Below(3, random) == 0) spec.max_members = Below(5, random);
  return spec;
}

// Every text of up to `left` more members: of `declared` each once, with the values 1 and 2; x and
// y any number of times, with the value 1.
void AppendTexts(const std::string& begun, const std::string& declared, int left,
                 std::vector<std::string>* texts) {
  texts->push_back(begun + "}");
  if (left == 0) return;
  const auto append = [&](char name, char value, const std::string& rest) {
    const std::string comma = begun.size() > 1 ? "," : "";
    AppendTexts(begun + comma + '"' + name + "\":" + value, rest, left - 1, texts);
  };
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const std::string rest = declared.substr(0, i) + declared.substr(i + 1);
    for (const char value : {'1', '2'}) append(declared[i], value, rest);
  }
  for (const char name : {'x', 'y'}) append(name, '1', declared);
}

class ObjectConditionsTest : public testing::TestWithParam<int> {
 protected:
  ObjectConditionsTest()
      : index_(EmbeddedByteVocabulary()), masks_(&index_, 1 << 20), budget_(Budget::Unlimited()) {
    AppendTexts("{", "abc", 5, &texts_);
  }

  void Check(const GrammarIr& ir) {
    const auto automaton = *MaskedAutomaton::Create(ir, &masks_, Limits(), budget_);
    IrRecognizer recognizer(ir);
    absl::flat_hash_set<std::string> begins;
    for (const std::string& text : texts_) {
      if (!recognizer.Accepts(text)) continue;
      for (std::size_t size = 1; size <= text.size(); ++size) begins.insert(text.substr(0, size));
    }
    Work work(budget_);
    for (const std::string& text : texts_) {
      std::size_t taken = 0;
      const TermId state = automaton->StepText(automaton->start(), text, &taken, work);
      ASSERT_TRUE(work.ok()) << work.error();
      const bool accepted = taken == text.size() && automaton->MayEnd(state);
      ASSERT_EQ(accepted, recognizer.Accepts(text)) << text << "\n" << PrintIr(ir);
      // One member: whatever must come after it is among the texts.
      if (taken > std::string(R"({"a":1,")").size()) continue;
      ASSERT_TRUE(taken == 0 || begins.contains(text.substr(0, taken)))
          << "no end after " << text.substr(0, taken) << "\n"
          << PrintIr(ir);
    }
  }

  TokenIndex index_;
  MaskStore masks_;
  Budget budget_;
  std::vector<std::string> texts_;
};

TEST_P(ObjectConditionsTest, TakesTheTextsAndNoDeadEnd) {
  Random random(GetParam());
  IrBuilder builder{Limits()};
  const RuleId start = builder.DeclareRule("start", "");
  builder.DefineRule(start, builder.Object(RandomSpec(&builder, &random)));
  const absl::StatusOr<GrammarIr> built = std::move(builder).Build(start);
  ASSERT_TRUE(built.ok()) << built.status();
  const absl::StatusOr<GrammarIr> ir = DropUnproductive(*built, IrForm::kBuilt, Limits(), budget_);
  if (ir.ok()) return Check(*ir);
  IrRecognizer recognizer(*built);
  for (const std::string& text : texts_)
    EXPECT_FALSE(recognizer.Accepts(text)) << text << "\n" << PrintIr(*built);
}

INSTANTIATE_TEST_SUITE_P(Specs, ObjectConditionsTest, testing::Range(0, 30));

}  // namespace
}  // namespace maskd
