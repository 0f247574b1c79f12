// What files say of how texts are cut.
#include "grammar_core/tokenizer/encoding_rules.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "tests/tokenizer/model_bytes.h"
#include "tests/tokenizer/vocabulary_fixture.h"

namespace maskd {
namespace {

using Symbols = EncodingRules::Symbols;

constexpr char kGpt2[] =
    R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr char kByteLevel[] =
    R"("pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},)";
constexpr char kDecoder[] = R"("decoder": {"type": "ByteLevel"},)";
constexpr char kTwoMerges[] = R"("merges": ["a b", "ab c"])";

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
        {"ByteLevel", kByteLevel, kTwoMerges, Symbols::kBytes, {kGpt2}},
        {"MergesAsPairs",
         kByteLevel,
         R"("merges": [["a", "b"], ["ab", "c"]])",
         Symbols::kBytes,
         {kGpt2}},
        {"IgnoreMerges",
         kByteLevel,
         absl::StrCat(kTwoMerges, R"(, "ignore_merges": true)"),
         Symbols::kBytes,
         {kGpt2},
         true},
        {"SplitAtMatches",
         Sequence(
             R"({"type": "Split", "pattern": {"Regex": "x+"}, "behavior": "Isolated", "invert": false})"),
         kTwoMerges,
         Symbols::kBytes,
         {"x+"}},
        {"SplitRemovingTheRest",
         Sequence(
             R"({"type": "Split", "pattern": {"Regex": "x+"}, "behavior": "Removed", "invert": true})"),
         kTwoMerges,
         Symbols::kBytes,
         {"x+"}},
        {"Digits",
         Sequence(R"({"type": "Digits", "individual_digits": true})"),
         kTwoMerges,
         Symbols::kBytes,
         {R"(\p{N})"}},
        {"Nfc",
         absl::StrCat(R"("normalizer": {"type": "NFC"},)", kByteLevel),
         kTwoMerges,
         Symbols::kBytes,
         {kGpt2},
         false,
         true},
        {"Characters",
         R"("normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},)",
         absl::StrCat(kTwoMerges, R"(, "byte_fallback": true)"),
         Symbols::kCharacters,
         {}},
        // What is not understood, and no error.
        {"NoPreTokenizer", kDecoder, kTwoMerges, Symbols::kUnknown, {}},
        {"AMergeOfAnotherPair",
         kByteLevel,
         R"("merges": ["a b", "ab c", "a bc"])",
         Symbols::kUnknown,
         {}},
        {"MergesInAnotherOrder",
         kByteLevel,
         R"("merges": ["ab c", "a b"])",
         Symbols::kBytes,
         {kGpt2}},
        {"APieceThatNoMergeMakes", kByteLevel, R"("merges": ["a b"])", Symbols::kUnknown, {}},
        {"AMergeOfNoPiece",
         kByteLevel,
         R"("merges": ["a b", "ab c", "b c"])",
         Symbols::kUnknown,
         {}},
        {"NoMerges", kByteLevel, R"("unk_token": null)", Symbols::kUnknown, {}},
        {"PrefixSpace",
         R"("pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": true},)",
         kTwoMerges,
         Symbols::kUnknown,
         {}},
        {"OtherNormalizer",
         absl::StrCat(R"("normalizer": {"type": "Lowercase"},)", kByteLevel),
         kTwoMerges,
         Symbols::kUnknown,
         {}},
        {"OtherPreTokenizer",
         Sequence(R"({"type": "Whitespace"})"),
         kTwoMerges,
         Symbols::kUnknown,
         {}},
        {"OtherBehavior",
         Sequence(
             R"({"type": "Split", "pattern": {"Regex": "x"}, "behavior": "MergedWithNext", "invert": false})"),
         kTwoMerges,
         Symbols::kUnknown,
         {}},
        {"SplitAtAText",
         Sequence(
             R"({"type": "Split", "pattern": {"String": "x"}, "behavior": "Isolated", "invert": false})"),
         kTwoMerges,
         Symbols::kUnknown,
         {}},
        {"Dropout",
         kByteLevel,
         absl::StrCat(kTwoMerges, R"(, "dropout": 0.1)"),
         Symbols::kUnknown,
         {}},
        {"SequenceOfNothing",
         absl::StrCat(kDecoder, Pre(R"({"type": "Sequence"})")),
         kTwoMerges,
         Symbols::kUnknown,
         {}},
    }),
    [](const auto& test) { return test.param.name; });

