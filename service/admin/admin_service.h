// AdminService of maskd/v1: what the server does now, for whoever runs it.
//
// Threads  any number of calls at once.
#ifndef MASKD_SERVICE_ADMIN_ADMIN_SERVICE_H_
#define MASKD_SERVICE_ADMIN_ADMIN_SERVICE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include <grpcpp/server_context.h>
#include <grpcpp/support/sync_stream.h>

#include "maskd/v1/admin_service.grpc.pb.h"
#include "service/admin/admin_view.h"
#include "service/calls/unary_calls.h"

namespace maskd::service {

// AdminService of maskd/v1 over gRPC.
class AdminService final : public v1::AdminService::StreamedUnaryService {
 public:
  // What a reply costs until it is sent, at most: the message and its bytes, of the largest page.
  static constexpr std::int64_t kReplyBytes = std::int64_t{512} << 10;

  // `calls` is not owned.
  AdminService(AdminView view, std::string version, UnaryCalls* calls)
      : view_(std::move(view)), version_(std::move(version)), calls_(calls) {}

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
  UnaryCalls* const calls_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_ADMIN_ADMIN_SERVICE_H_
