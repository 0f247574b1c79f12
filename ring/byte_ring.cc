#include "ring/byte_ring.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"

namespace maskd::ring {
namespace {

absl::Status Broken() {
  return absl::DataLossError("shared memory: the other side says what cannot be");
}

}  // namespace

absl::StatusOr<std::size_t> RingWriter::Write(absl::string_view from) {
  const std::uint32_t held = written_ - words_->read.load();
  if (held > bytes_.size()) return Broken();
  if (from.empty()) return 0;  // its data may be null, which memcpy may not be given
  const std::size_t count = std::min(from.size(), bytes_.size() - held);
  const std::size_t at = written_ & (bytes_.size() - 1);
  const std::size_t first = std::min(count, bytes_.size() - at);
  std::memcpy(bytes_.data() + at, from.data(), first);
  std::memcpy(bytes_.data(), from.data() + first, count - first);
  written_ += static_cast<std::uint32_t>(count);
  return count;
}

absl::StatusOr<std::size_t> RingReader::Read(std::size_t most, std::string* to) {
  const std::uint32_t held = words_->written.load() - read_;
  if (held > bytes_.size()) return Broken();
  const std::size_t count = std::min<std::size_t>(most, held);
  const std::size_t at = read_ & (bytes_.size() - 1);
  const std::size_t first = std::min(count, bytes_.size() - at);
  to->append(reinterpret_cast<const char*>(bytes_.data()) + at, first);
  to->append(reinterpret_cast<const char*>(bytes_.data()), count - first);
  read_ += static_cast<std::uint32_t>(count);
  words_->read.store(read_);
  return count;
}

}  // namespace maskd::ring
