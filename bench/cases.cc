#include "bench/cases.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <nlohmann/json.hpp>
#include <zlib.h>

#include "grammar_core/base/sha256.h"
#include "grammar_core/tokenizer/loader.h"

namespace maskd::bench {
namespace {

using Json = nlohmann::json;

// Lines of a file that zlib reads, compressed or not.
class FileReader : public CaseReader {
 public:
  explicit FileReader(gzFile file) : file_(file) {}
  ~FileReader() override { gzclose(file_); }

 protected:
  bool NextLine(std::string* line) override {
    line->clear();
    char buffer[1 << 16];
    while (gzgets(file_, buffer, sizeof buffer) != nullptr) {
      line->append(buffer);
      if (line->back() == '\n') return true;
    }
    return !line->empty();
  }

 private:
  gzFile file_;
};

// zlib would wait for a full buffer before it gave the first line.
class StandardInput : public CaseReader {
 protected:
  bool NextLine(std::string* line) override {
    return static_cast<bool>(std::getline(std::cin, *line));
  }
};

Case ReadCase(const std::string& line) {
  const Json json = Json::parse(line);
  Case made{json.at("id"), json.at("schema"), {}};
  for (const Json& test : json.at("tests"))
    made.tests.push_back({test.at("valid"), test.at("text"), test.at("tokens")});
  return made;
}

// Keeps the `count` cases with the smallest digests of their ids, in their order.
std::vector<Case> Sampled(std::vector<Case> cases, std::size_t count) {
  std::vector<std::pair<std::string, std::size_t>> digests;
  for (std::size_t i = 0; i < cases.size(); ++i) digests.emplace_back(Sha256Hex(cases[i].id), i);
  std::sort(digests.begin(), digests.end());
  digests.resize(std::min(count, digests.size()));
  std::sort(digests.begin(), digests.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<Case> sampled;
  for (const auto& [digest, at] : digests) sampled.push_back(std::move(cases[at]));
  return sampled;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CaseReader>> CaseReader::Open(const std::string& path) {
  if (path == "-") return std::make_unique<StandardInput>();
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  return std::make_unique<FileReader>(file);
}

absl::StatusOr<bool> CaseReader::Next(Case* out) {
  std::string line;
  if (!NextLine(&line)) return false;
  ++number_;
  try {
    *out = ReadCase(line);
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("line ", number_, ": ", error.what()));
  }
  return true;
}

absl::StatusOr<std::vector<Case>> ReadCases(const std::string& path, const Selection& selection) {
  const auto reader = CaseReader::Open(path);
  if (!reader.ok()) return reader.status();
  std::vector<Case> cases;
  for (Case one;;) {
    const absl::StatusOr<bool> more = (*reader)->Next(&one);
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (absl::StrContains(one.id, selection.id_part)) cases.push_back(std::move(one));
  }
  if (selection.sample == 0) return cases;
  return Sampled(std::move(cases), static_cast<std::size_t>(selection.sample));
}

absl::StatusOr<std::shared_ptr<const Vocabulary>> LoadBenchVocabulary(const std::string& path,
                                                                      const std::string& stop) {
  VocabularySource source;
  source.name = "bench";
  source.path = path;
  const std::filesystem::path facts_path =
      std::filesystem::path(path).replace_extension(".special.json");
  if (std::ifstream file(facts_path); !path.empty() && file) {
    const Json facts = Json::parse(file, nullptr, /*allow_exceptions=*/false);
    if (facts.is_discarded())
      return absl::InvalidArgumentError(absl::StrCat(facts_path.string(), ": not JSON"));
    for (const auto& [text, id] : facts.at("special").items())
      source.extra_special.emplace_back(text, id);
    source.stop_tokens = facts.at("stop").get<std::vector<std::string>>();
  }
  if (!stop.empty()) source.stop_tokens = {stop};
  return LoadVocabulary(source);
}

}  // namespace maskd::bench
