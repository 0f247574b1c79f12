// The unit that requests share is the IR of one tool's schema, before anything of the request is in
// it: the call around it, the markers, the style, the places. It is the dearest part of a compile
// with tools, and depends on nothing but the text, the options and the limits. Who asks copies its
// nodes into the grammar of the request, as it would copy those of a schema that was just read.
// So a grammar cannot tell whether one of its schemas was known.
//
// Cost  a key of the text and a look-up. A new schema is read, and each of its nodes hashed: nodes
//       that schemas of a request share are found by that, and copied once.
#include "grammar_core/frontend/json_schema/schema_store.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/held_bytes.h"
#include "grammar_core/frontend/json_schema/json_schema.h"
#include "grammar_core/frontend/json_schema/member_schemas.h"
#include "grammar_core/frontend/json_schema/rules/schema_beginning.h"

namespace maskd {
namespace {

// A part of the capacity that is too much for one schema.
constexpr std::int64_t kTooLargePart = 8;
// What an entry takes beside its key and its IR: nodes of the list and the table, allocations.
constexpr std::int64_t kBytesAnEntry = 256;
// Options and limits that are known at once: each with what its schemas begin with, some 10 KiB.
constexpr std::size_t kMostSettings = 16;

void AppendText(const std::optional<std::string>& text, std::string* key) {
  if (text.has_value()) absl::StrAppend(key, text->size(), ":", *text);
  key->push_back(';');
}

void AppendCount(const std::optional<std::int32_t>& count, std::string* key) {
  if (count.has_value()) absl::StrAppend(key, *count);
  key->push_back(';');
}

// All fields by name, so that one that is added later is an error here.
void AppendOptions(const GrammarOptions& options, std::string* key) {
  const auto& [white_space, max_whitespace, indent, item_separator, key_separator, property_order,
               spelling, strictness, additional_properties, max_number_digits, formats, max_tokens,
               max_characters] = options;
  absl::StrAppend(key, static_cast<int>(white_space), ",", max_whitespace, ",",
                  static_cast<int>(property_order), ",", static_cast<int>(spelling), ",",
                  static_cast<int>(strictness), ",", static_cast<int>(additional_properties), ",",
                  max_number_digits, ",", static_cast<int>(formats), ";");
  AppendCount(indent, key);
  AppendText(item_separator, key);
  AppendText(key_separator, key);
  AppendCount(max_tokens, key);
  AppendCount(max_characters, key);
}

void AppendLimits(const Limits& limits, std::string* key) {
  static_assert(std::has_unique_object_representations_v<Limits>);
  key->append(reinterpret_cast<const char*>(&limits), sizeof(limits));
}

// What reading depends on beside the text.
std::string SettingsKey(const GrammarOptions& options, SchemaValues values, const Limits& limits) {
  std::string key;
  key.reserve(sizeof(limits) + 64);
  absl::StrAppend(&key, static_cast<int>(values), ";");
  AppendOptions(options, &key);
  AppendLimits(limits, &key);
  return key;
}

// Takes what reading took, or nothing where there is not so much left.
bool Pay(std::int64_t work, Budget* budget) {
  Budget trial = *budget;
  if (!trial.Spend(work).ok()) return false;
  *budget = trial;
  return true;
}

// The number of a reading; 0 is that of a text.
constexpr std::int64_t ReadingOf(std::int64_t settings, bool is_member) {
  return 2 * settings + (is_member ? 2 : 1);
}

}  // namespace

absl::StatusOr<SchemaRef> SchemaStore::Read(const SharedText& schema, const Settings& settings,
                                            Budget& budget) {
  return FindOrRead(ReadingOf(settings.number, false), schema, true, budget,
                    [&] { return ReadNew(schema.text(), settings, budget); });
}

SchemaRef SchemaStore::Peek(const SharedText& schema, const Settings& settings) const {
  const MutexLock lock(&mutex_);
  const auto found = by_key_.find({ReadingOf(settings.number, false), schema.hashed()});
  return found == by_key_.end() ? nullptr : found->second->read;
}

absl::StatusOr<SchemaRef> SchemaStore::FindOrRead(
    std::int64_t reading, const SharedText& schema, bool is_counted, Budget& budget,
    absl::FunctionRef<absl::StatusOr<KnownSchema>()> read) {
  if (Known known = Find({reading, schema.hashed()}, is_counted);
      known.read != nullptr && Pay(known.work, &budget)) {
    return known.read;
  }
  const std::int64_t before = budget.spent();
  absl::StatusOr<KnownSchema> made = read();
  if (!made.ok()) return made.status();
  auto shared = std::make_shared<const KnownSchema>(*std::move(made));
  const std::int64_t bytes = kBytesAnEntry + HeldBytes(schema.text()) + shared->held_bytes();
  Keep({.reading = reading,
        .source = schema,
        .read = shared,
        .work = budget.spent() - before,
        .bytes = bytes});
  return shared;
}

absl::StatusOr<KnownSchema> SchemaStore::ReadNew(const std::string& schema,
                                                 const Settings& settings, Budget& budget) {
  absl::StatusOr<JsonDocument> document = JsonDocument::Parse(schema, settings.limits);
  if (!document.ok()) return document.status();
  const SchemaBeginning* const beginning = settings.beginning.get();
  if (settings.values == SchemaValues::kInline && beginning != nullptr) {
    std::optional<KnownSchema> joined =
        JoinMembers(document->root(), settings.options, *beginning, settings.limits, budget,
                    [&](absl::string_view text) { return ReadMember(text, settings, budget); });
    if (joined.has_value()) return *std::move(joined);
  }
  absl::StatusOr<ReadResult> read =
      ReadJsonSchema(*std::move(document), {"json_schema", schema, settings.options},
                     settings.limits, budget, settings.values, {.beginning = beginning});
  if (!read.ok()) return read.status();
  return KnownSchema(*std::move(read),
                     beginning == nullptr ? std::vector<Hash128>() : beginning->hashes);
}

absl::StatusOr<SchemaRef> SchemaStore::ReadMember(absl::string_view schema,
                                                  const Settings& settings, Budget& budget) {
  const SchemaBeginning& beginning = *settings.beginning;
  const SharedText text{std::string(schema)};
  const auto read = [&]() -> absl::StatusOr<KnownSchema> {
    absl::StatusOr<JsonDocument> document = JsonDocument::Parse(schema, settings.limits);
    if (!document.ok()) return document.status();
    SchemaSteps steps;
    absl::StatusOr<ReadResult> result = ReadJsonSchema(
        *std::move(document), {"json_schema", text.text(), settings.options}, settings.limits,
        budget, SchemaValues::kInline, {.beginning = &beginning, .steps = &steps});
    if (!result.ok()) return result.status();
    return KnownSchema(*std::move(result), std::move(steps), beginning.hashes);
  };
  return FindOrRead(ReadingOf(settings.number, true), text, false, budget, read);
}

// A number is shorter than what it stands for, which is in the keys of all schemas. Schemas under a
// number that is forgotten are found no more, and go as the oldest ones do.
SchemaStore::SettingsRef SchemaStore::SettingsOf(const GrammarOptions& options, SchemaValues values,
                                                 const Limits& limits) {
  std::string key = SettingsKey(options, values, limits);
  {
    const MutexLock lock(&mutex_);
    if (SettingsRef known = UseSettings(key); known != nullptr) return known;
  }
  auto beginning = std::make_shared<const SchemaBeginning>(options, limits);
  if (!beginning->builder.status().ok()) beginning = nullptr;
  const MutexLock lock(&mutex_);
  if (SettingsRef known = UseSettings(key); known != nullptr) return known;
  if (settings_.size() == kMostSettings) settings_.pop_back();
  settings_.insert(settings_.begin(),
                   std::make_shared<const Settings>(Settings{.key = std::move(key),
                                                             .number = next_settings_++,
                                                             .options = options,
                                                             .values = values,
                                                             .limits = limits,
                                                             .beginning = std::move(beginning)}));
  return settings_.front();
}

SchemaStore::SettingsRef SchemaStore::UseSettings(absl::string_view key) {
  const auto known = std::ranges::find(
      settings_, key, [](const SettingsRef& one) { return absl::string_view(one->key); });
  if (known == settings_.end()) return nullptr;
  std::rotate(settings_.begin(), known, known + 1);
  return settings_.front();
}

SharedText SchemaStore::Text(absl::string_view source, absl::FunctionRef<std::string()> make) {
  assert(!source.empty() && (source[0] == '{' || source[0] == '['));
  const HashedText hashed(source);
  if (SharedText known = FindText(hashed); !known.is_null()) return known;
  SharedText text(make());
  const auto bytes = kBytesAnEntry + static_cast<std::int64_t>(source.size() + text.text().size());
  Keep({.source = SharedText(std::string(source), hashed.hash), .text = text, .bytes = bytes});
  return text;
}

SharedText SchemaStore::KnownText(absl::string_view source) { return FindText(HashedText(source)); }

const SchemaStore::Entry* SchemaStore::Use(const Key& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return &entries_.front();
}

SharedText SchemaStore::FindText(const HashedText& source) {
  const MutexLock lock(&mutex_);
  const Entry* const entry = Use({0, source});
  return entry == nullptr ? SharedText() : entry->text;
}

SchemaStore::Known SchemaStore::Find(const Key& key, bool is_counted) {
  const MutexLock lock(&mutex_);
  const Entry* const entry = Use(key);
  if (is_counted) ++(entry == nullptr ? misses_ : hits_);
  return entry == nullptr ? Known() : Known{entry->read, entry->work};
}

void SchemaStore::Keep(Entry entry) {
  Entries dropped;
  if (entry.bytes > max_bytes_ / kTooLargePart) return;
  const MutexLock lock(&mutex_);
  if (by_key_.contains(entry.key())) return;
  dropped = TakeAbove(max_bytes_ - entry.bytes);
  held_bytes_ += entry.bytes;
  if (entry.is_counted()) ++schemas_;
  entries_.push_front(std::move(entry));
  by_key_.emplace(entries_.front().key(), entries_.begin());
}

SchemaStore::Entries SchemaStore::TakeAbove(std::int64_t bytes) {
  Entries taken;
  while (held_bytes_ > bytes && !entries_.empty()) {
    held_bytes_ -= entries_.back().bytes;
    if (entries_.back().is_counted()) --schemas_;
    by_key_.erase(entries_.back().key());
    taken.splice(taken.begin(), entries_, std::prev(entries_.end()));
  }
  assert((!entries_.empty() || held_bytes_ == 0) && "bytes that no entry has");
  return taken;
}

void SchemaStore::Shrink(std::int64_t to_bytes) {
  Entries dropped;
  const MutexLock lock(&mutex_);
  dropped = TakeAbove(to_bytes);
}

void SchemaStore::Reset() {
  Shrink(0);
  const MutexLock lock(&mutex_);
  settings_.clear();
  hits_ = 0;
  misses_ = 0;
}

SchemaStore::Stats SchemaStore::stats() const {
  const MutexLock lock(&mutex_);
  return {.schemas = schemas_, .held_bytes = held_bytes_, .hits = hits_, .misses = misses_};
}

}  // namespace maskd
