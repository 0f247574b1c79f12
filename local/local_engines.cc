#include "local/local_engines.h"

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

#include "client/cpp/calls/local_engine.h"
#include "local/engine.h"
#include "service/base/log.h"
#include "service/config/tokenizer_flag.h"

namespace maskd::local {
namespace {

namespace fs = std::filesystem;

// Of the masks of one vocabulary and of compiled grammars: beside an engine's own memory.
constexpr std::int64_t kMaskStoreBytes = 256 << 20;
constexpr std::int64_t kCacheBytes = std::int64_t{1} << 30;

// One address: loaded by who asks first, while others of the same address wait.
struct Place {
  std::mutex mutex;
  std::weak_ptr<Engine> engine;
};

std::shared_ptr<Place> PlaceOf(const std::string& address) {
  static auto& mutex = *new std::mutex;
  static auto& places = *new std::unordered_map<std::string, std::shared_ptr<Place>>;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Place>& place = places[address];
  if (place == nullptr) place = std::make_shared<Place>();
  return place;
}

absl::StatusOr<std::shared_ptr<client::LocalEngine>> Find(const std::string& address) {
  const std::shared_ptr<Place> place = PlaceOf(address);
  const std::lock_guard lock(place->mutex);
  if (std::shared_ptr<Engine> there = place->engine.lock(); there != nullptr) return there;
  const absl::StatusOr<service::Config> config = ReadAddress(address);
  if (!config.ok()) return config.status();
  absl::StatusOr<std::shared_ptr<Engine>> made = Engine::Load(*config);
  if (!made.ok()) return made.status();
  place->engine = *made;
  return *std::move(made);
}

// What a model's folder has of these, the first.
fs::path VocabularyIn(const fs::path& folder) {
  std::error_code ignored;
  for (const char* const name : {"tokenizer.json", "tekken.json", "tokenizer.model"})
    if (fs::exists(folder / name, ignored)) return folder / name;
  return folder / "tokenizer.json";
}

// A path without a name is named after its file, or its folder.
std::string AsFlag(absl::string_view value) {
  const absl::string_view first = value.substr(0, value.find(','));
  if (absl::StrContains(first, "=") || first == service::kEmbeddedTokenizer)
    return std::string(value);
  const std::string rest(value.substr(first.size()));
  fs::path path = std::string(first);
  if (!path.has_filename()) path = path.parent_path();
  const std::string name = path.stem().string();
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) path = VocabularyIn(path);
  return absl::StrCat(name, "=", path.string(), rest);
}

}  // namespace

void Enable() {
  service::SilenceLog();
  client::UseLocalEngines(&Find);
}

absl::StatusOr<service::Config> ReadAddress(absl::string_view address) {
  service::Config config;
  config.mask_store_bytes = kMaskStoreBytes;
  config.cache_bytes = kCacheBytes;
  absl::ConsumePrefix(&address, "local:");
  for (const absl::string_view value : absl::StrSplit(address, ';', absl::SkipEmpty())) {
    absl::StatusOr<VocabularySource> source = service::ParseTokenizerFlag(AsFlag(value));
    if (!source.ok()) {
      return absl::Status(source.status().code(),
                          absl::StrCat("address: local: ", source.status().message()));
    }
    config.tokenizers.push_back(*std::move(source));
  }
  return config;
}

}  // namespace maskd::local