struct ModelCase {
  const char* name;
  std::string fields;  // behind the pieces
  Symbols symbols = Symbols::kUnknown;
  EncodingRules::Method method = EncodingRules::Method::kMerges;
  bool joins_spaces = true;
  bool has_byte_tokens = false;
};

// All bytes, "a", "ab" and a piece that the user has defined.
std::string Model(const std::string& fields) {
  std::string model = Head();
  for (int byte = 0; byte < 256; ++byte) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    model +=
        Piece(absl::StrCat("<0x", std::string{kDigits[byte / 16], kDigits[byte % 16]}, ">"), kByte);
  }
  return model + Piece("a") + Piece("ab") + Piece("<sep>", kUserDefined) + fields;
}

std::string Trainer(int number, std::uint64_t value) {
  return BytesField(2, VarintField(number, value));
}
std::string Normalizer(const std::string& field) { return BytesField(3, field); }

class ModelRulesTest : public testing::TestWithParam<ModelCase> {};

TEST_P(ModelRulesTest, OfASentencePieceModel) {
  const auto vocabulary = LoadContent("m.model", Model(GetParam().fields));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  const EncodingRules& rules = (*vocabulary)->encoding_rules();
  EXPECT_EQ(rules.symbols, GetParam().symbols);
  if (rules.symbols == Symbols::kUnknown) return;
  EXPECT_EQ(rules.method, GetParam().method);
  EXPECT_EQ(rules.joins_spaces, GetParam().joins_spaces);
  EXPECT_EQ(rules.byte_tokens.size(), GetParam().has_byte_tokens ? 256U : 0U);
  EXPECT_TRUE(rules.marks_spaces);
  EXPECT_TRUE(rules.patterns.empty());
  EXPECT_EQ(rules.scores.size(), 262U);
  const std::vector<std::int32_t> user_defined = {261};
  const bool is_sum = rules.method == EncodingRules::Method::kBestSum;
  EXPECT_EQ(is_sum ? rules.user_defined : rules.atoms, user_defined);
}

constexpr auto kMerges = EncodingRules::Method::kMerges;
constexpr auto kBestSum = EncodingRules::Method::kBestSum;

INSTANTIATE_TEST_SUITE_P(
    Models, ModelRulesTest,
    testing::ValuesIn(std::vector<ModelCase>{
        {"UnigramByDefault", "", Symbols::kCharacters, kBestSum},
        {"Merges", Trainer(3, 2), Symbols::kCharacters, kMerges},
        {"ByteFallback", Trainer(3, 2) + Trainer(35, 1), Symbols::kCharacters, kMerges, true, true},
        {"SpacesAreKept", Normalizer(VarintField(4, 0)), Symbols::kCharacters, kBestSum, false},
        // What is not understood, and no error.
        {"Words", Trainer(3, 3)},
        {"CharactersWithLongPieces", Trainer(3, 4)},
        {"AModelOfTheFuture", Trainer(3, 9)},
        {"SpacesAreNotMarked", Normalizer(VarintField(5, 0))},
        {"SpacesEndWords", Trainer(24, 1)},
        {"MergesOverUnused", Piece("b", kUnused) + Trainer(3, 2)},
        {"NoMap", Normalizer(BytesField(2, "map"))},
        {"ScoreIsNoNumber", BytesField(1, BytesField(1, "b") + std::string("\x15\0\0\xC0\x7F", 5))},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
