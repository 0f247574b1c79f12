// The sources that the page has compiled last, by grammar id: to say where in them a rule stands.
//
// Bounds   kMost sources of kMostBytes together; the one that was used longest ago goes. A parsed
//          source takes some thirty times its bytes at worst.
// Threads  internally synchronised; a source is immutable.
#ifndef MASKD_PLAYGROUND_SOURCES_H_
#define MASKD_PLAYGROUND_SOURCES_H_

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

#include "reasons/source_reason.h"

namespace maskd::playground {

using reasons::Source;

// Shared by all handlers; a source that one holds lives on when it is dropped here.
class Sources {
 public:
  static constexpr std::size_t kMost = 16;
  static constexpr std::size_t kMostBytes = 2 << 20;  // but for the last one, which is always kept

  // Replaces an earlier one of that id.
  void Keep(const std::string& grammar_id, absl::string_view kind, const std::string& text)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Null where it is not kept.
  [[nodiscard]] std::shared_ptr<const Source> Find(const std::string& grammar_id)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::Mutex mutex_;
  // The one used last first.
  std::list<std::pair<std::string, std::shared_ptr<const Source>>> kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace maskd::playground

#endif  // MASKD_PLAYGROUND_SOURCES_H_
