// What the handles of maskd.h are, and what its functions share. For the files of this folder.
#ifndef MASKD_CLIENT_C_HANDLES_H_
#define MASKD_CLIENT_C_HANDLES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "client/apply/applier.h"
#include "client/c/maskd.h"
#include "client/cpp/client.h"
#include "client/cpp/failover/failover_stream.h"
#include "client/cpp/steps/mask_plane.h"
#include "client/cpp/streams/mask_stream.h"

// Owned by the caller of C. Its strings are made at once, so that pointers into it stay good.
struct maskd_status {
  absl::Status status;
  std::string message;
  std::string place;
  std::string reason;
};

// `name` ends in a zero, for maskd_applier_name().
struct maskd_applier {
  std::unique_ptr<maskd::client::Applier> applier;
  std::string name;
};

// Must go before its applier, as the C++ one must.
struct maskd_dictionary {
  std::unique_ptr<maskd::client::MaskDictionary> dictionary;
};

// Shared by all threads of the caller.
struct maskd_client {
  std::unique_ptr<maskd::client::Client> client;
};

// One of the two.
struct maskd_stream {
  std::unique_ptr<maskd::client::MaskStream> one_server;
  std::unique_ptr<maskd::client::FailoverStream> any_server;
  std::string welcome_json;
};

// Reused by its caller; keeps its memory from step to step.
struct maskd_step {
  maskd::client::Step step;
};

// Its strings are made when a row is asked for, and live until the next collect.
struct maskd_result {
  maskd::client::StepResult result;
  // What maskd_result_row() gave pointers into, by row.
  struct Strings {
    std::string message, place, reason, grammar_id;
  };
  std::vector<Strings> strings;
  std::vector<std::vector<maskd_call_delta>> calls;  // that maskd_result_answer() points to, by row
};

// The words are the caller's.
struct maskd_mask_plane {
  maskd::client::MaskPlane plane;
};

namespace maskd::client {

// Null when OK.
maskd_status* ToC(const absl::Status& status);

// OK, or that `name` is null.
absl::Status NotNull(const void* pointer, const char* name);

// Whether a struct of the caller's is as large as its first version was.
absl::Status CheckSize(std::size_t size, std::size_t least, const char* name);

// A struct of the caller's, which may be shorter than ours by fields that came later: those are
// zero. `least` is the size that its first version had.
template <typename Struct>
absl::StatusOr<Struct> ReadStruct(const Struct* from, std::size_t least, const char* name) {
  if (absl::Status status = CheckSize(from->struct_size, least, name); !status.ok()) return status;
  Struct read{};
  std::memcpy(&read, from, std::min(from->struct_size, sizeof(Struct)));
  return read;
}

// The other way round; `to` knows its size.
template <typename Struct>
void WriteStruct(Struct from, Struct* to) {
  from.struct_size = to->struct_size;
  std::memcpy(to, &from, std::min(to->struct_size, sizeof(Struct)));
}

// Checks null, size and enumeration; shapes are checked where they are used.
absl::Status ReadLogits(const maskd_logits* from, Logits& logits);

// Biases lie in memory as the appliers take them.
static_assert(sizeof(maskd_bias) == sizeof(LogitBias) &&
              offsetof(maskd_bias, bias) == offsetof(LogitBias, bias));
absl::Status ReadBiases(const maskd_bias* biases, std::int64_t count, const char* name,
                        std::span<const LogitBias>& span);

// `count` elements at `data`, which may be null when there are none.
template <typename Element>
absl::Status ReadSpan(const Element* data, std::int64_t count, const char* name,
                      std::span<const Element>& span) {
  if (count < 0) return absl::InvalidArgumentError(std::string(name) + ": negative count");
  if (count > 0) {
    if (absl::Status status = NotNull(data, name); !status.ok()) return status;
    span = {data, static_cast<std::size_t>(count)};
  }
  return absl::OkStatus();
}

// maskd_step_take_each().
absl::Status TakeEach(maskd_step* step, const std::uint64_t* rows, const std::int32_t* tokens,
                      std::int64_t count);

}  // namespace maskd::client

#endif  // MASKD_CLIENT_C_HANDLES_H_
