// A reader of vocabulary files: any bytes are a vocabulary or are refused with a reason, in time
// and memory that their size bounds; where the file says how texts are cut, tokens spell them.
#include <array>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

#include "grammar_core/tokenizer/canonical_encoder.h"
#include "grammar_core/tokenizer/formats/format.h"
#include "grammar_core/tokenizer/vocabulary.h"
#include "tests/fuzz/fuzz_checks.h"
#include "tests/fuzz/fuzz_target.h"

namespace maskd::fuzz {
namespace {

constexpr std::array<absl::string_view, 5> kTexts = {"", "{\"a\": [1, true]}", "  the\n\tthe  a a ",
                                                     "\u4e2d\u00e9e\u0301\u2581 \u2581",
                                                     "aaaaaaaaaaaaaaaa"};

absl::StatusOr<RawVocabulary> ReadAs(absl::string_view format, absl::string_view content) {
  if (format == "gguf") {
    std::istringstream file{std::string(content)};
    return ReadGguf(file);
  }
  return format == "huggingface"     ? ReadHuggingFace(content)
         : format == "sentencepiece" ? ReadSentencePiece(content)
         : format == "tekken"        ? ReadTekken(content)
                                     : ReadTiktoken(content);
}

void CheckIds(const RawVocabulary& raw) {
  const auto is_there = [&](TokenId id) {
    return id >= 0 && static_cast<std::size_t>(id) < raw.tokens.size();
  };
  for (const TokenId id : raw.added_ids) Require(is_there(id), "an added token is there");
  for (const TokenId id : raw.own_stop_ids)
    Require(is_there(id) && !raw.tokens[id].bytes.empty(), "an end token is there");
  for (const auto& [piece, id] : raw.id_by_piece) Require(is_there(id), "a piece is there", piece);
}

// Texts are cut into tokens that spell them from their start on, all of them or fewer.
void CheckCuts(const Vocabulary& vocabulary) {
  const auto encoder = CanonicalEncoder::Create(vocabulary);
  if (encoder == nullptr) return;
  const auto spells = [&](const std::vector<TokenId>& tokens, absl::string_view text) {
    for (const TokenId token : tokens)
      Require(absl::ConsumePrefix(&text, vocabulary.TokenBytes(token)), "tokens spell the text");
  };
  for (const absl::string_view text : kTexts) {
    spells(encoder->Tokens("", text), text);
    for (const bool goes_on : {false, true}) {
      const CanonicalEncoder::Followers followers = {
          {"", "a", " ", "\u0301"}, [&](absl::string_view /*last_bytes*/) { return goes_on; }};
      spells(encoder->CertainTokens(" a", text, followers), text);
    }
  }
}

void CheckFile(absl::string_view format, absl::string_view content) {
  LooksLikeGguf(content);
  LooksLikeHuggingFace(content);
  LooksLikeSentencePiece(content);
  LooksLikeTekken(content);
  LooksLikeTiktoken(content);
  absl::StatusOr<RawVocabulary> raw = ReadAs(format, content);
  if (!raw.ok()) {
    RequireClear(raw.status());
    return;
  }
  CheckIds(*raw);
  const auto vocabulary =
      Vocabulary::Create("fuzz", std::move(raw->tokens), {}, std::move(raw->rules));
  if (!vocabulary.ok()) {
    RequireClear(vocabulary.status());
    return;
  }
  CheckCuts(**vocabulary);
}

void RunVocabulary(absl::string_view name, absl::string_view content) {
  CheckFile(absl::StripPrefix(name, "vocabulary_"), content);
}

}  // namespace

MASKD_FUZZ_TARGETS(RunVocabulary, "vocabulary_gguf", "vocabulary_huggingface",
                   "vocabulary_sentencepiece", "vocabulary_tekken", "vocabulary_tiktoken");

}  // namespace maskd::fuzz
