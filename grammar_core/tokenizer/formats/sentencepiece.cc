// SentencePiece models (a serialized ModelProto of sentencepiece_model.proto): the pieces, what
// ends a text, and how texts are cut. The few fields that matter are read off the wire; a field of
// another wire type than its number has is an error, an unknown field is passed over.
//
// Invariant  a piece's id is its place in the file; no piece is spelled twice.
// Cost       linear in the file, without a message object.
// Source     sentencepiece_model.proto; the protocol buffers' wire format.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/tokenizer/formats/format.h"
#include "grammar_core/tokenizer/formats/piece_bytes.h"
#include "grammar_core/tokenizer/formats/scored_pieces.h"
#include "grammar_core/tokenizer/formats/wire_reader.h"
#include "grammar_core/tokenizer/source_file.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {
namespace {

// Field numbers of ModelProto, of its SentencePiece, TrainerSpec and NormalizerSpec.
constexpr std::uint32_t kPieces = 1;
constexpr std::uint32_t kTrainerSpec = 2;
constexpr std::uint32_t kNormalizerSpec = 3;
constexpr std::uint32_t kDenormalizerSpec = 5;
constexpr std::uint32_t kPieceText = 1;
constexpr std::uint32_t kPieceScore = 2;
constexpr std::uint32_t kPieceType = 3;
constexpr std::uint32_t kModelType = 3;
constexpr std::uint32_t kWhiteSpaceAsSuffix = 24;
constexpr std::uint32_t kByteFallback = 35;
constexpr std::uint32_t kEosPiece = 47;
constexpr std::uint32_t kPrecompiledCharsmap = 2;
constexpr std::uint32_t kRemoveExtraWhiteSpaces = 4;
constexpr std::uint32_t kEscapeWhiteSpaces = 5;

struct Piece {
  absl::string_view text;
  float score = 0;
  std::uint64_t type = PieceType::kNormal;
  std::size_t offset = 0;  // of its message
};

struct Model {
  RawVocabulary raw;
  ScoredPieces scored;
  absl::string_view eos_piece = "</s>";
};

absl::Status CheckType(const WireField& field, WireField::Type type, absl::string_view name) {
  return field.type == type ? absl::OkStatus()
                            : InvalidTokenizer(BytePlace(field.offset),
                                               absl::StrCat(name, " has another wire type"));
}

// Calls `read` with each field of `message`, to the first error.
template <typename Read>
absl::Status ReadFields(WireReader message, Read read) {
  while (!message.done()) {
    const absl::StatusOr<WireField> field = message.Next();
    if (!field.ok()) return field.status();
    if (absl::Status done = read(*field); !done.ok()) return done;
  }
  return absl::OkStatus();
}

absl::Status ReadFloat(const WireField& field, absl::string_view name, float* value) {
  if (absl::Status checked = CheckType(field, WireField::Type::kFixed32, name); !checked.ok())
    return checked;
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < sizeof(bits); ++i)
    bits |= static_cast<std::uint32_t>(static_cast<unsigned char>(field.bytes[i])) << (8 * i);
  *value = std::bit_cast<float>(bits);
  return absl::OkStatus();
}

absl::Status ReadBool(const WireField& field, absl::string_view name, bool* value) {
  *value = field.varint != 0;
  return CheckType(field, WireField::Type::kVarint, name);
}

absl::StatusOr<Piece> ReadPiece(const WireField& message) {
  Piece piece;
  piece.offset = message.offset;
  absl::Status read =
      ReadFields(WireReader(message.bytes, message.offset), [&](const WireField& field) {
        if (field.number == kPieceText) {
          piece.text = field.bytes;
          return CheckType(field, WireField::Type::kBytes, "SentencePiece.piece");
        }
        if (field.number == kPieceScore)
          return ReadFloat(field, "SentencePiece.score", &piece.score);
        if (field.number == kPieceType) {
          piece.type = field.varint;
          return CheckType(field, WireField::Type::kVarint, "SentencePiece.type");
        }
        return absl::OkStatus();
      });
  return read.ok() ? absl::StatusOr<Piece>(piece) : read;
}

// Errors: the message alone.
absl::StatusOr<Vocabulary::Token> TokenOf(const Piece& piece) {
  if (piece.text.empty() || !Utf8ToCodePoints(piece.text).has_value())
    return absl::InvalidArgumentError("is not a text of at least one character");
  switch (piece.type) {
    case PieceType::kNormal:
    case PieceType::kUserDefined:
    case PieceType::kUnused:
      return Vocabulary::Token{FromMetaspace(piece.text), false};
    case PieceType::kUnknown:
    case PieceType::kControl:
      return Vocabulary::Token{std::string(piece.text), true};
    case PieceType::kByte:
      if (std::optional<std::string> byte = FromByteFallback(piece.text); byte.has_value())
        return Vocabulary::Token{*std::move(byte), false};
      return absl::InvalidArgumentError(
          absl::StrCat("is of type BYTE and \"", Shortened(piece.text), "\" is not <0xNN>"));
    default:
      return absl::InvalidArgumentError(absl::StrCat("has the unknown type ", piece.type));
  }
}

