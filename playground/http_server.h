// A small HTTP server for one page and its JSON calls. One request a connection, which is then
// closed.
//
// Bounds    Options. A connection has kPatience for its request and again for its answer, and
//           kMostHead bytes for its head; where one more comes than there may be, the oldest that
//           no handler works for gives way. So what a stranger sends, or does not send, costs this
//           many buffers and one thread that waits.
// Security  request_guard.h decides who is answered.
// Threads   one for all connections, and those of the handler: at most Options::threads at once,
//           made as they are needed.
#ifndef MASKD_PLAYGROUND_HTTP_SERVER_H_
#define MASKD_PLAYGROUND_HTTP_SERVER_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include <poll.h>

#include "cpu/thread_priority.h"
#include "grammar_core/base/clock.h"
#include "grammar_core/base/mutex.h"
#include "playground/http_message.h"
#include "ring/unique_fd.h"
#include "service/ports/listen_socket.h"
#include "service/streams/step_threads.h"

namespace maskd::playground {

// Serves from Start() until Stop().
class HttpServer {
 public:
  static constexpr std::size_t kMostHead = 16 << 10;
  static constexpr std::chrono::seconds kPatience{10};

  // What it may use; small, as it stands beside a server that answers engines.
  struct Options {
    std::vector<std::string> names = {};  // allowed in the Host header beside addresses
    int threads = 8;                      // requests that are answered at once
    std::size_t most_body = 10 << 20;     // a source of 4 MiB, escaped, and its text
    std::size_t most_connections = 64;
    ThreadRole role = ThreadRole::kAnswers;  // of the handlers' threads
  };
  // Called on as many threads at once as the options say.
  using Handler = std::function<HttpResponse(const HttpRequest& request)>;

  // Listens at `address`, host:port; port 0 takes a free one. Errors: UNAVAILABLE with the address.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const std::string& address,
                                                           Options options, Handler handler);
  // Stop(), and waits for the handlers that run.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Closes the address and every connection at once, and waits for no peer and no handler. What a
  // handler still answers goes nowhere. One thread.
  void Stop();

  // The one that it listens at, also where port 0 was asked for.
  [[nodiscard]] int port() const { return port_; }

 private:
  enum class State : std::uint8_t {
    kHead,     // its bytes come
    kBody,     // the same
    kWaiting,  // for a thread
    kRunning,  // its handler
    kWriting,  // the answer
    kEnding,   // the peer is to close it, so that it has read the answer before
  };
  struct Peer {
    std::uint64_t id = 0;
    ring::UniqueFd fd;
    Clock::TimePoint end;
    State state = State::kHead;
    HttpHead head;
    std::string bytes = {};  // that have come, or are to go
    std::size_t sent = 0;
  };

  HttpServer(Options options, Handler handler, service::ListenSocket socket, ring::UniqueFd wake);

  void Serve();
  [[nodiscard]] std::vector<pollfd> Watched() const;
  [[nodiscard]] int PatienceMs() const;
  [[nodiscard]] bool HasRoom() const;
  void Accept(int listener);
  // Goes on with one. Whether it is over.
  bool GoOn(Peer* peer) const;
  bool Read(Peer* peer) const;
  void TakeHead(Peer* peer) const;
  void TakeBody(Peer* peer) const;
  static bool Write(Peer* peer);
  static bool AwaitEnd(const Peer& peer);
  // The answer to a head alone, where that decides.
  [[nodiscard]] std::optional<HttpResponse> Refuse(const HttpHead& head) const;
  static void Answer(Peer* peer, const HttpResponse& response);
  void StartHandlers();
  void Run(std::uint64_t id, const HttpRequest& request) ABSL_LOCKS_EXCLUDED(mutex_);
  void TakeAnswers() ABSL_LOCKS_EXCLUDED(mutex_);

  const Options options_;
  const Handler handler_;
  std::optional<service::ListenSocket> socket_;
  const int port_;
  const ring::UniqueFd wake_;  // an eventfd
  std::atomic<bool> stopping_ = false;
  // These four are the loop's.
  std::list<Peer> peers_;  // the oldest first
  std::uint64_t next_id_ = 0;
  int running_ = 0;
  bool short_of_fds_ = false;
  Mutex mutex_;
  std::vector<std::pair<std::uint64_t, HttpResponse>> answers_ ABSL_GUARDED_BY(mutex_);
  service::StepThreads handlers_;
  std::thread loop_;  // last: it uses all of the above
};

}  // namespace maskd::playground

#endif  // MASKD_PLAYGROUND_HTTP_SERVER_H_
