// The terms and masks of the golden grammars, printed, against tests/golden/KIND/NAME.masks: the
// states along a text of a few tokens, each with its term and the tokens that it allows.
//
// The vocabulary is that of tests/matcher/test_vocabulary.h. Each step takes an allowed token that
// the number of the step picks, so the text is the same in every run.
//
// After a wanted change: golden_masks_test --update_goldens, then review the diff.
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/compile/pipeline.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/rows/masked_automaton.h"
#include "grammar_core/terms/term_printer.h"
#include "tests/frontend/golden_cases.h"
#include "tests/frontend/update_goldens.h"
#include "tests/matcher/test_vocabulary.h"
#include "tests/rooms/shown_terms.h"

namespace maskd {
namespace {

constexpr int kSteps = 12;
constexpr std::size_t kMostOfTerm = 400;  // characters of a term that are kept

std::string Spelled(absl::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    const auto code = static_cast<unsigned char>(byte);
    if (code > 0x20 && code < 0x7F)
      text.push_back(byte);
    else
      absl::StrAppend(&text, "\\x", absl::Hex(code, absl::kZeroPad2));
  }
  return text;
}

// Runs of single bytes as ranges, then the words, each in the order of its ids.
std::string PrintMask(const TokenMask& mask, const Vocabulary& vocabulary) {
  std::vector<std::string> parts;
  for (int byte = 0; byte < 256; ++byte) {
    int last = byte;
    if (!mask.Allows(byte)) continue;
    while (last + 1 < 256 && mask.Allows(last + 1)) ++last;
    const std::string first = Spelled(vocabulary.TokenBytes(byte));
    parts.push_back(last == byte ? first
                                 : absl::StrCat(first, "..", Spelled(vocabulary.TokenBytes(last))));
    byte = last;
  }
  for (TokenId id = 256; id < vocabulary.size(); ++id)
    if (mask.Allows(id)) parts.push_back(Spelled(vocabulary.TokenBytes(id)));
  std::string line;
  for (const std::string& part : parts) absl::StrAppend(&line, " ", part);
  return line;
}

// No end, and no escape: those lead through one character for four steps.
TokenId Pick(const TokenMask& mask, const Vocabulary& vocabulary, int step) {
  std::vector<TokenId> allowed;
  mask.VisitAllowed([&](TokenId id) {
    if (id != kEnd && vocabulary.TokenBytes(id).substr(0, 1) != "\\") allowed.push_back(id);
  });
  if (allowed.empty()) return kEnd;
  return allowed[static_cast<std::size_t>(step * step + 3) % allowed.size()];
}

std::string PrintWalk(const GoldenCase& golden) {
  const auto vocabulary = TestVocabulary();
  const Limits limits;
  Budget budget({.work = 100'000'000});
  const auto read = ReduceGrammar({golden.kind, golden.source, golden.options}, limits, budget);
  if (!read.ok()) return absl::StrCat(read.status().message(), "\n");
  const TokenIndex index(vocabulary);
  MaskStore masks(&index, 64 << 20);
  const auto automaton = MaskedAutomaton::Create(read->ir, &masks, limits, budget);
  if (!automaton.ok()) return absl::StrCat(automaton.status().message(), "\n");
  Work work(budget);
  std::string printed;
  TermId state = (*automaton)->start();
  for (int step = 0; step < kSteps; ++step) {
    const MaskRef* const mask = (*automaton)->Mask(state, work);
    if (mask == nullptr) return absl::StrCat(printed, work.error().message(), "\n");
    const std::string term = PrintTerm((*automaton)->store(), state);
    absl::StrAppend(&printed, "state  ", term.substr(0, kMostOfTerm),
                    term.size() > kMostOfTerm ? "..." : "", "\nallows",
                    PrintMask(**mask, *vocabulary), "\n");
    const TokenId token = Pick(**mask, *vocabulary, step);
    if (token == kEnd) break;
    absl::StrAppend(&printed, "takes  ", Spelled(vocabulary->TokenBytes(token)), "\n");
    std::size_t taken = 0;
    state = (*automaton)->AtTokenEnd((*automaton)->StepToken(state, token, &taken, work));
  }
  return printed;
}

class GoldenMasksTest : public testing::TestWithParam<GoldenCase> {};

TEST_P(GoldenMasksTest, PrintsAsBefore) {
  const std::string printed = PrintWalk(GetParam());
  const std::string path = GetParam().PathOf("masks");
  if (update_goldens) std::ofstream(path) << printed;
  std::ifstream file(path);
  ASSERT_TRUE(file.good()) << path;
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(printed, expected) << path;
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenMasksTest, testing::ValuesIn(GoldenCases()),
                         [](const auto& test) {
                           return absl::StrCat(test.param.kind, "_", test.param.name);
                         });

}  // namespace
}  // namespace maskd

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]) == "--update_goldens") maskd::update_goldens = true;
  return RUN_ALL_TESTS();
}
