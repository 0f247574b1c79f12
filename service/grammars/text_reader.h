// From a grammar's text to the id of its grammar, which takes longer than all else that a call for
// a known grammar does.
//
// Known    ids of the texts that were read last, by a hash of their bytes: a text that comes again,
//          as engines send it with each request, is not read again.
// Read     a short text by whoever brings it. A longer one by threads of a low priority, once for
//          all who bring it meanwhile, in turns of their callers: a thousand who come at once take
//          the processor from nobody's step, and a text that nobody can compile is not read.
// Threads  any. A caller waits for its text, a millisecond for 100 KB, behind those before it.
#ifndef MASKD_SERVICE_GRAMMARS_TEXT_READER_H_
#define MASKD_SERVICE_GRAMMARS_TEXT_READER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cache/work_pool.h"
#include "grammar_core/base/mutex.h"
#include "grammar_core/frontend/parsed_source.h"

namespace maskd::service {

// What has been read, and who reads.
class TextReader {
 public:
  // Bytes of a text whose compile is short: six schemas of ten, of which none took 10 ms.
  static constexpr std::size_t kShortBytes = 1024;
  // Texts whose ids are kept at least, and at most twice as many; some 300 bytes each.
  static constexpr std::size_t kMaxKnown = 4096;

  // A text that was read.
  struct Text {
    std::string id;
    // What was read of it; nothing where others have that, or had.
    std::optional<ParsedSource> parsed;
  };
  // Reads one text. Errors: its own.
  using Read = std::function<absl::StatusOr<Text>()>;

  // `thread_count` of at least 0; at 0 whoever brings a text reads it.
  explicit TextReader(int thread_count);
  TextReader(const TextReader&) = delete;
  TextReader& operator=(const TextReader&) = delete;

  // The text whose bytes have that hash (SourceHash()): known, or read by `read`, which others may
  // share. Errors: those of `read`, RESOURCE_EXHAUSTED where memory ran out.
  absl::StatusOr<Text> Get(const std::string& hash, const Read& read,
                           const cache::WorkPool::Turn& turn) ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether Get() would read nothing, or what is being read already.
  [[nodiscard]] bool Knows(const std::string& hash) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Long texts that are being read or wait for it, each once.
  [[nodiscard]] std::size_t reading() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Ids = absl::flat_hash_map<std::string, std::string>;
  // A text that is being read. Guarded by mutex_.
  struct Reading {
    bool done = false;
    absl::StatusOr<Text> text = absl::UnknownError("still being read");
    CondVar landed;
  };

  // Empty where it is not known.
  std::string Find(const std::string& hash) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Keep(const std::string& hash, const std::string& id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Land(const std::string& hash, const std::shared_ptr<Reading>& reading,
            absl::StatusOr<Text> text) ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits. What was read is the first one's; the others have its id.
  absl::StatusOr<Text> Await(Reading* reading, bool is_first) ABSL_LOCKS_EXCLUDED(mutex_);

  mutable Mutex mutex_;
  Ids young_ ABSL_GUARDED_BY(mutex_);
  Ids old_ ABSL_GUARDED_BY(mutex_);  // of when those were last full
  absl::flat_hash_map<std::string, std::shared_ptr<Reading>> reading_ ABSL_GUARDED_BY(mutex_);
  std::optional<cache::WorkPool> threads_;  // last: they use all of the above
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_GRAMMARS_TEXT_READER_H_