absl::Status PutPiece(const WireField& message, Model* model) {
  RawVocabulary* const raw = &model->raw;
  if (absl::Status checked = CheckType(message, WireField::Type::kBytes, "ModelProto.pieces");
      !checked.ok()) {
    return checked;
  }
  const absl::StatusOr<Piece> piece = ReadPiece(message);
  if (!piece.ok()) return piece.status();
  const std::string place = BytePlace(piece->offset);
  const auto id = static_cast<TokenId>(raw->tokens.size());
  absl::StatusOr<Vocabulary::Token> token = TokenOf(*piece);
  if (!token.ok())
    return InvalidTokenizer(place, absl::StrCat("piece ", id, " ", token.status().message()));
  const auto [earlier, is_new] = raw->id_by_piece.emplace(piece->text, id);
  if (!is_new) {
    return InvalidTokenizer(place,
                            absl::StrCat("piece ", id, " is spelled like piece ", earlier->second));
  }
  if (piece->type == PieceType::kUserDefined) raw->added_ids.push_back(id);
  model->scored.pieces.push_back({piece->score, ScoredPieces::KindOf(piece->type)});
  return PutToken(place, id, *std::move(token), raw);
}

// A model whose decoder rewrites the whole text after its pieces are joined.
absl::Status CheckDenormalizer(const WireField& message) {
  return ReadFields(WireReader(message.bytes, message.offset), [](const WireField& field) {
    return field.number == kPrecompiledCharsmap && !field.bytes.empty()
               ? UnsupportedAt(BytePlace(field.offset), "a model with a denormalizer",
                               "it rewrites the text after the pieces are joined")
               : absl::OkStatus();
  });
}

absl::Status ReadTrainerField(const WireField& field, Model* model) {
  switch (field.number) {
    case kModelType:
      model->scored.model = static_cast<ScoredPieces::Model>(field.varint);
      return CheckType(field, WireField::Type::kVarint, "TrainerSpec.model_type");
    case kWhiteSpaceAsSuffix:
      return ReadBool(field, "TrainerSpec.treat_whitespace_as_suffix", &model->scored.marks_ends);
    case kByteFallback:
      return ReadBool(field, "TrainerSpec.byte_fallback", &model->scored.has_byte_fallback);
    case kEosPiece:
      model->eos_piece = field.bytes;
      return CheckType(field, WireField::Type::kBytes, "TrainerSpec.eos_piece");
    default:
      return absl::OkStatus();
  }
}

absl::Status ReadNormalizerField(const WireField& field, ScoredPieces* scored) {
  switch (field.number) {
    case kPrecompiledCharsmap:
      scored->character_map = std::string(field.bytes);
      return CheckType(field, WireField::Type::kBytes, "NormalizerSpec.precompiled_charsmap");
    case kRemoveExtraWhiteSpaces:
      return ReadBool(field, "NormalizerSpec.remove_extra_whitespaces", &scored->joins_spaces);
    case kEscapeWhiteSpaces:
      return ReadBool(field, "NormalizerSpec.escape_whitespaces", &scored->marks_spaces);
    default:
      return absl::OkStatus();
  }
}

absl::Status ReadField(const WireField& field, Model* model) {
  const WireReader message(field.bytes, field.offset);
  switch (field.number) {
    case kPieces:
      return PutPiece(field, model);
    case kTrainerSpec:
      return ReadFields(message, [&](const WireField& f) { return ReadTrainerField(f, model); });
    case kNormalizerSpec:
      return ReadFields(message,
                        [&](const WireField& f) { return ReadNormalizerField(f, &model->scored); });
    case kDenormalizerSpec:
      return CheckDenormalizer(field);
    default:
      return absl::OkStatus();
  }
}

bool IsTextField(const absl::StatusOr<WireField>& field, std::uint32_t number) {
  return field.ok() && field->number == number && field->type == WireField::Type::kBytes &&
         !field->bytes.empty();
}

}  // namespace

bool LooksLikeSentencePiece(absl::string_view head) {
  const absl::StatusOr<WireField> piece = WireReader(head).Next();
  return IsTextField(piece, kPieces) && IsTextField(WireReader(piece->bytes).Next(), kPieceText);
}

absl::StatusOr<RawVocabulary> ReadSentencePiece(absl::string_view content) {
  Model model;
  absl::Status read = ReadFields(WireReader(content),
                                 [&](const WireField& field) { return ReadField(field, &model); });
  if (!read.ok()) return read;
  const auto eos = model.raw.id_by_piece.find(model.eos_piece);
  if (eos != model.raw.id_by_piece.end() && model.raw.tokens[eos->second].special)
    model.raw.own_stop_ids.push_back(eos->second);
  model.raw.rules = RulesOf(model.scored, model.raw);
  return std::move(model.raw);
}

}  // namespace maskd
