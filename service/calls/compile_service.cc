// Three methods that differ in their messages alone. What they do is in compile_calls.h, which
// knows no gRPC; here is how a call's caller, its message and its leaving are found.
#include "service/calls/compile_service.h"

#include <chrono>
#include <cstdint>
#include <string>

#include "grammar_core/base/error.h"
#include "grammar_core/base/memory_reserve.h"

namespace maskd::service {
namespace {

// Replies that nobody counts: so many can wait as there are threads.
constexpr std::int64_t kSmallReplyBytes = 16 << 10;

// Asked when the call begins to wait, and while it does.
absl::Status WhyLeft(const grpc::ServerContext& context, UnaryCalls::Begun& begun) {
  begun.EndTurn();
  if (!context.IsCancelled()) return absl::OkStatus();
  return context.deadline() <= std::chrono::system_clock::now()
             ? ErrorAt(absl::StatusCode::kDeadlineExceeded, "", "DEADLINE", "the deadline passed")
             : ErrorAt(absl::StatusCode::kCancelled, "", "CANCELLED", "the caller cancelled");
}

}  // namespace

grpc::Status CompileService::StreamedCompile(grpc::ServerContext* context,
                                             Call<v1::CompileRequest, v1::CompileResponse>* call) {
  return calls_->Serve(
      context, call, [&](const auto& request, UnaryCalls::Begun& begun, auto* response) {
        const auto why_left = [&] { return WhyLeft(*context, begun); };
        return End(OrOutOfMemory(
                       [&] { return work_.Compile(request, begun.caller(), why_left, response); }),
                   context, response);
      });
}

grpc::Status CompileService::StreamedCheck(grpc::ServerContext* context,
                                           Call<v1::CheckRequest, v1::CheckResponse>* call) {
  return calls_->Serve(
      context, call, [&](const auto& request, UnaryCalls::Begun& begun, auto* response) {
        const auto why_left = [&] { return WhyLeft(*context, begun); };
        return End(
            OrOutOfMemory([&] { return work_.Check(request, begun.caller(), why_left, response); }),
            context, response);
      });
}

grpc::Status CompileService::StreamedExplain(grpc::ServerContext* context,
                                             Call<v1::ExplainRequest, v1::ExplainResponse>* call) {
  return calls_->Serve(
      context, call, [&](const auto& request, UnaryCalls::Begun& begun, auto* response) {
        const auto why_left = [&] { return WhyLeft(*context, begun); };
        return End(OrOutOfMemory(
                       [&] { return work_.Explain(request, begun.caller(), why_left, response); }),
                   context, response);
      });
}

// A large reply is counted once it is known and before it is sent; twice its bytes, for the message
// and what gRPC makes of it. Where there is no room for it the caller is told to come again.
absl::Status CompileService::End(absl::Status status, const grpc::ServerContext* context,
                                 google::protobuf::Message* response) const {
  if (status.ok()) {
    const auto bytes = static_cast<std::int64_t>(response->ByteSizeLong());
    if (bytes > kSmallReplyBytes) status = calls_->CountReply(context, 2 * bytes);
  }
  return status;
}

}  // namespace maskd::service
