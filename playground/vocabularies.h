// The tokens of a server's tokenizers, asked for once each and again when the server has others.
//
// Bounds   kMost vocabularies; the one that was used longest ago goes.
// Threads  internally synchronised; a vocabulary is immutable once it is there.
#ifndef MASKD_PLAYGROUND_VOCABULARIES_H_
#define MASKD_PLAYGROUND_VOCABULARIES_H_

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

#include "client/cpp/client.h"
#include "grammar_core/tokenizer/text_splitter.h"

namespace maskd::playground {

// A tokenizer's tokens by id, and what cuts a text into them.
struct Vocabulary {
  v1::Tokenizer tokenizer;
  std::vector<v1::Token> tokens;
  TextSplitter splitter;  // over `tokens`

  // Linear in the tokenizer's stop ids, which are few.
  [[nodiscard]] bool IsStop(client::TokenId id) const;
};

using VocabularyPtr = std::shared_ptr<const Vocabulary>;

// Asks for a hash first, so a known vocabulary costs one small call.
class Vocabularies {
 public:
  static constexpr std::size_t kMost = 2;

  // `client` outlives this.
  explicit Vocabularies(const client::Client& client) : client_(client) {}

  // By name; empty is the server's default. Errors: those of the server.
  absl::StatusOr<VocabularyPtr> Get(const std::string& name) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::StatusOr<VocabularyPtr> Fetch(v1::Tokenizer tokenizer) const;

  const client::Client& client_;
  absl::Mutex mutex_;  // held while one is fetched: others wait for it
  std::list<VocabularyPtr> known_ ABSL_GUARDED_BY(mutex_);  // the one used last first
};

}  // namespace maskd::playground

#endif  // MASKD_PLAYGROUND_VOCABULARIES_H_
