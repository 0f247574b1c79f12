#include "grammar_core/tokenizer/formats/huggingface_rules.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/formats/json_tree.h"
#include "grammar_core/tokenizer/formats/merge_order.h"
#include "grammar_core/tokenizer/formats/piece_bytes.h"

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

// Whether a normalizer changes nothing but the spelling of spaces and the start of a text.
bool ReadNormalizer(const Json& normalizer, EncodingRules* rules) {
  const std::string type = TextField(normalizer, "type");
  if (type == "NFC") rules->ascii_only = true;
  const Json* const pattern = FindField(normalizer, "pattern");
  const bool marks_spaces = type == "Replace" && pattern != nullptr &&
                            TextField(*pattern, "String") == " " &&
                            TextField(normalizer, "content") == kMetaspace;
  return type == "NFC" ||
         ((type == "Prepend" || marks_spaces) && rules->symbols == Symbols::kCharacters);
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

// Whether a pre-tokenizer of characters leaves a text in one piece.
bool IsUncut(const Json& part) {
  const Json* const split = FindField(part, "split");
  const std::string mark = TextField(part, "replacement");
  return TextField(part, "type") == "Metaspace" && (mark.empty() || mark == kMetaspace) &&
         split != nullptr && !IsFieldTrue(part, "split");
}

bool ReadPreTokenizer(const Json& part, EncodingRules* rules) {
  if (rules->symbols == Symbols::kCharacters) return IsUncut(part);
  const std::string type = TextField(part, "type");
  if (type == "Split") return ReadSplit(part, rules);
  if (type == "ByteLevel") {
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
  rules.marks_spaces = rules.symbols == Symbols::kCharacters;
  rules.atoms = raw.added_ids;
  const bool is_known =
      rules.symbols != Symbols::kUnknown && IsOfMerges(model, document) &&
      FindField(model, "dropout") == nullptr &&
      EachPart(FindField(tree, "normalizer"), "normalizers",
               [&](const Json& part) { return ReadNormalizer(part, &rules); }) &&
      EachPart(pre_tokenizer, "pretokenizers",
               [&](const Json& part) { return ReadPreTokenizer(part, &rules); }) &&
      MergesAreByIds(document.merges, raw, rules);
  return is_known ? rules : EncodingRules();
}

}  // namespace maskd
