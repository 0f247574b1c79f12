// Forced tokens by example; the tokenizers' own packages are asked in compare_forced_tokens.py.
#include "grammar_core/matcher/forced_tokens.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"

namespace maskd {
namespace {

// Ids 0 to 255 are the bytes; merges in the order of ids; an atom; the end.
constexpr TokenId kFirstWord = 256;
constexpr TokenId kAtom = 269;
constexpr TokenId kEnd = 270;

// By byte-pair encoding of these, without patterns.
std::shared_ptr<const Vocabulary> Words(EncodingRules rules) {
  std::vector<Vocabulary::Token> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back({std::string(1, static_cast<char>(byte))});
  for (const char* word : {"na", "me", "name", "\":", "{\"", "\":\"", "ab", "bc", "12", "123",
                           "\xc3\xa9", "bcd", "me\xc3"}) {
    tokens.push_back({word});
  }
  tokens.push_back({"<tool>"});
  tokens.push_back({"<end>", true});
  return *Vocabulary::Create("test", std::move(tokens), {kEnd}, std::move(rules));
}

EncodingRules Bytes(std::vector<std::string> patterns) {
  EncodingRules rules;
  rules.symbols = EncodingRules::Symbols::kBytes;
  rules.patterns = std::move(patterns);
  rules.atoms = {kAtom};
  return rules;
}

struct ForcedTokensCase {
  const char* name;
  const char* choices;
  const char* taken;  // by single bytes
  EncodingRules rules;
  std::vector<std::string> tokens;
  int certain;
};

class ForcedTokensTest : public testing::TestWithParam<ForcedTokensCase> {};

TEST_P(ForcedTokensTest, OfAChoice) {
  const auto space = TokenizerSpace::Create(Words(GetParam().rules));
  Budget budget = Budget::Unlimited();
  Matcher matcher(*CompileGrammar({"choice", GetParam().choices, {}}, space, Limits(), budget));
  for (const char* byte = GetParam().taken; *byte != '\0'; ++byte)
    ASSERT_TRUE(matcher.Accept(static_cast<unsigned char>(*byte)).ok());
  const auto forced = matcher.FindForcedTokens(100);
  ASSERT_TRUE(forced.ok()) << forced.status();
  EXPECT_EQ(forced->bytes, *matcher.ForcedBytes(100));
  std::vector<std::string> tokens;
  std::string bytes;
  for (const TokenId token : forced->tokens) {
    tokens.emplace_back(space->vocabulary().TokenBytes(token));
    bytes += tokens.back();
    EXPECT_TRUE(matcher.Accept(token).ok()) << token;
  }
  EXPECT_EQ(tokens, GetParam().tokens);
  EXPECT_EQ(bytes, forced->bytes);
  EXPECT_EQ(forced->certain_tokens, GetParam().certain);
}

const char kWordsAndOthers[] = R"([a-z]+|[0-9]{1,3}|[^a-z0-9]+)";

INSTANTIATE_TEST_SUITE_P(
    Choices, ForcedTokensTest,
    testing::ValuesIn(std::vector<ForcedTokensCase>{
        // Merges alone: "ab" comes before "bc" in the order of ids.
        {"NothingForced", R"(["x","y"])", "", Bytes({}), {}, 0},
        {"ToTheEnd", R"(["name"])", "", Bytes({}), {"name"}, 1},
        {"MergesByIdNotByLength", R"(["abcd"])", "", Bytes({}), {"ab", "c", "d"}, 3},
        {"ALongerTokenMayCome", R"(["na","name"])", "", Bytes({}), {"na"}, 0},
        {"ATokenOverTheEndMovesAnEarlierBorder",
         R"(["xbcx","xbcdx"])",
         "",
         Bytes({}),
         {"x", "bc"},
         1},
        {"NoTokenOverTheEnd", R"(["xbcx","xbcy"])", "", Bytes({}), {"x", "bc"}, 2},
        {"FromInsideAWord", R"(["name\":1","name\":2"])", "na", Bytes({}), {"me", "\":"}, 2},
        // Pieces.
        {"PiecesEndWhereAnotherKindFollows",
         R"(["name\":1","name\":2"])",
         "",
         Bytes({kWordsAndOthers}),
         {"name", "\":"},
         2},
        {"PiecesMayGoOn",
         R"(["name\":1","name\":[2"])",
         "",
         Bytes({kWordsAndOthers}),
         {"name", "\":"},
         1},
        {"PiecesMayTakeAContraction",
         R"(["ab't","ab!"])",
         "",
         Bytes({R"([a-z]+(?:'t|'ll)?|[^a-z]+)"}),
         {"ab"},
         0},
        {"SomeLettersMakeAContraction",
         R"(["x'a","x's"])",
         "",
         Bytes({R"('(?:[sdmt]|ll)|[a-z]+|[^a-z]+)"}),
         {"x", "'"},
         1},
        {"PiecesDoNotMerge",
         R"(["x\":12341","x\":12342"])",
         "",
         Bytes({kWordsAndOthers}),
         {"x", "\":", "123", "4"},
         3},
        {"ThePieceBeganBefore",
         R"(["12341","12342"])",
         "12",
         Bytes({kWordsAndOthers}),
         {"3", "4"},
         1},
        {"AContractionMayCome",
         R"(["x've","x'ya"])",
         "",
         Bytes({R"('(?:ll|ve)|[a-z]+|[^a-z]+)"}),
         {"x", "'"},
         1},
        {"PunctuationAndSymbolsDiffer",
         R"(["1=!","1=="])",
         "",
         Bytes({R"(\p{P}+)"}),
         {"1", "="},
         0},
        // Atoms.
        {"AnAtom", R"(["x<tool>1","x<tool>2"])", "", Bytes({kWordsAndOthers}), {"x", "<tool>"}, 2},
        {"AnAtomMayBegin",
         R"(["x<tool>","x<to1"])",
         "",
         Bytes({kWordsAndOthers}),
         {"x", "<", "t", "o"},
         1},
        // Characters that are not whole.
        {"HalfACharacterAtTheEnd", "[\"na\u00e9\",\"na\u00e8\"]", "", Bytes({}), {"na", "\xc3"}, 1},
        {"ATokenIntoHalfACharacter",
         "[\"xme\u00e9\",\"xme\u00e8\"]",
         "",
         Bytes({}),
         {"x", "me", "\xc3"},
         1},
        {"HalfACharacterAtTheStart",
         "[\"\u00e9na1\",\"\u00e9na2\"]",
         "\xc3",
         Bytes({}),
         {"\xa9", "na"},
         0},
        // Without rules the longest tokens, none of them certain.
        {"LongestWithoutRules", R"(["abcd"])", "", EncodingRules(), {"ab", "c", "d"}, 0},
        {"LongestIsNotMerging",
         R"(["name\":\"x"])",
         "",
         EncodingRules(),
         {"name", "\":\"", "x"},
         0},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ForcedTokensTest, EndBeforeATokenThatEndsTheText) {
  const auto space = TokenizerSpace::Create(Words(Bytes({})));
  Budget budget = Budget::Unlimited();
  const auto grammar = *CompileGrammar({"choice", R"(["xnamex"])", {}}, space, Limits(), budget);
  const TokenId name = kFirstWord + 2;
  const auto forced = Matcher(grammar, {name}).FindForcedTokens(100);
  ASSERT_TRUE(forced.ok());
  EXPECT_EQ(forced->bytes, "xnamex");
  EXPECT_EQ(forced->tokens, std::vector<TokenId>{'x'});
  EXPECT_EQ(forced->certain_tokens, 1);
}

