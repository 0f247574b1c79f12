// What files say of how texts are cut.
#include "grammar_core/tokenizer/encoding_rules.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "tests/tokenizer/vocabulary_fixture.h"

namespace maskd {
namespace {

using Symbols = EncodingRules::Symbols;

constexpr char kGpt2[] =
    R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr char kByteLevel[] =
    R"("pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},)";
constexpr char kDecoder[] = R"("decoder": {"type": "ByteLevel"},)";
constexpr char kMerges[] = R"("merges": ["a b", "ab c"])";

struct RulesCase {
  const char* name;
  std::string other;  // fields of the file
  std::string model;  // fields of the model
  Symbols symbols;
  std::vector<std::string> patterns;
  bool whole_pieces = false;
  bool ascii_only = false;
};

class RulesTest : public testing::TestWithParam<RulesCase> {};

TEST_P(RulesTest, OfATokenizerJson) {
  const auto vocabulary = LoadContent(
      "tokenizer.json",
      absl::StrCat(
          R"({"added_tokens": [{"id": 9, "content": "</s>", "special": true},)",
          R"({"id": 8, "content": "<tool>", "special": false}],)", GetParam().other,
          R"("model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4},)",
          GetParam().model, "}}"));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  const EncodingRules& rules = (*vocabulary)->encoding_rules();
  EXPECT_EQ(rules.symbols, GetParam().symbols);
  EXPECT_EQ(rules.patterns, GetParam().patterns);
  EXPECT_EQ(rules.whole_pieces, GetParam().whole_pieces);
  EXPECT_EQ(rules.ascii_only, GetParam().ascii_only);
  if (rules.symbols == Symbols::kUnknown) return;
  EXPECT_EQ(rules.atoms, (std::vector<std::int32_t>{9, 8}));
}

std::string Pre(const char* part) { return absl::StrCat(R"("pre_tokenizer": )", part, ","); }

std::string Sequence(const char* first) {
  return Pre(
      absl::StrCat(R"({"type": "Sequence", "pretokenizers": [)", first,
                   R"(, {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]})")
          .c_str());
}

INSTANTIATE_TEST_SUITE_P(
    Files, RulesTest,
    testing::ValuesIn(std::vector<RulesCase>{
        {"ByteLevel", kByteLevel, kMerges, Symbols::kBytes, {kGpt2}},
        {"MergesAsPairs",
         kByteLevel,
         R"("merges": [["a", "b"], ["ab", "c"]])",
         Symbols::kBytes,
         {kGpt2}},
        {"TwoMergesOfOneToken",
         kByteLevel,
         R"("merges": ["a b", "ab c", "a bc"])",
         Symbols::kBytes,
         {kGpt2}},
        {"IgnoreMerges",
         kByteLevel,
         absl::StrCat(kMerges, R"(, "ignore_merges": true)"),
         Symbols::kBytes,
         {kGpt2},
         true},
        {"SplitAtMatches",
         Sequence(
             R"({"type": "Split", "pattern": {"Regex": "x+"}, "behavior": "Isolated", "invert": false})"),
         kMerges,
         Symbols::kBytes,
         {"x+"}},
        {"SplitRemovingTheRest",
         Sequence(
             R"({"type": "Split", "pattern": {"Regex": "x+"}, "behavior": "Removed", "invert": true})"),
         kMerges,
         Symbols::kBytes,
         {"x+"}},
        {"Digits",
         Sequence(R"({"type": "Digits", "individual_digits": true})"),
         kMerges,
         Symbols::kBytes,
         {R"(\p{N})"}},
        {"Nfc",
         absl::StrCat(R"("normalizer": {"type": "NFC"},)", kByteLevel),
         kMerges,
         Symbols::kBytes,
         {kGpt2},
         false,
         true},
        {"Characters",
         R"("normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},)",
         absl::StrCat(kMerges, R"(, "byte_fallback": true)"),
         Symbols::kCharacters,
         {}},
        // What is not understood, and no error.
        {"NoPreTokenizer", kDecoder, kMerges, Symbols::kUnknown, {}},
        {"MergesOutOfOrder", kByteLevel, R"("merges": ["ab c", "a b"])", Symbols::kUnknown, {}},
        {"APieceThatNoMergeMakes", kByteLevel, R"("merges": ["a b"])", Symbols::kUnknown, {}},
        {"AMergeOfNoPiece",
         kByteLevel,
         R"("merges": ["a b", "ab c", "b c"])",
         Symbols::kUnknown,
         {}},
        {"NoMerges", kByteLevel, R"("unk_token": null)", Symbols::kUnknown, {}},
        {"PrefixSpace",
         R"("pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": true},)",
         kMerges,
         Symbols::kUnknown,
         {}},
        {"OtherNormalizer",
         absl::StrCat(R"("normalizer": {"type": "Lowercase"},)", kByteLevel),
         kMerges,
         Symbols::kUnknown,
         {}},
        {"OtherPreTokenizer",
         Sequence(R"({"type": "Whitespace"})"),
         kMerges,
         Symbols::kUnknown,
         {}},
        {"OtherBehavior",
         Sequence(
             R"({"type": "Split", "pattern": {"Regex": "x"}, "behavior": "MergedWithNext", "invert": false})"),
         kMerges,
         Symbols::kUnknown,
         {}},
        {"SplitAtAText",
         Sequence(
             R"({"type": "Split", "pattern": {"String": "x"}, "behavior": "Isolated", "invert": false})"),
         kMerges,
         Symbols::kUnknown,
         {}},
        {"Dropout",
         kByteLevel,
         absl::StrCat(kMerges, R"(, "dropout": 0.1)"),
         Symbols::kUnknown,
         {}},
        {"SequenceOfNothing",
         absl::StrCat(kDecoder, Pre(R"({"type": "Sequence"})")),
         kMerges,
         Symbols::kUnknown,
         {}},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
