// Asks servers how many streams they have. For this library's own files.
//
// Cost     one small call to each of at most kMost servers, all at once; of more servers a random
//          few are asked, the own one among them. A connection to each is kept from one time to the
//          next.
// Threads  one thread at a time.
#ifndef MASKD_CLIENT_CPP_FAILOVER_LOAD_ASKER_H_
#define MASKD_CLIENT_CPP_FAILOVER_LOAD_ASKER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/random/random.h"
#include "absl/time/time.h"

#include "client/cpp/failover/balance.h"
#include "maskd/v1/mask_service.grpc.pb.h"

namespace maskd::client {

class LoadAsker {
 public:
  static constexpr std::size_t kMost = 8;

  // A stream of the caller's.
  struct Own {
    std::string address;
    std::uint64_t stream_number = 0;
  };
  // What they said.
  struct Loads {
    std::vector<std::string> servers;  // that were asked, in ascending order
    std::vector<std::optional<int>> streams;
    std::optional<int> rank;  // of the own stream

    // Whether one has at least two more than another.
    [[nodiscard]] bool IsUneven() const;
    // Where the own stream, of `address`, goes to. Absent: it stays.
    [[nodiscard]] std::optional<std::string> PlaceFor(const std::string& address) const;
  };

  // Waits for no answer longer than `patience`.
  Loads Ask(std::vector<std::string> servers, const std::optional<Own>& own,
            absl::Duration patience);

 private:
  void Sample(std::vector<std::string>* servers, const std::optional<Own>& own);

  std::map<std::string, std::unique_ptr<v1::MaskService::Stub>> stubs_;
  absl::BitGen random_;
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_FAILOVER_LOAD_ASKER_H_