TEST(ForcedTokensTest, AreCutAtTheLimitOfBytes) {
  const auto space = TokenizerSpace::Create(Words(Bytes({})));
  Budget budget = Budget::Unlimited();
  Matcher matcher(*CompileGrammar({"choice", R"(["xxname"])", {}}, space, Limits(), budget));
  const auto forced = matcher.FindForcedTokens(4);
  ASSERT_TRUE(forced.ok());
  EXPECT_EQ(forced->bytes, "xxna");
  EXPECT_EQ(forced->tokens, (std::vector<TokenId>{'x', 'x', kFirstWord}));
  EXPECT_EQ(forced->certain_tokens, 2) << "\"name\" may come";
}

TEST(ForcedTokensTest, NoneAfterTheEnd) {
  const auto space = TokenizerSpace::Create(Words(Bytes({})));
  Budget budget = Budget::Unlimited();
  Matcher matcher(*CompileGrammar({"choice", R"(["x"])", {}}, space, Limits(), budget));
  ASSERT_TRUE(matcher.Accept('x').ok());
  EXPECT_TRUE(matcher.FindForcedTokens(4)->tokens.empty());
  ASSERT_TRUE(matcher.Accept(kEnd).ok());
  EXPECT_TRUE(matcher.FindForcedTokens(4)->tokens.empty());
}

