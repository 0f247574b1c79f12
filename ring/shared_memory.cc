#include "ring/shared_memory.h"

#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace maskd::ring {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
constexpr std::uint32_t kLeastBytes = 4096;
constexpr std::uint32_t kMostBytes = 1U << 30;

bool IsRingSize(std::uint32_t bytes) {
  return std::has_single_bit(bytes) && bytes >= kLeastBytes && bytes <= kMostBytes;
}

}  // namespace

absl::Status CheckSizes(const RingSizes& sizes) {
  if (IsRingSize(sizes.to_server) && IsRingSize(sizes.to_client)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("shared memory: rings of ", sizes.to_server,
                                                 " and ", sizes.to_client, " bytes cannot be"));
}

absl::StatusOr<SharedMemory> SharedMemory::Create(const RingSizes& sizes) {
  if (absl::Status checked = CheckSizes(sizes); !checked.ok()) return checked;
  UniqueFd fd(memfd_create("maskd", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.is_open()) return absl::UnavailableError("shared memory: memfd_create fails");
  if (ftruncate(fd.get(), static_cast<off_t>(sizes.total())) != 0)
    return absl::ResourceExhaustedError("shared memory: cannot be made so large");
  if (fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0)
    return absl::UnavailableError("shared memory: cannot be sealed");
  absl::StatusOr<SharedMemory> made = MapChecked(std::move(fd), sizes);
  if (made.ok()) {
    made->charged_bytes_ = static_cast<std::int64_t>(sizes.total());
    alive_bytes_ += made->charged_bytes_;
  }
  return made;
}

absl::StatusOr<SharedMemory> SharedMemory::Map(UniqueFd fd, const RingSizes& sizes) {
  if (absl::Status checked = CheckSizes(sizes); !checked.ok()) return checked;
  const int seals = fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals)
    return absl::InvalidArgumentError("shared memory: its size is not sealed");
  struct stat file = {};
  if (fstat(fd.get(), &file) != 0 || file.st_size != static_cast<off_t>(sizes.total()))
    return absl::InvalidArgumentError("shared memory: is not of the size that was said");
  return MapChecked(std::move(fd), sizes);
}

absl::StatusOr<SharedMemory> SharedMemory::MapChecked(UniqueFd fd, const RingSizes& sizes) {
  void* const begin = mmap(nullptr, sizes.total(), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (begin == MAP_FAILED) return absl::ResourceExhaustedError("shared memory: cannot be mapped");
  return SharedMemory(std::move(fd), static_cast<std::uint8_t*>(begin), sizes);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : fd_(std::move(other.fd_)),
      begin_(std::exchange(other.begin_, nullptr)),
      sizes_(other.sizes_),
      charged_bytes_(std::exchange(other.charged_bytes_, 0)) {}

SharedMemory::~SharedMemory() {
  if (begin_ == nullptr) return;
  if (charged_bytes_ > 0) {
    madvise(begin_, sizes_.total(), MADV_REMOVE);
    alive_bytes_ -= charged_bytes_;
  }
  munmap(begin_, sizes_.total());
}

// Where the system's pages are larger than kLeastBytes, what does not begin with one stays.
void SharedMemory::GiveBack(const std::uint8_t* begin, std::size_t bytes) {
  if (bytes == 0) return;
  if (madvise(const_cast<std::uint8_t*>(begin), bytes, MADV_REMOVE) != 0) return;
  charged_bytes_ -= static_cast<std::int64_t>(bytes);
  alive_bytes_ -= static_cast<std::int64_t>(bytes);
}

void SharedMemory::GiveBackAllButUnread() {
  if (charged_bytes_ != static_cast<std::int64_t>(sizes_.total())) return;
  GiveBack(to_server().data(), to_server().size());
  const std::span<std::uint8_t> ring = to_client();
  const std::uint32_t written = words().to_client.written.load();
  const std::uint32_t unread = written - words().to_client.read.load();
  if (unread == 0 || unread > ring.size()) return GiveBack(ring.data(), ring.size());
  const std::size_t mask = ring.size() - 1;
  const std::size_t first = (written - unread) & mask;
  const std::size_t last = (written - 1) & mask;
  const std::size_t begin = first & ~std::size_t{kLeastBytes - 1};
  const std::size_t end = (last | (kLeastBytes - 1)) + 1;
  if (first <= last) {
    GiveBack(ring.data(), begin);
    GiveBack(ring.data() + end, ring.size() - end);
  } else if (end < begin) {  // the unread bytes go on at the front
    GiveBack(ring.data() + end, begin - end);
  }
}

}  // namespace maskd::ring
