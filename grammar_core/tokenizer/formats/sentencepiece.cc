// SentencePiece models (a serialized ModelProto of sentencepiece_model.proto): the pieces, what
// ends a text, and nothing of how a text is cut.
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
#include "grammar_core/tokenizer/formats/wire_reader.h"
#include "grammar_core/tokenizer/source_file.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {
namespace {

// Field numbers of ModelProto, of its SentencePiece, TrainerSpec and NormalizerSpec.
constexpr std::uint32_t kPieces = 1;
constexpr std::uint32_t kTrainerSpec = 2;
constexpr std::uint32_t kDenormalizerSpec = 5;
constexpr std::uint32_t kPieceText = 1;
constexpr std::uint32_t kPieceType = 3;
constexpr std::uint32_t kEosPiece = 47;
constexpr std::uint32_t kPrecompiledCharsmap = 2;

// SentencePiece.Type.
constexpr std::uint64_t kNormal = 1;
constexpr std::uint64_t kUnknown = 2;
constexpr std::uint64_t kControl = 3;
constexpr std::uint64_t kUserDefined = 4;
constexpr std::uint64_t kUnused = 5;
constexpr std::uint64_t kByte = 6;

struct Piece {
  absl::string_view text;
  std::uint64_t type = kNormal;
  std::size_t offset = 0;  // of its message
};

struct Model {
  RawVocabulary raw;
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
    if (!field.ok()) {
      return field.status();
    }
    if (absl::Status done = read(*field); !done.ok()) {
      return done;
    }
  }
  return absl::OkStatus();
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
  if (piece.text.empty() || !Utf8ToCodePoints(piece.text).has_value()) {
    return absl::InvalidArgumentError("is not a text of at least one character");
  }
  switch (piece.type) {
    case kNormal:
    case kUserDefined:
    case kUnused:
      return Vocabulary::Token{FromMetaspace(piece.text), false};
    case kUnknown:
    case kControl:
      return Vocabulary::Token{std::string(piece.text), true};
    case kByte:
      if (std::optional<std::string> byte = FromByteFallback(piece.text); byte.has_value()) {
        return Vocabulary::Token{*std::move(byte), false};
      }
      return absl::InvalidArgumentError(
          absl::StrCat("is of type BYTE and \"", Shortened(piece.text), "\" is not <0xNN>"));
    default:
      return absl::InvalidArgumentError(absl::StrCat("has the unknown type ", piece.type));
  }
}

absl::Status PutPiece(const WireField& message, RawVocabulary* raw) {
  if (absl::Status checked = CheckType(message, WireField::Type::kBytes, "ModelProto.pieces");
      !checked.ok()) {
    return checked;
  }
  const absl::StatusOr<Piece> piece = ReadPiece(message);
  if (!piece.ok()) {
    return piece.status();
  }
  const std::string place = BytePlace(piece->offset);
  const auto id = static_cast<TokenId>(raw->tokens.size());
  absl::StatusOr<Vocabulary::Token> token = TokenOf(*piece);
  if (!token.ok()) {
    return InvalidTokenizer(place, absl::StrCat("piece ", id, " ", token.status().message()));
  }
  const auto [earlier, is_new] = raw->id_by_piece.emplace(piece->text, id);
  if (!is_new) {
    return InvalidTokenizer(place,
                            absl::StrCat("piece ", id, " is spelled like piece ", earlier->second));
  }
  if (piece->type == kUserDefined) {
    raw->added_ids.push_back(id);
  }
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

absl::Status ReadField(const WireField& field, Model* model) {
  switch (field.number) {
    case kPieces:
      return PutPiece(field, &model->raw);
    case kTrainerSpec:
      return ReadFields(WireReader(field.bytes, field.offset), [&](const WireField& inner) {
        if (inner.number != kEosPiece) {
          return absl::OkStatus();
        }
        model->eos_piece = inner.bytes;
        return CheckType(inner, WireField::Type::kBytes, "TrainerSpec.eos_piece");
      });
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
  if (!read.ok()) {
    return read;
  }
  const auto eos = model.raw.id_by_piece.find(model.eos_piece);
  if (eos != model.raw.id_by_piece.end() && model.raw.tokens[eos->second].special) {
    model.raw.own_stop_ids.push_back(eos->second);
  }
  return std::move(model.raw);
}

}  // namespace maskd