// Byte fallback, scores and changes of the text, as SentencePiece models have them.
EncodingRules Characters(EncodingRules::Method method) {
  EncodingRules rules;
  rules.symbols = EncodingRules::Symbols::kCharacters;
  rules.method = method;
  rules.marks_spaces = true;
  rules.joins_spaces = true;
  for (TokenId id = 0; id < kFirstWord; ++id) rules.byte_tokens.push_back(id);
  return rules;
}

// Ids 0 to 255 are the bytes.
std::shared_ptr<const Vocabulary> Scored(EncodingRules rules) {
  std::vector<Vocabulary::Token> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back({std::string(1, static_cast<char>(byte))});
  rules.scores.resize(tokens.size());
  const std::vector<std::pair<const char*, float>> words = {
      {"a", -3}, {"b", -3}, {"c", -3}, {" ", -3}, {"bc", -1}, {"ab", -2}, {" a", -2}, {"abc", -9}};
  for (const auto& [word, score] : words) {
    tokens.push_back({word});
    rules.scores.push_back(score);
  }
  tokens.push_back({"<end>", true});
  return *Vocabulary::Create("test", std::move(tokens), {264}, std::move(rules));
}

struct ScoredCase {
  const char* name;
  EncodingRules::Method method;
  const char* choices;
  std::vector<std::string> tokens;
  int certain;
};

class ScoredTokensTest : public testing::TestWithParam<ScoredCase> {};

TEST_P(ScoredTokensTest, OfAChoice) {
  const auto space = TokenizerSpace::Create(Scored(Characters(GetParam().method)));
  Budget budget = Budget::Unlimited();
  Matcher matcher(*CompileGrammar({"choice", GetParam().choices, {}}, space, Limits(), budget));
  const auto forced = matcher.FindForcedTokens(100);
  ASSERT_TRUE(forced.ok()) << forced.status();
  std::vector<std::string> tokens;
  for (const TokenId token : forced->tokens)
    tokens.emplace_back(space->vocabulary().TokenBytes(token));
  EXPECT_EQ(tokens, GetParam().tokens);
  EXPECT_EQ(forced->certain_tokens, GetParam().certain);
}

constexpr auto kMerges = EncodingRules::Method::kMerges;
constexpr auto kBestSum = EncodingRules::Method::kBestSum;

INSTANTIATE_TEST_SUITE_P(
    Choices, ScoredTokensTest,
    testing::ValuesIn(std::vector<ScoredCase>{
        // Of "abc" first "bc", whose score is the greatest, then nothing: "abc" is a token too.
        {"MergesByScore", kMerges, R"(["abcb"])", {"abc", "b"}, 2},
        {"MergesThatAreNotMade", kMerges, R"(["cab"])", {"c", "ab"}, 2},
        {"BestSum", kBestSum, R"(["abcb"])", {"a", "bc", "b"}, 3},
        {"BestSumMayGoOn", kBestSum, R"(["cab","cabc"])", {"c", "ab"}, 1},
        {"BytesOfACharacter", kBestSum, R"(["aéb"])", {"a", "\xc3", "\xa9", "b"}, 4},
        {"MergesOverBytes", kMerges, R"(["aéab"])", {"a", "\xc3", "\xa9", "ab"}, 4},
        {"SpacesAreJoined", kMerges, R"(["c  c"])", {"c", " ", " ", "c"}, 1},
        {"OneSpaceIsKept", kMerges, R"(["b ab"])", {"b", " a", "b"}, 3},
        {"ASpaceAtTheEnd", kBestSum, R"(["c "])", {"c", " "}, 1},
        {"TheMarkOfSpaces", kMerges, R"(["c▁c"])", {"c", "\xe2", "\x96", "\x81", "c"}, 1},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
