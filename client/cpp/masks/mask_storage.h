// Where the masks of replies lie while a StepResult shows them. For this library's own files.
//
// Threads  one thread at a time; a StoredMask is shared and does not change.
#ifndef MASKD_CLIENT_CPP_MASKS_MASK_STORAGE_H_
#define MASKD_CLIENT_CPP_MASKS_MASK_STORAGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "client/cpp/masks/mask_view.h"

namespace maskd::client {

// A mask of the dictionary. It stays as it is while a StepResult shows it, whatever its slot holds
// by then.
struct StoredMask {
  MaskView::Form form = MaskView::Form::kDense;
  std::vector<std::int32_t> ids = {};    // of the forms that are lists
  std::vector<std::int32_t> words = {};  // of the others, and of long lists
  std::uint64_t serial = 0;
};

// What the masks of one reply point into: kept from reply to reply. A value that moves leaves the
// views as they are.
struct MaskStorage {
  // Forgets the masks and keeps the memory.
  void Clear();
  // A new list, for one mask.
  std::vector<std::int32_t>& TakeIds();

  std::unique_ptr<WordPool> pool;
  std::vector<std::shared_ptr<const StoredMask>> stored;
  std::vector<std::vector<std::int32_t>> ids;  // those before used_ids are in use
  std::size_t used_ids = 0;
  std::vector<std::vector<LogitBias>> biases;
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_MASKS_MASK_STORAGE_H_
