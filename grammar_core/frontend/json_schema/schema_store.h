// Schemas that were read, so that those of tools which many requests have are read once.
//
// Key      the schema's text without white space, the options and the limits, compared whole. What
//          says nothing of values (titles, descriptions) must have been left out of the text
//          before (chat/plain_schema.h). A text that is shared is neither copied nor hashed again.
// Members  of objects (member_schemas.h) are schemas that are kept, too, but not counted.
// Texts    of schemas, by what they stand for in sources: making one is half of finding a schema.
// Places   in what is kept they are those of the schema's own text.
// Work     what is found costs the budget what reading it took, and is not used where that is more
//          than there is left. So verdicts, and the work that they took, are the same whether a
//          schema was known or not. Errors are not kept: a schema that has one is read again.
// Bounds   bytes; what was used longest ago goes first. A schema that would take an eighth of them
//          is not kept.
// Threads  internally synchronised; schemas are read outside of the lock. Two threads may read the
//          same one at the same time.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_SCHEMA_STORE_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_SCHEMA_STORE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/base/mutex.h"
#include "grammar_core/base/shared_text.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json_schema/known_schema.h"
#include "grammar_core/frontend/json_schema/rules/schema_values.h"

namespace maskd {

class SchemaStore {
 public:
  explicit SchemaStore(std::int64_t max_bytes) : max_bytes_(max_bytes) {}

  // What reading depends on beside the text. Looked up once for many schemas.
  struct Settings;
  using SettingsRef = std::shared_ptr<const Settings>;
  SettingsRef SettingsOf(const GrammarOptions& options, SchemaValues values, const Limits& limits)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // What ReadJsonSchema() makes of `schema`. Errors: its. A store without bytes keeps nothing and
  // does the same work.
  absl::StatusOr<SchemaRef> Read(const SharedText& schema, const Settings& settings, Budget& budget)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // That one if it is known, for KnownSchema::Fetch(): it counts as no use of it.
  SchemaRef Peek(const SharedText& schema, const Settings& settings) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // What `make` makes of `source`, an array or object that was read as JSON, and of nothing else.
  SharedText Text(absl::string_view source, absl::FunctionRef<std::string()> make)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // The same where it was made before; else null.
  SharedText KnownText(absl::string_view source) ABSL_LOCKS_EXCLUDED(mutex_);

  // Forgets what was used longest ago until it holds at most `to_bytes`.
  void Shrink(std::int64_t to_bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  // Forgets all, and what it has counted: as it was made.
  void Reset() ABSL_LOCKS_EXCLUDED(mutex_);

  struct Stats {
    std::int64_t schemas = 0;     // without texts
    std::int64_t held_bytes = 0;  // roughly
    std::int64_t hits = 0;
    std::int64_t misses = 0;
  };
  [[nodiscard]] Stats stats() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // A text is the reading 0 of a source; schemas and members have a reading for all settings.
  struct Key {
    std::int64_t reading;
    HashedText text;
    bool operator==(const Key&) const = default;
    template <typename H>
    friend H AbslHashValue(H state, const Key& key) {
      return H::combine(std::move(state), key.reading, key.text);
    }
  };
  // A schema, that of a member, or a text.
  struct Entry {
    std::int64_t reading = 0;
    SharedText source;
    SchemaRef read = nullptr;
    SharedText text = {};
    std::int64_t work = 0;
    std::int64_t bytes = 0;
    [[nodiscard]] Key key() const { return {reading, source.hashed()}; }
    [[nodiscard]] bool is_counted() const { return read != nullptr && read->steps.ends.empty(); }
  };
  using Entries = std::list<Entry>;

  struct Known {
    SchemaRef read;
    std::int64_t work = 0;
  };
  Known Find(const Key& key, bool is_counted) ABSL_LOCKS_EXCLUDED(mutex_);
  // Those with this key, now the ones used last; null where there are none.
  SettingsRef UseSettings(absl::string_view key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // That reading of `schema`, or what `read` reads, which is kept; either way with its work.
  absl::StatusOr<SchemaRef> FindOrRead(std::int64_t reading, const SharedText& schema,
                                       bool is_counted, Budget& budget,
                                       absl::FunctionRef<absl::StatusOr<KnownSchema>()> read)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Reads a schema that is not known, and that of a member.
  absl::StatusOr<KnownSchema> ReadNew(const std::string& schema, const Settings& settings,
                                      Budget& budget) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<SchemaRef> ReadMember(absl::string_view schema, const Settings& settings,
                                       Budget& budget) ABSL_LOCKS_EXCLUDED(mutex_);
  SharedText FindText(const HashedText& source) ABSL_LOCKS_EXCLUDED(mutex_);
  // The entry, now the one used last; null where there is none.
  const Entry* Use(const Key& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Keep(Entry entry) ABSL_LOCKS_EXCLUDED(mutex_);
  // What goes, to be ended outside of the lock.
  Entries TakeAbove(std::int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::int64_t max_bytes_;
  mutable Mutex mutex_;
  Entries entries_ ABSL_GUARDED_BY(mutex_);  // the last one used first
  // Keys are views of those of the entries.
  absl::flat_hash_map<Key, Entries::iterator> by_key_ ABSL_GUARDED_BY(mutex_);
  std::int64_t held_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::int64_t schemas_ ABSL_GUARDED_BY(mutex_) = 0;
  std::int64_t hits_ ABSL_GUARDED_BY(mutex_) = 0;
  std::int64_t misses_ ABSL_GUARDED_BY(mutex_) = 0;
  // Few, which are small; the last ones used first.
  std::vector<SettingsRef> settings_ ABSL_GUARDED_BY(mutex_);
  std::int64_t next_settings_ ABSL_GUARDED_BY(mutex_) = 0;
};

struct SchemaStore::Settings {
  std::string key;          // of options, values and limits
  std::int64_t number = 0;  // of this key and no other one, ever
  GrammarOptions options;
  SchemaValues values;
  Limits limits;
  // What all schemas with these begin with; null where the limits have no room for it.
  std::shared_ptr<const SchemaBeginning> beginning;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_SCHEMA_STORE_H_
