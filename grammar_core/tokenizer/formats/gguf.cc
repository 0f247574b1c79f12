// GGUF files: the vocabulary in the metadata under "tokenizer.ggml.", as the ggml project's own
// runtime writes its tokens out. Keys come in any order, so the values are gathered first. Model
// and pre-tokenizer then say how a piece spells its bytes, and its type says whether it is text.
//
// Invariant  ids are the places in "tokens"; no piece is spelled twice.
// Cost       linear in the metadata; pieces are held twice while the tokens are made.
// Source     the GGUF specification; llama.cpp's vocabulary.
#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/tokenizer/formats/format.h"
#include "grammar_core/tokenizer/formats/gguf_reader.h"
#include "grammar_core/tokenizer/formats/gguf_rules.h"
#include "grammar_core/tokenizer/formats/piece_bytes.h"
#include "grammar_core/tokenizer/source_file.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {
namespace {

constexpr absl::string_view kPrefix = "tokenizer.ggml.";

enum class Alphabet { kMetaspace, kByteLevel };

// The keys of what ends a text, after the prefix.
constexpr std::array<absl::string_view, 3> kEndKeys = {"eos_token_id", "eot_token_id",
                                                       "eom_token_id"};
// Pre-tokenizers of the model "gpt2" whose pieces have the metaspace.
constexpr std::array<absl::string_view, 3> kMetaspacePre = {"gemma4", "granite-embed-multi-311m",
                                                            "sarvam-moe"};

struct EndId {
  std::string key;
  std::int64_t id;
};

struct Metadata {
  std::optional<std::string> model;
  std::string pre;
  std::optional<std::vector<std::string>> tokens;
  std::optional<std::vector<std::int32_t>> types;
  std::vector<float> scores;
  std::vector<std::string> merges;
  std::vector<EndId> ends;
};

std::string Place(absl::string_view name) { return absl::StrCat(kPrefix, name); }

// Of any bytes, as a message may have them.
std::string Shown(absl::string_view text) { return Shortened(absl::CHexEscape(text)); }

std::string TokenPlace(std::size_t id) { return absl::StrCat(kPrefix, "tokens[", id, "]"); }

template <typename Value, typename Slot>
absl::Status Assign(absl::StatusOr<Value> value, Slot* slot) {
  if (!value.ok()) return value.status();
  *slot = *std::move(value);
  return absl::OkStatus();
}

absl::Status ReadValue(const std::string& key, GgufReader* reader, Metadata* metadata) {
  absl::string_view name = key;
  if (!absl::ConsumePrefix(&name, kPrefix)) return reader->SkipValue();
  if (name == "model") return Assign(reader->ReadText(), &metadata->model);
  if (name == "pre") return Assign(reader->ReadText(), &metadata->pre);
  if (name == "tokens") return Assign(reader->ReadTexts(Vocabulary::kMaxTokens), &metadata->tokens);
  if (name == "token_type")
    return Assign(reader->ReadInt32s(Vocabulary::kMaxTokens), &metadata->types);
  if (name == "scores")
    return Assign(reader->ReadFloats(Vocabulary::kMaxTokens), &metadata->scores);
  if (name == "merges") return Assign(reader->ReadTexts(Vocabulary::kMaxTokens), &metadata->merges);
  if (std::find(kEndKeys.begin(), kEndKeys.end(), name) != kEndKeys.end()) {
    metadata->ends.push_back({key, 0});
    return Assign(reader->ReadWhole(), &metadata->ends.back().id);
  }
  return reader->SkipValue();
}

absl::StatusOr<Metadata> ReadMetadata(std::istream& file) {
  GgufReader reader(file);
  if (absl::Status read = reader.ReadHeader(); !read.ok()) return read;
  Metadata metadata;
  absl::flat_hash_set<std::string> seen;
  for (std::uint64_t i = 0; i < reader.pairs(); ++i) {
    const absl::StatusOr<std::string> key = reader.ReadKey();
    if (!key.ok()) return key.status();
    if (absl::StartsWith(*key, kPrefix) && !seen.insert(*key).second)
      return InvalidTokenizer(Shown(*key), "appears twice");
    if (absl::Status read = ReadValue(*key, &reader, &metadata); !read.ok()) return read;
  }
  return metadata;
}

absl::StatusOr<Alphabet> AlphabetOf(const Metadata& metadata) {
  if (!metadata.model.has_value())
    return InvalidTokenizer(Place("model"), "missing: the file has no vocabulary");
  const std::string& model = *metadata.model;
  if (model == "llama" || model == "t5" || model == "gemma4") return Alphabet::kMetaspace;
  if (model == "gpt2") {
    const bool has_metaspace =
        std::find(kMetaspacePre.begin(), kMetaspacePre.end(), metadata.pre) != kMetaspacePre.end();
    return has_metaspace ? Alphabet::kMetaspace : Alphabet::kByteLevel;
  }
  if (model == "bert") {
    return UnsupportedAt(Place("model"), "the model \"bert\"",
                         "its tokens do not keep the white space between them");
  }
  return UnsupportedAt(Place("model"), absl::StrCat("the model \"", Shown(model), "\""));
}

// Errors: the message alone.
absl::StatusOr<Vocabulary::Token> TokenOf(const std::string& piece, std::int32_t type,
                                          Alphabet alphabet) {
  switch (type) {
    case PieceType::kNormal:
      return Vocabulary::Token{alphabet == Alphabet::kMetaspace
                                   ? FromMetaspace(piece)
                                   : FromByteLevel(piece).value_or(piece),
                               false};
    case PieceType::kUserDefined:
      return Vocabulary::Token{piece, false};
    case PieceType::kUnknown:
    case PieceType::kControl:
      return Vocabulary::Token{piece, true};
    case PieceType::kByte:
      if (std::optional<std::string> byte = FromByteFallback(piece); byte.has_value())
        return Vocabulary::Token{*std::move(byte), false};
      return absl::InvalidArgumentError(
          absl::StrCat("of the type of a byte, and \"", Shortened(piece), "\" is not <0xNN>"));
    default:
      return Vocabulary::Token{};
  }
}

absl::Status PutPiece(std::size_t id, const std::string& piece, std::int32_t type,
                      Alphabet alphabet, RawVocabulary* raw) {
  assert(id == raw->tokens.size());
  if (!Utf8ToCodePoints(piece).has_value()) return InvalidTokenizer(TokenPlace(id), "not UTF-8");
  if (piece.empty()) {
    raw->tokens.emplace_back();
    return absl::OkStatus();
  }
  absl::StatusOr<Vocabulary::Token> token = TokenOf(piece, type, alphabet);
  if (!token.ok()) return InvalidTokenizer(TokenPlace(id), token.status().message());
  const auto [earlier, is_new] = raw->id_by_piece.emplace(piece, static_cast<TokenId>(id));
  if (!is_new)
    return InvalidTokenizer(TokenPlace(id), absl::StrCat("spelled like token ", earlier->second));
  if (type == PieceType::kUserDefined) raw->added_ids.push_back(static_cast<TokenId>(id));
  raw->tokens.push_back(*std::move(token));
  return absl::OkStatus();
}

absl::Status CheckTypes(const Metadata& metadata, Alphabet alphabet) {
  assert(metadata.types.has_value() && metadata.tokens.has_value());
  const std::vector<std::int32_t>& types = *metadata.types;
  if (types.size() != metadata.tokens->size()) {
    return InvalidTokenizer(Place("token_type"), absl::StrCat(types.size(), " types for ",
                                                              metadata.tokens->size(), " tokens"));
  }
  const bool has_byte = std::find(types.begin(), types.end(), PieceType::kByte) != types.end();
  return alphabet == Alphabet::kByteLevel && has_byte
             ? UnsupportedAt(Place("pre"),
                             absl::StrCat("\"", Shown(metadata.pre), "\" with byte tokens"),
                             "its other tokens may be spelled in either of two ways")
             : absl::OkStatus();
}

absl::Status PutEnds(const Metadata& metadata, RawVocabulary* raw) {
  for (const EndId& end : metadata.ends) {
    const bool is_there = static_cast<std::uint64_t>(end.id) < raw->tokens.size() &&
                          !raw->tokens[static_cast<std::size_t>(end.id)].bytes.empty();
    if (!is_there)
      return InvalidTokenizer(end.key, absl::StrCat("the vocabulary has no token ", end.id));
    raw->own_stop_ids.push_back(static_cast<TokenId>(end.id));
  }
  return absl::OkStatus();
}

EncodingRules RulesOf(const Metadata& metadata, const RawVocabulary& raw) {
  assert(metadata.types.has_value());
  GgufFacts facts;
  facts.model = metadata.model.value_or("");
  facts.pre = metadata.pre;
  facts.merges = metadata.merges;
  facts.scored.model = ScoredPieces::Model::kMerges;
  facts.scored.has_byte_fallback = true;
  facts.scored.joins_spaces = false;
  for (std::size_t id = 0; id < metadata.scores.size() && id < metadata.types->size(); ++id) {
    facts.scored.pieces.push_back(
        {metadata.scores[id],
         ScoredPieces::KindOf(static_cast<std::uint64_t>((*metadata.types)[id]))});
  }
  return RulesOf(facts, raw);
}

}  // namespace

