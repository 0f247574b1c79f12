// The machines of random expressions against the slow recogniser of whole texts.
#include "tests/oracle/character_machine.h"

#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/utf8.h"
#include "grammar_core/ir/ir_builder.h"
#include "tests/frontend/ir_recognizer.h"
#include "tests/oracle/random_characters.h"

namespace maskd {
namespace {

constexpr std::size_t kLength = 4;

// Every text of up to kLength characters.
std::vector<std::string> AllTexts() {
  std::vector<std::string> texts = {""};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (Utf8ToCodePoints(texts[i])->size() == kLength) continue;
    for (const char* character : {"a", "b", "\xC3\xA9"}) texts.push_back(texts[i] + character);
  }
  return texts;
}

bool Accepts(const CharacterMachine& machine, const std::string& text) {
  CharacterMachine::State state = CharacterMachine::start();
  for (const char32_t character : Utf8ToCodePoints(text).value_or(U"")) {
    if (!machine.Next(state).Contains(character)) return false;
    state = machine.Step(state, character);
  }
  return machine.MayEnd(state);
}

TEST(CharacterMachineTest, AcceptsWhatTheRecognizerDoes) {
  const std::vector<std::string> texts = AllTexts();
  int nothing = 0;
  for (std::uint64_t seed = 0; seed < 500 && !HasFatalFailure(); ++seed) {
    std::mt19937_64 random(seed);
    IrBuilder b{Limits()};
    const NodeId characters = RandomCharacters(4, &random, &b);
    const RuleId rule = b.DeclareRule("r", "");
    b.DefineRule(rule, b.Encode(Spelling::kUtf8, characters));
    const absl::StatusOr<GrammarIr> ir = std::move(b).Build(rule);
    ASSERT_TRUE(ir.ok());
    const auto machine = CharacterMachine::Of(*ir, characters);
    if (!machine.has_value()) continue;
    nothing += machine->IsNothing() ? 1 : 0;
    IrRecognizer recognizer(*ir);
    for (const std::string& text : texts) {
      const bool expected = recognizer.Accepts(text);
      ASSERT_FALSE(expected && machine->IsNothing());
      ASSERT_EQ(!machine->IsNothing() && Accepts(*machine, text), expected)
          << "seed " << seed << " \"" << text << "\"\n"
          << PrintIr(*ir);
    }
  }
  EXPECT_GT(nothing, 10);
}

TEST(CharacterMachineTest, Without) {
  IrBuilder b{Limits()};
  const NodeId names = b.TextSet({"id", "name", "x"});
  const RuleId rule = b.DeclareRule("r", "");
  b.DefineRule(rule, b.Encode(Spelling::kUtf8, names));
  const absl::StatusOr<GrammarIr> ir = std::move(b).Build(rule);
  ASSERT_TRUE(ir.ok());
  const auto some = CharacterMachine::Of(*ir, names, {U"id", U"i"});
  EXPECT_EQ(some->Next(CharacterMachine::start()), CharSet({{'n', 'n'}, {'x', 'x'}}));
  EXPECT_TRUE(CharacterMachine::Of(*ir, names, {U"x", U"name", U"id"})->IsNothing());
}

TEST(CharacterMachineTest, TooManyStates) {
  IrBuilder b{Limits()};
  const NodeId many = b.Repeat(b.AnyChar(), 0, CharacterMachine::kMaxStates);
  const RuleId rule = b.DeclareRule("r", "");
  b.DefineRule(rule, b.Encode(Spelling::kUtf8, many));
  const absl::StatusOr<GrammarIr> ir = std::move(b).Build(rule);
  EXPECT_FALSE(CharacterMachine::Of(*ir, many).has_value());
}

}  // namespace
}  // namespace maskd
