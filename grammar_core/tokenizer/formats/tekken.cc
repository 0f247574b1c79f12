// tekken.json of the `mistral-common` library: special tokens first, then the ranks of /vocab that
// the configured size leaves room for, each its bytes in base64. Exact as it stands.
//
// Invariant  an entry's rank is its place in its list, and no two ranks that are used have the same
//            bytes.
// Cost       linear in the file; an entry of /vocab leaves the tree when it ends.
// Bounds     Vocabulary::kMaxTokens ranks.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

#include "grammar_core/base/error.h"
#include "grammar_core/tokenizer/formats/format.h"
#include "grammar_core/tokenizer/formats/json_tree.h"
#include "grammar_core/tokenizer/formats/piece_bytes.h"
#include "grammar_core/tokenizer/source_file.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {
namespace {

using Json = nlohmann::json;

// What a file begins with; none is a field of a tokenizer.json.
constexpr std::array<absl::string_view, 7> kFirstKeys = {
    "config", "vocab", "special_tokens", "image", "audio", "multimodal", "model_settings_builder"};

// The special tokens of the files that list none, and the versions of those files.
constexpr std::array kUnlistedSpecial = {"<unk>",
                                         "<s>",
                                         "</s>",
                                         "[INST]",
                                         "[/INST]",
                                         "[AVAILABLE_TOOLS]",
                                         "[/AVAILABLE_TOOLS]",
                                         "[TOOL_RESULTS]",
                                         "[/TOOL_RESULTS]",
                                         "[TOOL_CALLS]",
                                         "[IMG]",
                                         "<pad>",
                                         "[IMG_BREAK]",
                                         "[IMG_END]",
                                         "[PREFIX]",
                                         "[MIDDLE]",
                                         "[SUFFIX]",
                                         "[SYSTEM_PROMPT]",
                                         "[/SYSTEM_PROMPT]",
                                         "[TOOL_CONTENT]"};
constexpr std::array kVersionsWithoutAList = {"v1", "v2", "v3", "v7"};

FieldPath VocabPath(std::size_t index) {
  return FieldPath().Child("vocab").Child(static_cast<std::int64_t>(index));
}

// Takes the entries of /vocab out of the tree as they come.
class TekkenReader : public JsonTreeReader {
 public:
  bool end_object() override {
    return IsElementOf("vocab") ? AddRank(TakeInnermost()) : JsonTreeReader::end_object();
  }

  // The bytes of each rank.
  [[nodiscard]] std::vector<std::string>& ranks() { return ranks_; }

 private:
  bool AddRank(const Json& entry);

