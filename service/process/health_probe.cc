#include "service/process/health_probe.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include "service/config/addresses.h"

namespace maskd::service {
namespace {

// A probe is asked again soon; kubelets give one a second by default.
constexpr std::chrono::milliseconds kPatience{900};

// Where a server that listens everywhere is met on its own machine.
std::string Reachable(const std::string& address) {
  for (const auto& [everywhere, here] : {std::pair("0.0.0.0:", "127.0.0.1:"), {"[::]:", "[::1]:"}})
    if (absl::StartsWith(address, everywhere))
      return absl::StrCat(here, address.substr(absl::string_view(everywhere).size()));
  return address;
}

}  // namespace

absl::StatusOr<bool> AskHealth(const Config& config) {
  const std::vector<ListenAddress> addresses = AddressesOf(config);
  const auto address = std::ranges::find_if(
      addresses, [](const ListenAddress& each) { return each.guard != Guard::kTls; });
  if (address == addresses.end()) {
    return absl::FailedPreconditionError(
        "--health: every address needs TLS; add a Unix socket to --listen, or ask "
        "/livez and /readyz of --metrics_listen");
  }
  const auto channel =
      grpc::CreateChannel(Reachable(address->text), grpc::InsecureChannelCredentials());
  const auto stub = grpc::health::v1::Health::NewStub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(config.health);
  grpc::health::v1::HealthCheckResponse response;
  const grpc::Status asked = stub->Check(&context, request, &response);
  if (asked.error_code() == grpc::StatusCode::NOT_FOUND) {
    return absl::NotFoundError(
        absl::StrCat("--health: \"", config.health, "\" is neither readiness nor liveness"));
  }
  if (!asked.ok()) {
    return absl::UnavailableError(
        absl::StrCat("--health: no answer at ", address->text, ": ", asked.error_message()));
  }
  return response.status() == grpc::health::v1::HealthCheckResponse::SERVING;
}

}  // namespace maskd::service
