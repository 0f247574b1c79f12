// Reads the masks of a stream's replies, in every row form, and keeps the stream's dictionary. For
// this library's own files.
//
// Order    every reply of the stream passes through its one reader, in order: a reply may put masks
//          into the dictionary that later ones name.
// Errors   INTERNAL: a position that is not as the protocol says. Nothing that a server sends is
//          trusted: ids, slots and indices are checked before they are used.
// Threads  one thread at a time.
#ifndef MASKD_CLIENT_CPP_MASK_READER_H_
#define MASKD_CLIENT_CPP_MASK_READER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "client/cpp/mask_view.h"
#include "maskd/v1/mask_service.pb.h"

namespace maskd::client {

// A mask of the dictionary. It stays as it is while a StepResult shows it, whatever its slot holds
// by then.
struct StoredMask {
  MaskView::Form form = MaskView::Form::kDense;
  std::vector<std::int32_t> ids = {};    // of the forms that are lists
  std::vector<std::int32_t> words = {};  // of the others
};

// What the masks of one reply point into, beside the reply.
struct MaskStorage {
  std::unique_ptr<WordPool> pool;
  std::vector<std::shared_ptr<const StoredMask>> stored;
  std::deque<std::vector<LogitBias>> biases;
};

class MaskReader {
 public:
  explicit MaskReader(const v1::Welcome& welcome);

  // The view lives as long as `position` and `storage`.
  absl::StatusOr<MaskView> Read(const v1::Position& position, MaskStorage& storage);

  [[nodiscard]] std::int64_t mask_words() const { return mask_words_; }

 private:
  absl::StatusOr<MaskView> ReadForm(const v1::Position& position, MaskStorage& storage) const;
  absl::Status ReadTuning(const v1::Position& position, MaskStorage& storage, MaskView& mask) const;
  static MaskView Invalid();
  // A view of a stored mask, whose words are made in `storage` where it is a list.
  MaskView ViewOf(const StoredMask& stored, const MaskStorage& storage) const;
  absl::StatusOr<MaskView> ReadDense(const std::string& bytes) const;
  absl::StatusOr<MaskView> ReadIds(const v1::IdList& list, MaskView::Form form,
                                   MaskStorage& storage) const;
  absl::StatusOr<MaskView> ReadSame(std::uint32_t slot, MaskStorage& storage) const;
  absl::StatusOr<MaskView> ReadDelta(const v1::MaskDelta& delta, MaskStorage& storage) const;
  absl::StatusOr<std::shared_ptr<const StoredMask>> Find(std::uint32_t slot) const;
  absl::Status Put(std::uint32_t slot, const MaskView& mask);

  std::int64_t mask_words_;
  std::int64_t vocab_size_;
  std::vector<std::shared_ptr<StoredMask>> dictionary_;  // null: nothing put there yet
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_MASK_READER_H_
