// What ends a text, from the two configurations that lie beside a model's vocabulary.
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/error.h"
#include "grammar_core/tokenizer/formats/format.h"
#include "grammar_core/tokenizer/formats/json_tree.h"
#include "grammar_core/tokenizer/source_file.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {
namespace {

using Json = nlohmann::json;

std::string Beside(const std::string& path, absl::string_view name) {
  const std::size_t slash = path.rfind('/');
  return absl::StrCat(slash == std::string::npos ? "" : path.substr(0, slash + 1), name);
}

// "eos_token": a spelling, or an object with it as "content".
absl::Status AddStopOfTokenizerConfig(const Json& config, RawVocabulary* raw) {
  const Json* const token = FindField(config, "eos_token");
  if (token == nullptr) return absl::OkStatus();
  const std::string text =
      token->is_object() ? TextField(*token, "content") : TextField(config, "eos_token");
  const TokenId id = FindNamed(text, *raw);
  if (text.empty() || id < 0) {
    return InvalidTokenizer("/eos_token",
                            absl::StrCat("the vocabulary has no token \"", Shortened(text), "\""));
  }
  raw->stop_ids.push_back(id);
  return absl::OkStatus();
}

absl::Status AddStopId(const Json& value, absl::string_view place, RawVocabulary* raw) {
  const std::int64_t id = WholeNumber(value);
  const bool is_there = id >= 0 && static_cast<std::size_t>(id) < raw->tokens.size() &&
                        !raw->tokens[static_cast<std::size_t>(id)].bytes.empty();
  if (!is_there) {
    return InvalidTokenizer(place,
                            absl::StrCat("the vocabulary has no token ", Shortened(value.dump())));
  }
  raw->stop_ids.push_back(static_cast<TokenId>(id));
  return absl::OkStatus();
}

// "eos_token_id": an id or a list of them.
absl::Status AddStopsOfGenerationConfig(const Json& config, RawVocabulary* raw) {
  const Json* const ids = FindField(config, "eos_token_id");
  if (ids == nullptr) return absl::OkStatus();
  const FieldPath path = FieldPath().Child("eos_token_id");
  if (!ids->is_array()) return AddStopId(*ids, path.str(), raw);
  absl::Status added = absl::OkStatus();
  for (std::size_t i = 0; added.ok() && i < ids->size(); ++i)
    added = AddStopId((*ids)[i], path.Child(static_cast<std::int64_t>(i)).str(), raw);
  return added;
}

absl::Status ReadBeside(const std::string& path, absl::Status (*read)(const Json&, RawVocabulary*),
                        RawVocabulary* raw) {
  const absl::StatusOr<Json> config = ReadJsonFile(path);
  if (absl::IsNotFound(config.status())) return absl::OkStatus();
  if (!config.ok()) return config.status();
  const absl::Status done = read(*config, raw);
  return done.ok() ? done : InFile(path, done);
}

}  // namespace

absl::Status ReadModelConfigs(const std::string& path, RawVocabulary* raw) {
  absl::Status read =
      ReadBeside(Beside(path, "tokenizer_config.json"), &AddStopOfTokenizerConfig, raw);
  read.Update(ReadBeside(Beside(path, "generation_config.json"), &AddStopsOfGenerationConfig, raw));
  return read;
}

}  // namespace maskd
