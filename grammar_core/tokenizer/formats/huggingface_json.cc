// tokenizer.json: the model's pieces through the file's own decoder, then the added tokens as they
// stand. An added token that has a piece's content takes that piece's id and place.
//
// Invariant  every id has one spelling; a model that drops white space is refused.
// Cost       one decoding for each piece, and a look at all pieces for the unknown one.
// Source     the `tokenizers` library.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/error.h"
#include "grammar_core/tokenizer/formats/format.h"
#include "grammar_core/tokenizer/formats/huggingface_rules.h"
#include "grammar_core/tokenizer/formats/json_tree.h"
#include "grammar_core/tokenizer/formats/piece_decoder.h"
#include "grammar_core/tokenizer/formats/tokenizer_document.h"
#include "grammar_core/tokenizer/source_file.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {
namespace {

using Json = nlohmann::json;

// The model's type; files of the format's first months do not say it.
std::string ModelType(const Json& model, const TokenizerDocument& document) {
  const std::string type = TextField(model, "type");
  return type.empty() && document.has_merges ? "BPE" : type;
}

absl::Status CheckModel(const Json& model, const std::string& type) {
  if (type == "WordPiece") {
    return UnsupportedAt("/model/type", "the model type WordPiece",
                         "its tokens do not keep the white space between them");
  }
  if (type != "BPE" && type != "Unigram" && type != "WordLevel")
    return UnsupportedAt("/model/type", absl::StrCat("the model type \"", Shortened(type), "\""));
  for (const char* affix : {"end_of_word_suffix", "continuing_subword_prefix"}) {
    if (!TextField(model, affix).empty()) {
      return UnsupportedAt(absl::StrCat("/model/", affix), absl::StrCat(type, " with ", affix),
                           "its tokens do not keep the white space between them");
    }
  }
  return absl::OkStatus();
}

absl::Status PutPieces(const PieceDecoder& decoder, const TokenizerDocument& document,
                       RawVocabulary* raw) {
  raw->id_by_piece.reserve(document.pieces.size());
  const FieldPath vocab = FieldPath().Child("model").Child("vocab");
  for (const ModelPiece& piece : document.pieces) {
    const std::string place = vocab.Child(Shortened(piece.text)).str();
    absl::Status put = PutToken(place, piece.id, {decoder.Decode(piece.text), false}, raw);
    if (!put.ok()) return put;
    const auto id = static_cast<TokenId>(piece.id);
    if (!raw->id_by_piece.emplace(piece.text, id).second)
      return InvalidTokenizer(place, "appears twice");
  }
  return absl::OkStatus();
}

// The unknown token stands for whatever the model has no piece for: it has no text of its own.
void MarkUnknown(const Json& model, RawVocabulary* raw) {
  const auto by_name = raw->id_by_piece.find(TextField(model, "unk_token"));
  const Json* const unk_id = FindField(model, "unk_id");
  const std::int64_t id = by_name != raw->id_by_piece.end() ? by_name->second
                          : unk_id != nullptr               ? WholeNumber(*unk_id)
                                                            : -1;
  for (const auto& [piece, piece_id] : raw->id_by_piece)
    if (piece_id == id && !piece.empty()) raw->tokens[piece_id] = {piece, true};
}

struct AddedToken {
  std::int64_t id;
  std::string content;
  bool special;
};

absl::StatusOr<AddedToken> ReadAdded(const Json& value, const FieldPath& path) {
  const Json* const id = FindField(value, "id");
  AddedToken added{id == nullptr ? -1 : WholeNumber(*id), TextField(value, "content"),
                   IsFieldTrue(value, "special")};
  if (added.id < 0) return InvalidTokenizer(path.Child("id").str(), "not a whole number");
  if (added.content.empty())
    return InvalidTokenizer(path.Child("content").str(), "not a text of at least one character");
  return added;
}

// The decoder writes out ordinary added tokens as it does pieces; special ones are known by name.
absl::Status PutAdded(AddedToken added, const FieldPath& path, const PieceDecoder& decoder,
                      RawVocabulary* raw) {
  const auto [piece, is_new] =
      raw->id_by_piece.emplace(added.content, static_cast<TokenId>(added.id));
  if (!is_new && piece->second != added.id) {
    return InvalidTokenizer(
        path.Child("id").str(),
        absl::StrCat("/model/vocab has the same content with id ", piece->second));
  }
  if (!is_new) raw->tokens[piece->second] = {};
  std::string bytes = added.special ? std::move(added.content) : decoder.Decode(added.content);
  raw->added_ids.push_back(static_cast<TokenId>(added.id));
  return PutToken(path.Child("id").str(), added.id, {std::move(bytes), added.special}, raw);
}

absl::Status PutAllAdded(const Json& tree, const PieceDecoder& decoder, RawVocabulary* raw) {
  const Json* const list = FindField(tree, "added_tokens");
  if (list == nullptr) return absl::OkStatus();
  const FieldPath list_path = FieldPath().Child("added_tokens");
  if (!list->is_array()) return InvalidTokenizer(list_path.str(), "not a list");
  absl::flat_hash_set<std::string> seen;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const FieldPath path = list_path.Child(static_cast<std::int64_t>(i));
    absl::StatusOr<AddedToken> added = ReadAdded((*list)[i], path);
    if (!added.ok()) return added.status();
    if (!seen.insert(added->content).second)
      return InvalidTokenizer(path.Child("content").str(), "an earlier added token has the same");
    if (absl::Status put = PutAdded(*std::move(added), path, decoder, raw); !put.ok()) return put;
  }
  return absl::OkStatus();
}

}  // namespace

bool LooksLikeHuggingFace(absl::string_view head) {
  return absl::StartsWith(WithoutJsonLead(head), "{");
}

absl::StatusOr<RawVocabulary> ReadHuggingFace(absl::string_view content) {
  absl::StatusOr<TokenizerDocument> document = ReadTokenizerDocument(content);
  if (!document.ok()) return document.status();
  const Json tree = std::move(document->tree);
  const Json* const model = FindField(tree, "model");
  if (model == nullptr || !model->is_object())
    return InvalidTokenizer("/model", "missing: this is not a tokenizer.json");
  if (absl::Status checked = CheckModel(*model, ModelType(*model, *document)); !checked.ok())
    return checked;
  const absl::StatusOr<PieceDecoder> decoder = PieceDecoder::FromTree(tree);
  if (!decoder.ok()) return decoder.status();
  RawVocabulary raw;
  if (absl::Status put = PutPieces(*decoder, *document, &raw); !put.ok()) return put;
  MarkUnknown(*model, &raw);
  if (absl::Status put = PutAllAdded(tree, *decoder, &raw); !put.ok()) return put;
  raw.rules = ReadHuggingFaceRules(tree, *document, raw);
  return raw;
}

}  // namespace maskd
