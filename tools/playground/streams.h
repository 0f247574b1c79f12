// Decode streams that are used again: opening one takes a connection and a greeting.
//
// Rows     a stream that was given back has the rows kAlong and kHere open. The next step closes
//          them; a server closes before it opens.
// Bounds   kMostIdle streams wait.
// Threads  internally synchronised; a stream that was taken belongs to one thread.
#ifndef MASKD_TOOLS_PLAYGROUND_STREAMS_H_
#define MASKD_TOOLS_PLAYGROUND_STREAMS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

#include "client/cpp/client.h"
#include "tools/playground/vocabularies.h"

namespace maskd::playground {

struct TakenStream {
  std::unique_ptr<client::MaskStream> stream;
  bool was_used = false;  // its two rows are open
};

class Streams {
 public:
  static constexpr std::size_t kMostIdle = 8;

  // `client` outlives this.
  explicit Streams(const client::Client& client) : client_(client) {}

  // A stream that waits, or a new one. Errors: those of Client::OpenStream().
  absl::StatusOr<TakenStream> Take(const std::string& tokenizer, const Vocabulary& vocabulary)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // A stream on which all went well, with both rows open.
  void Give(const std::string& tokenizer, std::unique_ptr<client::MaskStream> stream)
      ABSL_LOCKS_EXCLUDED(mutex_);

  [[nodiscard]] const client::Client& client() const { return client_; }

 private:
  const client::Client& client_;
  absl::Mutex mutex_;
  // By the tokenizer's name.
  std::vector<std::pair<std::string, std::unique_ptr<client::MaskStream>>> idle_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace maskd::playground

#endif  // MASKD_TOOLS_PLAYGROUND_STREAMS_H_
