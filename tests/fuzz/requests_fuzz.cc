// The other requests of the wire: the first byte says which (compile, check, explain, hello), the
// rest is its message.
//
// Promises   a message is read whole or refused with a caller's code, a reason and a short text;
//            what was read does not name a grammar and have a text of one, too.
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/stubs/logging.h"

#include "maskd/v1/compile_service.pb.h"
#include "maskd/v1/mask_service.pb.h"
#include "service/streams/stream_terms.h"
#include "service/wire/request_reader.h"
#include "tests/fuzz/fuzz_checks.h"
#include "tests/fuzz/fuzz_target.h"

namespace maskd::fuzz {
namespace {

template <typename Request>
bool Parse(absl::string_view bytes, Request* request) {
  return request->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

template <typename Request>
void CheckTarget(absl::string_view bytes) {
  Request request;
  if (!Parse(bytes, &request)) return;
  const absl::StatusOr<service::GrammarTarget> target = service::ReadTarget(request);
  if (!target.ok()) return RequireClear(target.status());
  Require(!target->source.has_value() || target->id.empty(), "a target is an id or a text");
}

void CheckHello(absl::string_view bytes) {
  v1::DecodeRequest request;
  if (!Parse(bytes, &request)) return;
  const absl::StatusOr<service::Hello> hello = service::ReadHello(request);
  if (absl::IsFailedPrecondition(hello.status())) return;  // another message
  if (!hello.ok()) return RequireClear(hello.status());
  Require(hello->logits_width >= 0, "a width is no less than 0");
}

void CheckRequest(absl::string_view input) {
  if (input.empty()) return;
  google::protobuf::SetLogHandler(nullptr);
  const absl::string_view bytes = input.substr(1);
  switch (static_cast<std::uint8_t>(input[0]) % 4) {
    case 0:
      return CheckTarget<v1::CompileRequest>(bytes);
    case 1:
      return CheckTarget<v1::CheckRequest>(bytes);
    case 2:
      return CheckTarget<v1::ExplainRequest>(bytes);
    default:
      return CheckHello(bytes);
  }
}

void RunRequest(absl::string_view /*name*/, absl::string_view input) { CheckRequest(input); }

}  // namespace

MASKD_FUZZ_TARGETS(RunRequest, "requests");

}  // namespace maskd::fuzz
