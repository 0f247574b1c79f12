// Decode streams that are used again: opening one takes a connection and a greeting.
//
// Rows     a stream that was given back has the rows kAlong and kHere open. The next step closes
//          them; a server closes before it opens.
// Bounds   so many streams wait as the constructor was told.
// Threads  internally synchronised; a stream that was taken belongs to one thread.
#ifndef MASKD_PLAYGROUND_STREAMS_H_
#define MASKD_PLAYGROUND_STREAMS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

#include "client/cpp/client.h"
#include "playground/vocabularies.h"

namespace maskd::playground {

// What Take() gives; give it back only where all went well.
struct TakenStream {
  std::unique_ptr<client::MaskStream> stream;
  bool was_used = false;  // its two rows are open
};

// Of all tokenizers together.
class Streams {
 public:
  // `client` outlives this.
  Streams(const client::Client& client, std::size_t most_idle)
      : client_(client), most_idle_(most_idle) {}

  // A stream of that very vocabulary which waits, or a new one. Errors: those of
  // Client::OpenStream(), FAILED_PRECONDITION where the server has another vocabulary by now.
  absl::StatusOr<TakenStream> Take(const std::string& tokenizer, const Vocabulary& vocabulary)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // A stream on which all went well, with both rows open.
  void Give(const std::string& tokenizer, std::unique_ptr<client::MaskStream> stream)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Says goodbye, so that the server counts no stream that broke off.
  static void End(std::unique_ptr<client::MaskStream> stream);
  // Ends those that wait, and from now on each that is given back.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);

  // For calls that need no stream.
  [[nodiscard]] const client::Client& client() const { return client_; }

 private:
  const client::Client& client_;
  const std::size_t most_idle_;
  absl::Mutex mutex_;
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
  // By the tokenizer's name.
  std::vector<std::pair<std::string, std::unique_ptr<client::MaskStream>>> idle_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace maskd::playground

#endif  // MASKD_PLAYGROUND_STREAMS_H_
