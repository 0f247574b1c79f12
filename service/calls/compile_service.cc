// Three methods that differ in their messages alone. What they do is in compile_calls.h, which
// knows no gRPC.
#include "service/calls/compile_service.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "maskd/v1/compile_service.pb.h"

namespace maskd::service {
namespace {

// Replies that nobody counts: so many can wait as there are calls.
constexpr std::int64_t kSmallReplyBytes = 16 << 10;

// One call of a method.
template <typename Request, typename Response>
class Work final : public CallWork {
 public:
  explicit Work(CompileCalls* calls) : calls_(calls) {}

  absl::Status Begin(CallView& call, grpc::ByteBuffer* message) override {
    if (absl::Status read = ReadMessage(message, &request_); !read.ok()) return read;
    absl::StatusOr<CompileCalls::Asked> asked = calls_->Ask(request_, call.caller());
    if (asked.ok()) asked_.emplace(*std::move(asked));
    return asked.status();
  }

  cache::Ticket* awaited() override { return &asked_->grammar.ticket; }

  // A large reply is counted once it is known and before it is sent; twice its bytes, for the
  // message and what gRPC makes of it. Where there is no room for it the caller is told to come
  // again.
  absl::Status Answer(CallView& call, const absl::Status& left, grpc::ByteBuffer* reply) override {
    Response response;
    absl::Status status = CompileCalls::Answer(request_, call.caller(), *asked_, left, &response);
    if (!status.ok()) return status;
    const auto bytes = static_cast<std::int64_t>(response.ByteSizeLong());
    if (bytes > kSmallReplyBytes) status = call.CountReply(2 * bytes);
    return status.ok() ? WriteMessage(response, reply) : status;
  }

  [[nodiscard]] bool answers_quickly() const override {
    return std::is_same_v<Request, v1::CompileRequest>;
  }

 private:
  CompileCalls* const calls_;
  Request request_;
  std::optional<CompileCalls::Asked> asked_;
};

template <typename Request, typename Response>
CallMethod MethodOf(CompileCalls* calls) {
  return [calls] { return std::make_unique<Work<Request, Response>>(calls); };
}

}  // namespace

void CompileService::AddTo(UnaryCalls* calls) {
  calls->Add("/maskd.v1.CompileService/Compile",
             MethodOf<v1::CompileRequest, v1::CompileResponse>(&work_));
  calls->Add("/maskd.v1.CompileService/Check",
             MethodOf<v1::CheckRequest, v1::CheckResponse>(&work_));
  calls->Add("/maskd.v1.CompileService/Explain",
             MethodOf<v1::ExplainRequest, v1::ExplainResponse>(&work_));
}

}  // namespace maskd::service
