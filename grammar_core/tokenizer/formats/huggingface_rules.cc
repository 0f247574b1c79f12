#include "grammar_core/tokenizer/formats/huggingface_rules.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/base/utf8.h"
#include "grammar_core/tokenizer/formats/json_tree.h"

namespace maskd {
namespace {

using Json = nlohmann::json;
using Symbols = EncodingRules::Symbols;

// What ByteLevel cuts at by itself.
constexpr char kByteLevelPattern[] =
    R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Pieces that no merge makes, and bytes of one, beyond which they are not looked at.
constexpr int kMaxUnmade = 1000;
constexpr std::size_t kMaxUnmadeBytes = 256;

// Calls visit(part) for `value`, or for each part of it where it is a sequence named `list`; false
// once one call says so.
template <typename Visit>
bool EachPart(const Json* value, const char* list, Visit visit) {
  if (value == nullptr) return true;
  if (TextField(*value, "type") != "Sequence") return visit(*value);
  const Json* const parts = FindField(*value, list);
  return parts != nullptr && parts->is_array() && std::ranges::all_of(*parts, visit);
}

// Whether a normalizer changes nothing but the spelling of spaces and the start of a text.
bool ReadNormalizer(const Json& normalizer, EncodingRules* rules) {
  const std::string type = TextField(normalizer, "type");
  if (type == "NFC") rules->ascii_only = true;
  const bool spells_spaces = type == "Prepend" || type == "Replace";
  return type == "NFC" || (spells_spaces && rules->symbols == Symbols::kCharacters);
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

bool ReadPreTokenizer(const Json& part, EncodingRules* rules) {
  const std::string type = TextField(part, "type");
  if (type == "Split") return ReadSplit(part, rules);
  if (type == "ByteLevel") {
    const Json* const use_regex = FindField(part, "use_regex");
    if (use_regex == nullptr || IsFieldTrue(part, "use_regex")) {
      rules->patterns.emplace_back(kByteLevelPattern);
    }
    return !IsFieldTrue(part, "add_prefix_space");
  }
  if (type == "Digits") {
    rules->patterns.emplace_back(IsFieldTrue(part, "individual_digits") ? R"(\p{N})" : R"(\p{N}+)");
    return true;
  }
  const Json* const split = FindField(part, "split");
  return type == "Metaspace" && split != nullptr && !IsFieldTrue(part, "split");
}

bool HasPart(const Json* value, const char* list, const char* type) {
  return !EachPart(value, list, [&](const Json& part) { return TextField(part, "type") != type; });
}

bool IsOneSymbol(const std::string& bytes, Symbols symbols) {
  std::size_t at = 0;
  return bytes.size() <= 1 ||
         (symbols == Symbols::kCharacters && DecodeUtf8(bytes, &at) && at == bytes.size());
}

// Whether two pieces together spell `piece`.
bool IsTwoPieces(absl::string_view piece, const RawVocabulary& raw) {
  for (std::size_t cut = 1; cut < piece.size(); ++cut) {
    if (raw.id_by_piece.contains(piece.substr(0, cut)) &&
        raw.id_by_piece.contains(piece.substr(cut))) {
      return true;
    }
  }
  return false;
}

// Whether merging neighbours by the lowest id does what the list of merges says: it is in the order
// of ids, and makes every piece that two others spell.
bool MergesAreByIds(const TokenizerDocument& document, const RawVocabulary& raw, Symbols symbols) {
  std::vector<bool> is_made(raw.tokens.size());
  TokenId last = 0;
  for (const std::string& merged : document.merges) {
    const auto found = raw.id_by_piece.find(merged);
    if (found == raw.id_by_piece.end() || found->second < last) return false;
    last = found->second;
    is_made[static_cast<std::size_t>(last)] = true;
  }
  for (const TokenId id : raw.added_ids) is_made[static_cast<std::size_t>(id)] = true;
  int unmade = 0;
  for (const auto& [piece, id] : raw.id_by_piece) {
    const Vocabulary::Token& token = raw.tokens[static_cast<std::size_t>(id)];
    const bool is_base = token.special || IsOneSymbol(token.bytes, symbols);
    if (is_base || is_made[static_cast<std::size_t>(id)]) continue;
    if (++unmade > kMaxUnmade || piece.size() > kMaxUnmadeBytes || IsTwoPieces(piece, raw)) {
      return false;
    }
  }
  return true;
}

}  // namespace

EncodingRules ReadHuggingFaceRules(const Json& tree, const TokenizerDocument& document,
                                   const RawVocabulary& raw) {
  const Json& model = tree.at("model");
  const Json* const pre_tokenizer = FindField(tree, "pre_tokenizer");
  EncodingRules rules;
  rules.symbols = HasPart(pre_tokenizer, "pretokenizers", "ByteLevel") ? Symbols::kBytes
                  : IsFieldTrue(model, "byte_fallback")                ? Symbols::kCharacters
                                                                       : Symbols::kUnknown;
  rules.whole_pieces = IsFieldTrue(model, "ignore_merges");
  rules.atoms = raw.added_ids;
  const bool is_known =
      rules.symbols != Symbols::kUnknown && document.has_merges &&
      FindField(model, "dropout") == nullptr &&
      EachPart(FindField(tree, "normalizer"), "normalizers",
               [&](const Json& part) { return ReadNormalizer(part, &rules); }) &&
      EachPart(pre_tokenizer, "pretokenizers",
               [&](const Json& part) { return ReadPreTokenizer(part, &rules); }) &&
      MergesAreByIds(document, raw, rules.symbols);
  return is_known ? rules : EncodingRules();
}

}  // namespace maskd
