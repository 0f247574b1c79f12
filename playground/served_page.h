// The playground that maskd serves itself, on a separate address.
//
// Way      the page asks the server by the calls that every client has, over a channel inside the
//          process; so all of the server's bounds are its bounds, too. It is a tenant and a peer,
//          kPlayground, whose streams take no places of engines (service/callers/admission.h).
// Bounds   kThreads requests at once, at a low priority; kMostConnections of kMostBody bytes each;
//          kPlaygroundStreams streams. The live view reads the server's own figures.
// End      Close() before the server drains: it ends the address, the connections, the streams that
//          wait and the calls that run. When it returns, no handler runs.
// Threads  Start(), Close() and the destructor on one thread.
#ifndef MASKD_PLAYGROUND_SERVED_PAGE_H_
#define MASKD_PLAYGROUND_SERVED_PAGE_H_

#include <atomic>
#include <cstddef>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"

#include "client/cpp/client.h"
#include "grammar_core/base/mutex.h"
#include "playground/answers.h"
#include "playground/http_server.h"
#include "service/config/config.h"
#include "service/process/server.h"

namespace maskd::playground {

// Owns the HTTP server, the channel inside the process and the streams on it.
class ServedPage {
 public:
  static constexpr int kThreads = 2;
  static constexpr std::size_t kMostBody = 2 << 20;
  static constexpr std::size_t kMostConnections = 16;

  // Null where the configuration asks for none. `server` outlives this. Errors: UNAVAILABLE; the
  // message starts with the flag.
  static absl::StatusOr<std::unique_ptr<ServedPage>> Start(const service::Config& config,
                                                           const service::Server* server);
  // Close().
  ~ServedPage();
  ServedPage(const ServedPage&) = delete;
  ServedPage& operator=(const ServedPage&) = delete;

  // Returns when no handler runs; calls that wait for the server are cancelled.
  void Close();

  // The one that it listens at.
  [[nodiscard]] int port() const { return http_->port(); }

 private:
  ServedPage(std::unique_ptr<client::Client> client, const service::Server* server);

  HttpResponse Answer(const HttpRequest& request);
  HttpResponse AnswerCompile(const HttpRequest& request) ABSL_LOCKS_EXCLUDED(compiling_);

  const std::unique_ptr<client::Client> client_;
  Answers answers_;
  std::atomic<bool> is_closed_ = false;
  std::atomic<int> running_ = 0;      // handlers
  Mutex compiling_;                   // one grammar at once: more would be refused
  std::unique_ptr<HttpServer> http_;  // last: its threads use all of the above
};

}  // namespace maskd::playground

#endif  // MASKD_PLAYGROUND_SERVED_PAGE_H_
