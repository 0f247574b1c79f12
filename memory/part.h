// The parts of the process's memory, as the accountant and the metrics name them.
#ifndef MASKD_MEMORY_PART_H_
#define MASKD_MEMORY_PART_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace maskd::memory {

// What memory is held for. Up to kWarmUp it is on the heap; the others are beside it.
enum class Part : std::uint8_t {
  kGrammars,      // compiled, whether the cache still has them or only their users
  kMasks,         // in stores and held by grammars
  kVocabularies,  // with their indexes
  kSchemas,       // of tools, kept read
  kRows,          // and their histories
  kRequests,      // being received or read
  kReplies,       // not yet sent
  kSnapshots,
  kWarmUp,        // queues of masks to be made ahead
  kSharedMemory,  // segments lent to clients
};
inline constexpr std::size_t kPartCount = 10;
inline constexpr std::array<const char*, kPartCount> kPartNames = {
    "grammars", "masks",   "vocabularies", "schemas", "rows",
    "requests", "replies", "snapshots",    "warm_up", "shared_memory"};

// The label's value in the metrics, and the word in the log.
constexpr const char* NameOf(Part part) { return kPartNames[static_cast<std::size_t>(part)]; }

}  // namespace maskd::memory

#endif  // MASKD_MEMORY_PART_H_
