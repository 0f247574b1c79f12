// Reads the masks of a stream's replies, in every row form, and keeps the stream's dictionary. For
// this library's own files.
//
// Order    every reply of the stream passes through its one reader, in order: a reply may put masks
//          into the dictionary that later ones name.
// Errors   INTERNAL: a position that is not as the protocol says. Nothing that a server sends is
//          trusted: ids, slots and indices are checked before they are used.
// Threads  one thread at a time.
#ifndef MASKD_CLIENT_CPP_MASKS_MASK_READER_H_
#define MASKD_CLIENT_CPP_MASKS_MASK_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "client/cpp/masks/mask_storage.h"
#include "client/cpp/masks/mask_view.h"
#include "client/cpp/masks/position_fields.h"
#include "maskd/v1/mask_service.pb.h"
#include "protos/wire_fields.h"

namespace maskd::client {

// One for each stream, as the dictionary is.
class MaskReader {
 public:
  // Its sizes are those of the welcome.
  explicit MaskReader(const v1::Welcome& welcome);

  // Reads the Position that the rest of `in`, up to its limit, is. The view lives as long as
  // `storage`.
  absl::StatusOr<MaskView> Read(WireInput& in, MaskStorage& storage);

  // int32 words of a dense mask.
  [[nodiscard]] std::int64_t mask_words() const { return mask_words_; }
  // Tokens that the masks speak of.
  [[nodiscard]] std::int64_t vocab_size() const { return vocab_size_; }

 private:
  // These read fields_.
  absl::StatusOr<MaskView> ReadForm(MaskStorage& storage) const;
  absl::Status ReadTuning(MaskStorage& storage, MaskView& mask) const;
  absl::StatusOr<MaskView> ReadDense() const;
  absl::StatusOr<MaskView> ReadIds(MaskView::Form form, MaskStorage& storage) const;
  absl::StatusOr<MaskView> ReadSame(MaskStorage& storage) const;
  absl::StatusOr<MaskView> ReadDelta(MaskStorage& storage) const;
  static MaskView Invalid();
  // A view of a stored mask, whose words are made in `storage` where it is a short list.
  MaskView ViewOf(const StoredMask& stored, const MaskStorage& storage) const;
  absl::StatusOr<std::shared_ptr<const StoredMask>> Find(std::uint32_t slot) const;
  absl::Status Put(std::uint32_t slot, MaskView& mask);

  std::int64_t mask_words_;
  std::int64_t vocab_size_;
  std::vector<std::shared_ptr<const StoredMask>> dictionary_;  // null: nothing put there yet
  PositionFields fields_;                                      // of the position that is read
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_MASKS_MASK_READER_H_
