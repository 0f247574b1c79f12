#include "client/cpp/masks/mask_storage.h"

namespace maskd::client {

void MaskStorage::Clear() {
  pool->Clear();
  stored.clear();
  used_ids = 0;
  biases.clear();
}

std::vector<std::int32_t>& MaskStorage::TakeIds() {
  if (used_ids == ids.size()) ids.emplace_back();
  return ids[used_ids++];
}

}  // namespace maskd::client
