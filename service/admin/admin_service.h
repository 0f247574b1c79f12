// AdminService of maskd/v1: what the server does now, for whoever runs it.
//
// Bounds   replies that lie unread, by their bytes (unread_replies.h). A call has a thread of
//          gRPC's and its message, so who serves this bounds its threads.
// Threads  any number of calls at once.
#ifndef MASKD_SERVICE_ADMIN_ADMIN_SERVICE_H_
#define MASKD_SERVICE_ADMIN_ADMIN_SERVICE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include <grpcpp/server_context.h>
#include <grpcpp/support/sync_stream.h>

#include "maskd/v1/admin_service.grpc.pb.h"
#include "service/admin/admin_view.h"
#include "service/callers/unread_replies.h"

namespace maskd::service {

// AdminService of maskd/v1 over gRPC.
class AdminService final : public v1::AdminService::StreamedUnaryService {
 public:
  // What a reply costs until it is sent, at most: the message and its bytes, of the largest page.
  static constexpr std::int64_t kReplyBytes = std::int64_t{512} << 10;

  // Whether a call's caller may call.
  using Admit = std::function<absl::Status(const grpc::ServerContextBase& context)>;

  // Of `max_calls` at once none lacks room for its reply.
  AdminService(AdminView view, std::string version, Admit admit, int max_calls)
      : view_(std::move(view)),
        version_(std::move(version)),
        admit_(std::move(admit)),
        unread_(max_calls * kReplyBytes) {}

  template <typename Request, typename Response>
  using Call = grpc::ServerUnaryStreamer<Request, Response>;

  // gRPC calls these, on its own threads.
  grpc::Status StreamedGetServer(grpc::ServerContext* context,
                                 Call<v1::GetServerRequest, v1::GetServerResponse>* call) override;
  grpc::Status StreamedListStreams(
      grpc::ServerContext* context,
      Call<v1::ListStreamsRequest, v1::ListStreamsResponse>* call) override;
  grpc::Status StreamedListGrammars(
      grpc::ServerContext* context,
      Call<v1::ListGrammarsRequest, v1::ListGrammarsResponse>* call) override;

 private:
  struct Uncounted;

  void TellServer(v1::GetServerResponse* response) const;
  absl::Status TellStreams(const v1::ListStreamsRequest& request,
                           v1::ListStreamsResponse* response) const;
  absl::Status TellGrammars(const v1::ListGrammarsRequest& request,
                            v1::ListGrammarsResponse* response) const;
  // Serves one call: counts its reply before it is made.
  template <typename Request, typename Response, typename Answer>
  grpc::Status Serve(grpc::ServerContext* context, Call<Request, Response>* call, Answer answer);

  const AdminView view_;
  const std::string version_;
  const Admit admit_;
  UnreadReplies unread_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_ADMIN_ADMIN_SERVICE_H_
