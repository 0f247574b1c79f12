#include "bench/step_rows.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

#include "bench/documents.h"

namespace maskd::bench {
namespace {

constexpr int kBitsPerWord = 32;

}  // namespace

TokenId RandomAllowed(std::span<const std::int32_t> words, std::mt19937_64& random) {
  const std::size_t size = words.size() * kBitsPerWord;
  const std::size_t start = size == 0 ? 0 : random() % size;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t token = (start + i) % size;
    const auto word = static_cast<std::uint32_t>(words[token / kBitsPerWord]);
    if ((word >> (token % kBitsPerWord) & 1U) != 0) return static_cast<TokenId>(token);
  }
  return -1;
}

namespace {

class FromRandom final : public StepRows {
 public:
  explicit FromRandom(std::vector<std::string> schemas) { schemas_ = std::move(schemas); }

  [[nodiscard]] std::span<const TokenId> TextOf(std::size_t /*schema*/) const override {
    return {};
  }
  void Start(int /*row*/) override {}
  std::span<const TokenId> Next(int /*row*/, MaskWords mask, int /*count*/) override {
    token_ = RandomAllowed(mask(), random_);
    return {&token_, token_ < 0 ? 0U : 1U};
  }

 private:
  std::mt19937_64 random_{1};
  TokenId token_ = 0;
};

class FromDocuments final : public StepRows {
 public:
  explicit FromDocuments(std::vector<Document> documents) : documents_(std::move(documents)) {
    for (const Document& document : documents_) schemas_.push_back(document.source.text);
  }

  [[nodiscard]] std::span<const TokenId> TextOf(std::size_t schema) const override {
    return documents_[schema].tokens;
  }

  void Start(int row) override {
    const auto at = static_cast<std::size_t>(row);
    if (taken_.size() <= at) taken_.resize(at + 1);
    taken_[at] = 0;
  }

  std::span<const TokenId> Next(int row, MaskWords /*mask*/, int count) override {
    const std::span<const TokenId> tokens = documents_[SchemaOf(row)].tokens;
    std::size_t& taken = taken_[static_cast<std::size_t>(row)];
    if (taken >= tokens.size()) return {};
    const auto left = tokens.subspan(taken++);
    return left.first(std::min(left.size(), static_cast<std::size_t>(count)));
  }

 private:
  std::vector<Document> documents_;
  std::vector<std::size_t> taken_;  // by row
};

}  // namespace

absl::StatusOr<std::unique_ptr<StepRows>> RandomRows(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  if (paths.empty()) return absl::NotFoundError(absl::StrCat("--schemas: no .json in ", folder));
  std::ranges::sort(paths);
  std::vector<std::string> schemas;
  for (const std::filesystem::path& path : paths) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    schemas.push_back(text.str());
  }
  return std::make_unique<FromRandom>(std::move(schemas));
}

absl::StatusOr<std::unique_ptr<StepRows>> DocumentRows(const std::string& cases,
                                                       const VocabularySource& tokenizer,
                                                       int documents) {
  auto vocabulary = LoadVocabulary(tokenizer);
  if (!vocabulary.ok()) return vocabulary.status();
  auto loaded = LoadDocuments(cases, TokenizerSpace::Create(*std::move(vocabulary)), documents);
  if (!loaded.ok()) return loaded.status();
  return std::make_unique<FromDocuments>(*std::move(loaded));
}

}  // namespace maskd::bench