bool LooksLikeGguf(absl::string_view head) { return absl::StartsWith(head, GgufReader::kMagic); }

absl::StatusOr<RawVocabulary> ReadGguf(std::istream& file) {
  absl::StatusOr<Metadata> metadata = ReadMetadata(file);
  if (!metadata.ok()) return metadata.status();
  const absl::StatusOr<Alphabet> alphabet = AlphabetOf(*metadata);
  if (!alphabet.ok()) return alphabet.status();
  if (!metadata->tokens.has_value())
    return InvalidTokenizer(Place("tokens"), "missing: the file has no vocabulary");
  const std::vector<std::string>& tokens = *metadata->tokens;
  if (!metadata->types.has_value()) metadata->types.emplace(tokens.size(), PieceType::kNormal);
  absl::Status done = CheckTypes(*metadata, *alphabet);
  RawVocabulary raw;
  raw.tokens.reserve(tokens.size());
  raw.id_by_piece.reserve(tokens.size());
  for (std::size_t id = 0; done.ok() && id < tokens.size(); ++id)
    done = PutPiece(id, tokens[id], (*metadata->types)[id], *alphabet, &raw);
  done.Update(PutEnds(*metadata, &raw));
  if (done.ok()) raw.rules = RulesOf(*metadata, raw);
  return done.ok() ? absl::StatusOr<RawVocabulary>(std::move(raw)) : done;
}

}  // namespace maskd
