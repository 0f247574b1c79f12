#include "tests/oracle/maskbench_cases.h"

#include <cstdlib>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include <nlohmann/json.hpp>
#include <zlib.h>

#include "grammar_core/tokenizer/loader.h"

namespace maskd {
namespace {

absl::StatusOr<std::string> Unpacked(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return absl::NotFoundError(absl::StrCat(path, ": no such file"));
  std::string text;
  std::vector<char> buffer(1 << 20);
  for (int got = 1; got > 0;) {
    got = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()));
    if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  gzclose(file);
  return text;
}

MaskbenchCase ParseCase(absl::string_view line) {
  const auto json = nlohmann::json::parse(line.begin(), line.end());
  MaskbenchCase made = {json["id"], json["schema"], {}};
  for (const auto& test : json["tests"])
    if (test["valid"].get<bool>()) made.valid.push_back(test["text"]);
  return made;
}

}  // namespace

std::string MaskbenchFile(absl::string_view source_dir) {
  const char* set = std::getenv("MASKD_SHARED_DIR");
  const std::string dir = set != nullptr ? set : absl::StrCat(source_dir, "/../shared");
  return absl::StrCat(dir, "/maskbench/open.jsonl.gz");
}

absl::StatusOr<std::vector<MaskbenchCase>> ReadMaskbench(const std::string& path,
                                                         std::uint64_t seed) {
  const absl::StatusOr<std::string> text = Unpacked(path);
  if (!text.ok()) return text.status();
  const std::vector<absl::string_view> lines = absl::StrSplit(*text, '\n', absl::SkipEmpty());
  const std::size_t count = lines.size();
  std::vector<MaskbenchCase> cases;
  if (count == 0) return cases;
  // Steps of the golden section of the file: each new place falls into one of the widest gaps.
  std::size_t stride = static_cast<std::size_t>(static_cast<double>(count) * 0.6180339887) + 1;
  while (std::gcd(stride, count) != 1) ++stride;
  for (std::size_t i = 0; i < count; ++i)
    cases.push_back(ParseCase(lines[(seed + i * stride) % count]));
  return cases;
}

absl::StatusOr<std::shared_ptr<const Vocabulary>> LoadLlama3(absl::string_view source_dir) {
  VocabularySource source;
  source.name = "llama3";
  source.path = absl::StrCat(source_dir, "/build/vocab/llama3.tiktoken");
  source.special_preset = "llama3";
  source.stop_tokens = {"<|eot_id|>"};
  return LoadVocabulary(source);
}

}  // namespace maskd
