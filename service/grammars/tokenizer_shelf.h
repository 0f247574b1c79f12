// The tokenizers that are served now: a store that a reload may put another in the place of.
//
// Ownership  who uses a tokenizer holds the store that it is of. A store's vocabulary goes when its
//            last user and its last grammar have.
// Threads    any.
#ifndef MASKD_SERVICE_GRAMMARS_TOKENIZER_SHELF_H_
#define MASKD_SERVICE_GRAMMARS_TOKENIZER_SHELF_H_

#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"

#include "grammar_core/base/mutex.h"
#include "service/grammars/tokenizer_store.h"

namespace maskd::service {

using TokenizerStorePtr = std::shared_ptr<const TokenizerStore>;

// The tokenizers that are offered now.
class TokenizerShelf {
 public:
  // `store` must not be null.
  explicit TokenizerShelf(TokenizerStorePtr store) : store_(std::move(store)) {}

  // Never null.
  [[nodiscard]] TokenizerStorePtr now() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(&mutex_);
    return store_;
  }
  // Calls that have the one before go on with it.
  void Replace(TokenizerStorePtr store) ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(&mutex_);
    store_.swap(store);
  }

 private:
  mutable Mutex mutex_;
  TokenizerStorePtr store_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_GRAMMARS_TOKENIZER_SHELF_H_
