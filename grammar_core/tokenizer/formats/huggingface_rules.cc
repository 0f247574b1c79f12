// The parts of a file are read one after the other, and what one leaves is what the next one sees:
// a space that a normalizer has marked, characters that stand for bytes. Added tokens are cut out
// first. Normalized ones come after the others, behind the normalizer.
//
// Invariant  what is known is exact; where neighbours of an added token decide, it is unsure.
// Cost       one pass over the pieces, and merging each of them once (merge_order.h).
// Source     the `tokenizers` library; tests/tokenizer/compare_made.py asks it.
#include "grammar_core/tokenizer/formats/huggingface_rules.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/formats/json_tree.h"
#include "grammar_core/tokenizer/formats/merge_order.h"
#include "grammar_core/tokenizer/formats/piece_bytes.h"
#include "grammar_core/tokenizer/formats/piece_decoder.h"

namespace maskd {
namespace {

using Json = nlohmann::json;
using Symbols = EncodingRules::Symbols;

// What ByteLevel cuts at by itself.
constexpr char kByteLevelPattern[] =
    R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Calls visit(part) for `value`, or for each part of it where it is a sequence named `list`; false
// once one call says so.
template <typename Visit>
bool EachPart(const Json* value, const char* list, Visit visit) {
  if (value == nullptr) return true;
  if (TextField(*value, "type") != "Sequence") return visit(*value);
  const Json* const parts = FindField(*value, list);
  return parts != nullptr && parts->is_array() && std::ranges::all_of(*parts, visit);
}

// What is known so far of a file's rules.
struct Reading {
  EncodingRules rules;
  // Whether a normalizer and a pre-tokenizer put a mark for each space.
  bool normalizer_marks = false;
  bool pre_tokenizer_marks = false;
  // Whether a pre-tokenizer has put characters for bytes.
  bool is_byte_level = false;
  // Whether something is put before each text, and so before a text behind an added token.
  bool prepends = false;
};

// Whether a normalizer changes nothing but the spelling of spaces and the start of a text.
bool ReadNormalizer(const Json& normalizer, Reading* reading) {
  const std::string type = TextField(normalizer, "type");
  const bool marks = SpaceMarkOf(normalizer) == kMetaspace;
  if (type == "NFC") reading->rules.ascii_only = true;
  if (type == "Prepend") reading->prepends = true;
  if (marks) reading->normalizer_marks = true;
  return type == "NFC" ||
         ((type == "Prepend" || marks) && reading->rules.symbols == Symbols::kCharacters);
}

bool ReadSplit(const Json& split, EncodingRules* rules) {
  const Json* const pattern = FindField(split, "pattern");
  const std::string regex = pattern == nullptr ? "" : TextField(*pattern, "Regex");
  const std::string behavior = TextField(split, "behavior");
  // Patterns match all of a text, so that what is between matches may as well be removed.
  const bool isolates = (behavior == "Isolated" && !IsFieldTrue(split, "invert")) ||
                        (behavior == "Removed" && IsFieldTrue(split, "invert"));
  if (regex.empty() || !isolates) return false;
  rules->patterns.push_back(regex);
  return true;
}

// Whether a Metaspace puts its mark also before the text behind an added token.
bool PutsSpaceBeforeEach(const Json& metaspace) {
  const std::string scheme = TextField(metaspace, "prepend_scheme");
  const Json* const puts_space = FindField(metaspace, "add_prefix_space");
  return scheme.empty() ? puts_space == nullptr || IsFieldTrue(metaspace, "add_prefix_space")
                        : scheme == "always";
}

// Whether a pre-tokenizer of characters leaves a text in one piece.
bool IsUncut(const Json& part, Reading* reading) {
  if (SpaceMarkOf(part) == kMetaspace) {
    reading->pre_tokenizer_marks = true;
    if (PutsSpaceBeforeEach(part)) reading->prepends = true;
    const Json* const split = FindField(part, "split");
    return split != nullptr && !IsFieldTrue(part, "split");
  }
  // What cuts at spaces finds none where they are marked already.
  const Json* const pattern = FindField(part, "pattern");
  return TextField(part, "type") == "Split" && reading->normalizer_marks && pattern != nullptr &&
         absl::StrContains(TextField(*pattern, "String"), ' ') && !IsFieldTrue(part, "invert");
}

bool ReadPreTokenizer(const Json& part, Reading* reading) {
  EncodingRules* const rules = &reading->rules;
  if (rules->symbols == Symbols::kCharacters) return IsUncut(part, reading);
  // What follows sees the characters that stand for bytes.
  if (reading->is_byte_level) return false;
  const std::string type = TextField(part, "type");
  if (type == "Split") return ReadSplit(part, rules);
  if (type == "ByteLevel") {
    reading->is_byte_level = true;
    const Json* const use_regex = FindField(part, "use_regex");
    if (use_regex == nullptr || IsFieldTrue(part, "use_regex"))
      rules->patterns.emplace_back(kByteLevelPattern);
    return !IsFieldTrue(part, "add_prefix_space");
  }
  if (type == "Digits") {
    rules->patterns.emplace_back(IsFieldTrue(part, "individual_digits") ? R"(\p{N})" : R"(\p{N}+)");
    return true;
  }
  return false;
}

// Files of the format's first months do not say the type.
bool IsOfMerges(const Json& model, const TokenizerDocument& document) {
  const std::string type = TextField(model, "type");
  return document.has_merges && (type.empty() || type == "BPE");
}

bool HasPart(const Json* value, const char* list, const char* type) {
  return !EachPart(value, list, [&](const Json& part) { return TextField(part, "type") != type; });
}

// Pieces that no text is spelled as.
void PutUnused(const Reading& reading, const RawVocabulary& raw, EncodingRules* rules) {
  if (rules->symbols == Symbols::kBytes) {
    rules->unused =
        PiecesWhere(raw, [](absl::string_view piece) { return !FromByteLevel(piece).has_value(); });
    return;
  }
  const bool marks = reading.normalizer_marks || reading.pre_tokenizer_marks;
  const absl::string_view other = marks ? " " : kMetaspace;
  rules->unused =
      PiecesWhere(raw, [&](absl::string_view piece) { return absl::StrContains(piece, other); });
}

// Whether two texts may stand in one so that they have a part of it in common.
bool MayOverlap(absl::string_view x, absl::string_view y) {
  if (absl::StrContains(x, y) || absl::StrContains(y, x)) return true;
  for (std::size_t size = 1; size < std::min(x.size(), y.size()); ++size)
    if (absl::EndsWith(x, y.substr(0, size)) || absl::EndsWith(y, x.substr(0, size))) return true;
  return false;
}

// Tokens that are looked for in what is normalized come behind the others: where they meet, not the
// first of the text is the one.
void PutLateAtoms(const std::vector<TokenId>& early, const std::vector<TokenId>& late,
                  const RawVocabulary& raw, EncodingRules* rules) {
  const auto text_of = [&](TokenId id) -> const std::string& {
    return raw.tokens[static_cast<std::size_t>(id)].bytes;
  };
  for (const TokenId id : late) {
    const auto overlaps = [&](TokenId other) { return MayOverlap(text_of(id), text_of(other)); };
    if (std::ranges::any_of(early, overlaps)) rules->unsure_atoms.push_back(id);
  }
}

// An ordinary added token is an atom, unless its mark is looked for where spaces are not marked
// yet. Then it is a piece, if it is one of the model's.
void PutAdded(const Json& tree, const Reading& reading, const TokenizerDocument& document,
              const RawVocabulary& raw, EncodingRules* rules) {
  rules->atoms = raw.added_ids;
  const Json* const list = FindField(tree, "added_tokens");
  if (list == nullptr) return;
  absl::flat_hash_set<TokenId> marked;
  std::vector<TokenId> early;
  std::vector<TokenId> late;
  for (const Json& token : *list) {
    if (IsFieldTrue(token, "special")) continue;
    const std::string content = TextField(token, "content");
    const auto id = raw.id_by_piece.at(content);
    const bool is_normalized = IsFieldTrue(token, "normalized");
    (is_normalized ? late : early).push_back(id);
    const bool is_unsure = reading.prepends || IsFieldTrue(token, "lstrip") ||
                           IsFieldTrue(token, "rstrip") || IsFieldTrue(token, "single_word");
    if (is_unsure) rules->unsure_atoms.push_back(id);
    const bool finds_spaces = is_normalized && reading.normalizer_marks;
    if (rules->symbols == Symbols::kCharacters && !finds_spaces &&
        absl::StrContains(content, kMetaspace))
      marked.insert(id);
  }
  PutLateAtoms(early, late, raw, rules);
  if (marked.empty()) return;
  std::erase_if(rules->atoms, [&](TokenId id) { return marked.contains(id); });
  for (const ModelPiece& piece : document.pieces) marked.erase(static_cast<TokenId>(piece.id));
  rules->unused.insert(rules->unused.end(), marked.begin(), marked.end());
}

}  // namespace

EncodingRules ReadHuggingFaceRules(const Json& tree, const TokenizerDocument& document,
                                   const RawVocabulary& raw) {
  const Json& model = tree.at("model");
  const Json* const pre_tokenizer = FindField(tree, "pre_tokenizer");
  Reading reading;
  EncodingRules& rules = reading.rules;
  rules.symbols = HasPart(pre_tokenizer, "pretokenizers", "ByteLevel") ? Symbols::kBytes
                  : IsFieldTrue(model, "byte_fallback")                ? Symbols::kCharacters
                                                                       : Symbols::kUnknown;
  rules.whole_pieces = IsFieldTrue(model, "ignore_merges");
  rules.marks_spaces = rules.symbols == Symbols::kCharacters;
  const bool is_cut = rules.symbols != Symbols::kUnknown && IsOfMerges(model, document) &&
                      FindField(model, "dropout") == nullptr &&
                      EachPart(FindField(tree, "normalizer"), "normalizers",
                               [&](const Json& part) { return ReadNormalizer(part, &reading); }) &&
                      EachPart(pre_tokenizer, "pretokenizers",
                               [&](const Json& part) { return ReadPreTokenizer(part, &reading); });
  if (!is_cut) return {};
  PutUnused(reading, raw, &rules);
  PutAdded(tree, reading, document, raw, &rules);
  return ReadMergeOrder(document.merges, raw, &rules) ? rules : EncodingRules();
}

}  // namespace maskd
