// Which grammar a text is, for texts that came before: a text's id is the hash of its normal form,
// which takes reading all of it, and most requests bring a text that another one has brought.
//
// Bounds   `max_entries` of two hashes each, some 350 bytes; the least recently used goes first. A
//          text that was forgotten is read again: a caller who brings many costs others that alone.
// Threads  any.
#ifndef MASKD_CACHE_KNOWN_TEXTS_H_
#define MASKD_CACHE_KNOWN_TEXTS_H_

#include <cstddef>
#include <list>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/mutex.h"

namespace maskd::cache {

// Asked before a text is read; told when it was.
class KnownTexts {
 public:
  // At least 1.
  explicit KnownTexts(std::size_t max_entries) : max_entries_(max_entries) {}

  // The id of the grammar whose text has the hash `text`, if it is kept. That counts as a use.
  std::optional<std::string> Find(absl::string_view text) ABSL_LOCKS_EXCLUDED(mutex_);

  // Keeps `id` for `text`, as the most recently used; does nothing when one is kept already.
  void Put(const std::string& text, const std::string& id) ABSL_LOCKS_EXCLUDED(mutex_);

  [[nodiscard]] std::size_t size() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Entry {
    std::string text;
    std::string id;
  };

  const std::size_t max_entries_;
  mutable Mutex mutex_;
  std::list<Entry> entries_ ABSL_GUARDED_BY(mutex_);  // most recently used first
  // Keys view the entries.
  absl::flat_hash_map<absl::string_view, std::list<Entry>::iterator> by_text_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace maskd::cache

#endif  // MASKD_CACHE_KNOWN_TEXTS_H_
