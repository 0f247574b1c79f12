// Accepts the connections of sockets that listen, for as long as it lives.
//
// Survives  no descriptor, no memory, a connection that is gone already: it waits kPause and tries
//           again, so that connections come again as soon as there is what they need. gRPC's own
//           loop would end for good (CVE-2023-4785).
// Threads   it starts one, on which connections are handed over.
#ifndef MASKD_SERVICE_PORTS_ACCEPT_LOOP_H_
#define MASKD_SERVICE_PORTS_ACCEPT_LOOP_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"

#include "ring/unique_fd.h"

namespace maskd::service {

// The loop, which runs from Start() until it is destroyed.
class AcceptLoop {
 public:
  static constexpr std::chrono::milliseconds kPause{20};

  // Takes a connection of one of the listeners, which does not block. Must not wait.
  using Take = std::function<void(ring::UniqueFd connection, int listener)>;

  // `shortages` counts the times that a connection waited for a descriptor or for memory. It and
  // the `listeners` outlive the loop. Errors: UNAVAILABLE (no descriptor, no thread).
  static absl::StatusOr<std::unique_ptr<AcceptLoop>> Start(std::vector<int> listeners, Take take,
                                                           std::atomic<std::int64_t>* shortages);
  // Nothing is taken any more.
  ~AcceptLoop();
  AcceptLoop(const AcceptLoop&) = delete;
  AcceptLoop& operator=(const AcceptLoop&) = delete;

 private:
  enum class Outcome : std::uint8_t { kTaken, kNone, kShortage };

  AcceptLoop(std::vector<int> listeners, Take take, std::atomic<std::int64_t>* shortages,
             ring::UniqueFd stop);
  void Run();
  // Whether the loop is to stop. Waits until then, or `pause`, -1 for ever, or, if asked, until
  // somebody comes.
  bool Wait(std::chrono::milliseconds pause, bool for_listeners);
  Outcome AcceptOne(int listener);

  const std::vector<int> listeners_;
  const Take take_;
  std::atomic<std::int64_t>* const shortages_;
  const ring::UniqueFd stop_;  // an eventfd
  std::thread thread_;         // last: it uses all of the above
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_PORTS_ACCEPT_LOOP_H_
