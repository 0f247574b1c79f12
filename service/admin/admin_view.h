// What a server does now, as plain values: its streams, its grammars, its limits and its memory.
//
// Locks    a list is copied kAtOnce at a time: whoever opens a stream or a row waits no longer than
//          the copy of those takes. A stream's figures are read without a lock.
// Memory   of one page, however long the list is.
// Threads  any.
#ifndef MASKD_SERVICE_ADMIN_ADMIN_VIEW_H_
#define MASKD_SERVICE_ADMIN_ADMIN_VIEW_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/live_grammars.h"
#include "grammar_core/base/clock.h"
#include "memory/accountant.h"
#include "service/admin/admin_page.h"
#include "service/grammars/grammar_store.h"
#include "service/grammars/tokenizer_shelf.h"
#include "service/streams/stream_registry.h"

namespace maskd::service {

// What comes first in a list.
enum class StreamOrder : std::uint8_t { kAge, kTime, kIdle, kRows, kTokens, kBytes };
enum class GrammarOrder : std::uint8_t { kMemory, kTime, kRows, kHits };

// A stream that is open, at `now`.
struct ListedStream {
  std::uint64_t id = 0;
  std::string peer;
  bool has_place = false;
  StreamFigures::Who who = {};
  StreamFigures::Values values = {};
  Clock::Duration age{};
  Clock::Duration idle{};  // 0 while it has a step
  std::optional<Clock::Duration> in_step = std::nullopt;
};

// A limit, and what of it is in use.
struct LimitInUse {
  std::string name;
  std::int64_t used = 0;
  std::optional<std::int64_t> most;
};

// The memory of the process.
struct MemoryInUse {
  std::int64_t limit_bytes = 0;
  std::int64_t resident_bytes = 0;
  std::optional<memory::Mark> mark;
  std::vector<std::pair<std::string, std::int64_t>> parts = {};  // as maskd_memory_bytes has them
};

// Looks at the parts of a server.
class AdminView {
 public:
  // Nothing is owned.
  struct Parts {
    const StreamRegistry* streams = nullptr;
    const GrammarStore* grammars = nullptr;
    const TokenizerShelf* tokenizers = nullptr;
    const memory::Accountant* accountant = nullptr;
    // All limits of the server.
    std::function<std::vector<LimitInUse>()> limits;
    Clock* clock = Clock::Steady();
  };
  // Streams or grammars that are copied under one lock.
  static constexpr std::size_t kAtOnce = 256;

  // What the parts name must outlive this.
  explicit AdminView(Parts parts) : parts_(std::move(parts)) {}

  // One page. All are looked at, kAtOnce of them under one lock.
  [[nodiscard]] AdminPage<ListedStream> ListStreams(StreamOrder order, PageRequest request) const;
  [[nodiscard]] AdminPage<cache::LiveGrammars::Listed> ListGrammars(GrammarOrder order,
                                                                    PageRequest request) const;
  // As of the call: limits of the server, memory by what holds it, and the tokenizers that are
  // loaded.
  [[nodiscard]] std::vector<LimitInUse> limits() const { return parts_.limits(); }
  [[nodiscard]] MemoryInUse memory() const;
  [[nodiscard]] TokenizerStorePtr tokenizers() const { return parts_.tokenizers->now(); }

 private:
  const Parts parts_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_ADMIN_ADMIN_VIEW_H_
