// Calls of a server's Compile and others as cases make them: as raw bytes, many at once, cancelled,
// with metadata.
//
// Threads  one thread.
#ifndef MASKD_TOOLS_ATTACK_TARGETS_UNARY_CALLS_H_
#define MASKD_TOOLS_ATTACK_TARGETS_UNARY_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "maskd/v1/compile_service.pb.h"

namespace maskd::attack {

inline constexpr absl::Duration kCallPatience = absl::Seconds(120);

// A call of one message and one answer, as bytes.
struct RawCall {
  std::string method = {};  // "/package.Service/Name"
  std::string request = {};
  absl::Duration deadline = kCallPatience;
  std::size_t metadata_bytes = 0;  // sent beside it
  // After this the caller leaves; zero: it stays.
  absl::Duration cancel_after = absl::ZeroDuration();
};

// On a new connection. `answer` may be null.
absl::Status Call(const std::string& address, const RawCall& call, std::string* answer = nullptr);

// The same with the wire message's own type for the answer.
absl::Status Compile(const std::string& address, const v1::CompileRequest& request,
                     const RawCall& call, v1::CompileResponse* response);

// Whether the health service says SERVING for `name` within the time.
absl::Status CheckHealth(const std::string& address, const std::string& name,
                         absl::Duration within);

// `count` compiles on one connection, `window` at once.
struct ManyCompiles {
  std::int64_t count = 0;
  std::size_t window = 1;
  absl::Duration deadline = kCallPatience;
  bool cancel_first = false;  // once all that fit are on their way
  std::function<v1::CompileRequest()> request;
};
// What became of each, in their order.
std::vector<absl::Status> CompileMany(const std::string& address, const ManyCompiles& many);

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_TARGETS_UNARY_CALLS_H_