  std::vector<std::string> ranks_;
};

bool TekkenReader::AddRank(const Json& entry) {
  const FieldPath path = VocabPath(ranks_.size());
  if (ranks_.size() >= Vocabulary::kMaxTokens) {
    return Fail(
        InvalidTokenizer(path.str(), absl::StrCat("more than ", Vocabulary::kMaxTokens, " ranks")));
  }
  const Json* const rank = FindField(entry, "rank");
  if (rank == nullptr || WholeNumber(*rank) != static_cast<std::int64_t>(ranks_.size()))
    return Fail(InvalidTokenizer(path.Child("rank").str(), "not the entry's place in the list"));
  std::optional<std::string> bytes = FromBase64(TextField(entry, "token_bytes"));
  if (!bytes.has_value())
    return Fail(InvalidTokenizer(path.Child("token_bytes").str(), "not base64"));
  ranks_.push_back(*std::move(bytes));
  return true;
}

struct Sizes {
  std::int64_t vocabulary;  // ids
  std::int64_t special;     // the first of them
};

absl::StatusOr<Sizes> ReadSizes(const Json& tree, std::size_t rank_count) {
  const FieldPath path = FieldPath().Child("config");
  std::array<std::int64_t, 2> values{};
  constexpr std::array kNames = {"default_vocab_size", "default_num_special_tokens"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const Json* const config = FindField(tree, "config");
    const Json* const value = config == nullptr ? nullptr : FindField(*config, kNames[i]);
    values[i] = value == nullptr ? -1 : WholeNumber(*value);
    if (values[i] < 0 || values[i] > Vocabulary::kMaxTokens) {
      return InvalidTokenizer(
          path.Child(kNames[i]).str(),
          absl::StrCat("not a whole number of at most ", Vocabulary::kMaxTokens));
    }
  }
  const Sizes sizes{values[0], values[1]};
  const auto ranks = static_cast<std::int64_t>(rank_count);
  if (sizes.special > sizes.vocabulary || sizes.vocabulary - sizes.special > ranks) {
    return InvalidTokenizer(path.Child("default_vocab_size").str(),
                            absl::StrCat(sizes.vocabulary, " is not what ", sizes.special,
                                         " special tokens and some of ", ranks, " ranks make"));
  }
  return sizes;
}

absl::StatusOr<std::vector<std::string>> UnlistedSpecial(const Json& tree) {
  const Json* const config = FindField(tree, "config");
  const std::string version = config == nullptr ? "" : TextField(*config, "version");
  for (const char* known : kVersionsWithoutAList)
    if (version == known)
      return std::vector<std::string>(kUnlistedSpecial.begin(), kUnlistedSpecial.end());
  return InvalidTokenizer("/special_tokens", absl::StrCat("missing, and version \"",
                                                          Shortened(version), "\" has no others"));
}

// Spellings by id, from 0.
absl::StatusOr<std::vector<std::string>> ReadSpecial(const Json& tree) {
  const Json* const list = FindField(tree, "special_tokens");
  if (list == nullptr) return UnlistedSpecial(tree);
  const FieldPath path = FieldPath().Child("special_tokens");
  if (!list->is_array()) return InvalidTokenizer(path.str(), "not a list");
  std::vector<std::string> special;
  for (const Json& entry : *list) {
    const auto id = static_cast<std::int64_t>(special.size());
    const Json* const rank = FindField(entry, "rank");
    if (rank == nullptr || WholeNumber(*rank) != id) {
      return InvalidTokenizer(path.Child(id).Child("rank").str(),
                              "not the entry's place in the list");
    }
    special.push_back(TextField(entry, "token_str"));
    if (special.back().empty()) {
      return InvalidTokenizer(path.Child(id).Child("token_str").str(),
                              "not a text of at least one character");
    }
  }
  return special;
}

absl::Status PutSpecial(const Json& tree, std::int64_t count, RawVocabulary* raw) {
  absl::StatusOr<std::vector<std::string>> special = ReadSpecial(tree);
  if (!special.ok()) return special.status();
  if (special->size() > static_cast<std::size_t>(count)) {
    return InvalidTokenizer(
        "/config/default_num_special_tokens",
        absl::StrCat(count, " is less than the ", special->size(), " there are"));
  }
  for (std::string& text : *special) raw->tokens.push_back({std::move(text), true});
  for (auto id = static_cast<std::int64_t>(special->size()); id < count; ++id)
    raw->tokens.push_back({absl::StrCat("<SPECIAL_", id, ">"), true});
  return absl::OkStatus();
}

absl::Status PutRanks(std::vector<std::string>* ranks, std::int64_t count, RawVocabulary* raw) {
  absl::flat_hash_set<absl::string_view> seen;
  raw->tokens.reserve(raw->tokens.size() + static_cast<std::size_t>(count));
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(count); ++rank) {
    if (!seen.insert((*ranks)[rank]).second) {
      return InvalidTokenizer(VocabPath(rank).Child("token_bytes").str(),
                              "an earlier rank has the same bytes");
    }
    raw->tokens.push_back({(*ranks)[rank], false});
  }
  return absl::OkStatus();
}

}  // namespace

bool LooksLikeTekken(absl::string_view head) {
  head = WithoutJsonLead(head);
  if (!absl::ConsumePrefix(&head, "{")) return false;
  head = WithoutJsonLead(head);
  if (!absl::ConsumePrefix(&head, "\"")) return false;
  const absl::string_view key = head.substr(0, head.find('"'));
  return std::find(kFirstKeys.begin(), kFirstKeys.end(), key) != kFirstKeys.end();
}

absl::StatusOr<RawVocabulary> ReadTekken(absl::string_view content) {
  TekkenReader reader;
  if (absl::Status read = reader.Read(content); !read.ok()) return read;
  const Json& tree = reader.tree();
  const Json* const vocab = FindField(tree, "vocab");
  if (vocab == nullptr || !vocab->is_array() || vocab->size() != reader.ranks().size())
    return InvalidTokenizer("/vocab", "not a list of objects");
  const absl::StatusOr<Sizes> sizes = ReadSizes(tree, reader.ranks().size());
  if (!sizes.ok()) return sizes.status();
  RawVocabulary raw;
  absl::Status put = PutSpecial(tree, sizes->special, &raw);
  if (put.ok()) put = PutRanks(&reader.ranks(), sizes->vocabulary - sizes->special, &raw);
  if (const Json* const config = FindField(tree, "config"); config != nullptr)
    raw.rules = RankRules(TextField(*config, "pattern"));
  return put.ok() ? absl::StatusOr<RawVocabulary>(std::move(raw)) : put;
}

}  // namespace maskd
