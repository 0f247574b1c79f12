#include "playground/served_page.h"

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "service/base/log.h"
#include "service/config/addresses.h"
#include "service/config/tenant_rule.h"
#include "service/ports/cancel_inside_calls.h"

namespace maskd::playground {
namespace {

// A handler waits no longer for the server than a person would.
constexpr absl::Duration kPatience = absl::Seconds(10);
constexpr absl::Duration kLook = absl::Milliseconds(2);
// Each handler may have one stream beside those.
constexpr std::size_t kIdleStreams = service::kPlaygroundStreams - ServedPage::kThreads;

HttpResponse Stopping() { return {.status = 503, .body = R"({"error":{"code":"UNAVAILABLE"}})"}; }

}  // namespace

absl::StatusOr<std::unique_ptr<ServedPage>> ServedPage::Start(const service::Config& config,
                                                              const service::Server* server) {
  if (!service::HasPlayground(config)) return nullptr;
  const bool is_insecure = !config.insecure_playground_listen.empty();
  const std::string& address =
      is_insecure ? config.insecure_playground_listen : config.playground_listen;
  client::ClientOptions options;
  options.inside = [server] { return server->ConnectInside(); };
  options.call_timeout = kPatience;
  // No handler sleeps: the end of the server is the end of each.
  options.retry.max_attempts = 1;
  auto client = client::Client::Connect(options);
  if (!client.ok()) return client.status();
  std::unique_ptr<ServedPage> page(new ServedPage(*std::move(client), server));
  auto http = HttpServer::Start(
      address,
      {.names = config.playground_names,
       .threads = kThreads,
       .most_body = kMostBody,
       .most_connections = kMostConnections,
       .role = ThreadRole::kLongWork},  // engines come first
      [page = page.get()](const HttpRequest& request) { return page->Answer(request); });
  if (!http.ok()) {
    return absl::UnavailableError(
        absl::StrCat(is_insecure ? "--insecure_playground_listen: " : "--playground_listen: ",
                     http.status().message()));
  }
  page->http_ = *std::move(http);
  service::LogEvent("playground",
                    {{"address", address}, {"port", absl::StrCat(page->http_->port())}});
  return page;
}

ServedPage::ServedPage(std::unique_ptr<client::Client> client, const service::Server* server)
    : client_(std::move(client)),
      answers_({.client = client_.get(),
                .version = MASKD_VERSION,
                .server = "this server",
                .metrics = [server] { return server->ReadMetrics(); },
                .most_idle_streams = kIdleStreams}) {}

ServedPage::~ServedPage() { Close(); }

// The flag is looked at once the handler is counted: Close() either sees it or is seen.
HttpResponse ServedPage::Answer(const HttpRequest& request) {
  ++running_;
  const absl::Cleanup done = [this] { --running_; };
  if (is_closed_) return Stopping();
  return request.path == "/api/compile" ? AnswerCompile(request) : answers_.Answer(request);
}

HttpResponse ServedPage::AnswerCompile(const HttpRequest& request) {
  const MutexLock lock(&compiling_);
  return is_closed_ ? Stopping() : answers_.Answer(request);
}

// A handler may begin its next call after those that run were cancelled: so again, until none runs.
void ServedPage::Close() {
  if (http_ == nullptr) return;
  is_closed_ = true;
  http_->Stop();
  answers_.Close();
  while (running_ > 0) {
    service::CancelInsideCalls();
    absl::SleepFor(kLook);
  }
}

}  // namespace maskd::playground
