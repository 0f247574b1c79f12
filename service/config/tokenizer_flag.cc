// NAME=PATH and options behind commas. A path with a comma cannot be said; one with "=" can, as
// only the first one counts.
#include "service/config/tokenizer_flag.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include "service/base/errors.h"

namespace maskd::service {
namespace {

absl::Status Wrong(absl::string_view message) {
  return absl::InvalidArgumentError(std::string(message));
}

// The last colon, as a special token's text may have some.
absl::Status AddSpecial(absl::string_view value, VocabularySource* source) {
  const std::size_t colon = value.rfind(':');
  TokenId id = 0;
  if (colon == absl::string_view::npos || colon == 0 ||
      !absl::SimpleAtoi(value.substr(colon + 1), &id) || id < 0) {
    return Wrong(absl::StrCat("special=", value, " is not special=TEXT:ID"));
  }
  source->extra_special.emplace_back(std::string(value.substr(0, colon)), id);
  return absl::OkStatus();
}

absl::Status SetPreset(absl::string_view value, VocabularySource* source) {
  const std::vector<std::string> presets = SpecialPresets();
  if (std::find(presets.begin(), presets.end(), value) == presets.end())
    return Wrong(absl::StrCat("preset=", value, " is not one of ", absl::StrJoin(presets, ", ")));
  source->special_preset = std::string(value);
  return absl::OkStatus();
}

absl::Status AddTokenizerOption(absl::string_view option, VocabularySource* source) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(option, absl::MaxSplits('=', 1));
  if (parts.first == "special") return AddSpecial(parts.second, source);
  if (parts.first == "preset") return SetPreset(parts.second, source);
  if (parts.first == "stop" && !parts.second.empty()) {
    source->stop_tokens.emplace_back(parts.second);
    return absl::OkStatus();
  }
  if (parts.first == "format" && !parts.second.empty()) {
    source->format = std::string(parts.second);
    return absl::OkStatus();
  }
  return Wrong(absl::StrCat("\"", option,
                            "\" is none of format=F, preset=NAME, special=TEXT:ID, stop=TEXT"));
}

}  // namespace

// Only the text is checked. The file is read by TokenizerStore::Load(), at the start or a reload.
absl::StatusOr<VocabularySource> ParseTokenizerFlag(absl::string_view value) {
  const std::vector<absl::string_view> parts = absl::StrSplit(value, ',');
  const std::pair<absl::string_view, absl::string_view> first =
      absl::StrSplit(parts[0], absl::MaxSplits('=', 1));
  VocabularySource source;
  source.name = std::string(first.first);
  source.path = std::string(first.second);
  if (source.name.empty()) return Wrong(absl::StrCat("\"", value, "\" is not NAME=PATH"));
  if (ValidUtf8(source.name) != source.name)
    return Wrong(absl::StrCat("the name \"", ValidUtf8(source.name), "\" is not UTF-8"));
  if (absl::StrContains(source.name, '/'))
    return Wrong(absl::StrCat("\"", value, "\" has no name for its vocabulary: NAME=", value));
  if (source.path.empty() && source.name != kEmbeddedTokenizer) {
    return Wrong(absl::StrCat("\"", value, "\" is not NAME=PATH, nor \"", kEmbeddedTokenizer,
                              "\", the embedded vocabulary"));
  }
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (absl::Status added = AddTokenizerOption(parts[i], &source); !added.ok()) return added;
  return source;
}

}  // namespace maskd::service
