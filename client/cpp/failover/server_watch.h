// Looks at the servers of a stream now and then, and prepares the stream's move to another where
// its own has too many. For FailoverStream.
//
// Look     at LookPace. A name is resolved again, and each server is asked how many streams it has.
// Move     The stream is asked for its rows' grammars, they are compiled there, and a stream is
//          opened there and offered. An offer that is not taken in a second is taken back. So a
//          step of a stream that moves waits for no connection and no compile.
// Refusal  a server that could not be gone to is left alone for half a minute.
// Idle     a stream that sends no step asks nobody.
// Threads  it starts one; everything else on one thread at a time.
#ifndef MASKD_CLIENT_CPP_FAILOVER_SERVER_WATCH_H_
#define MASKD_CLIENT_CPP_FAILOVER_SERVER_WATCH_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/random/random.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

#include "client/cpp/base/steady_time.h"
#include "client/cpp/connect/resolve.h"
#include "client/cpp/failover/balance.h"
#include "client/cpp/failover/load_asker.h"
#include "client/cpp/streams/mask_stream.h"
#include "maskd/v1/compile_service.pb.h"

namespace grpc {
class ClientContext;
}  // namespace grpc

namespace maskd::client {

class ServerWatch {
 public:
  struct Options {
    std::vector<std::string> addresses;  // names among them
    Resolver resolve;
    absl::Duration every;
    int max_message_bytes = 0;
    StreamOptions stream;  // as which one is opened
    absl::Duration compile_timeout;
  };
  // A stream to go to, on which nothing was sent.
  struct Offer {
    std::string address;
    std::unique_ptr<MaskStream> stream;
  };

  // Looks begin with the first Use(). Without a thread there are none.
  explicit ServerWatch(Options options);
  // Waits for what the thread does: for one answer, so two seconds at most.
  ~ServerWatch();
  ServerWatch(const ServerWatch&) = delete;
  ServerWatch& operator=(const ServerWatch&) = delete;

  // The servers of all addresses, in ascending order; an address that cannot be resolved stands for
  // itself.
  static std::vector<std::string> ServersOf(const std::vector<std::string>& addresses,
                                            const Resolver& resolve);

  // The stream is now the one of this welcome. An offer that was made to another is taken back.
  void Use(const std::string& address, const v1::Welcome& welcome);
  // The stream sends a step.
  void Touch() { steps_.fetch_add(1, std::memory_order_relaxed); }
  // The servers, as of the last look.
  [[nodiscard]] std::vector<std::string> servers() const;

  // Whether one of the two that follow has something to do. Cheap.
  [[nodiscard]] bool has_news() const { return has_news_.load(std::memory_order_relaxed); }
  // Whether it waits for Give().
  [[nodiscard]] bool WantsGrammars() const;
  void Give(std::vector<v1::CompileRequest> grammars);
  std::optional<Offer> Take();

  // Ends a stream that was left.
  void Retire(std::unique_ptr<MaskStream> stream);
  // The stream could not go there.
  void LeaveAlone(const std::string& address);

 private:
  void Run();
  // Waits for the next look; false at the end.
  bool AwaitLook();
  void Look();
  [[nodiscard]] bool IsOver() const;
  // What of a move is prepared at `place`.
  // `loads` are those that `place` follows from.
  void Prepare(const std::string& place, const LoadAsker::Own& own, const LoadAsker::Loads& loads);
  LoadAsker::Loads AskAll(const LoadAsker::Own& own);
  bool Compile(const std::string& place, const std::vector<v1::CompileRequest>& grammars);
  std::optional<std::vector<v1::CompileRequest>> AwaitGrammars();
  // Waits until `condition`, at most `time`. Whether it holds, and it is not the end.
  template <typename Condition>
  bool Await(absl::Duration time, Condition condition) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  std::atomic<std::uint64_t> steps_ = 0;
  std::atomic<bool> has_news_ = false;

  mutable absl::Mutex mutex_;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::string> servers_ ABSL_GUARDED_BY(mutex_);
  std::optional<LoadAsker::Own> own_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t uses_ ABSL_GUARDED_BY(mutex_) = 0;
  bool wants_grammars_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<std::vector<v1::CompileRequest>> grammars_ ABSL_GUARDED_BY(mutex_);
  std::optional<Offer> offer_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<MaskStream>> retired_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, SteadyTime> alone_until_ ABSL_GUARDED_BY(mutex_);
  grpc::ClientContext* compile_ ABSL_GUARDED_BY(mutex_) = nullptr;  // that runs

  // The thread's alone.
  LoadAsker asker_;
  absl::BitGen random_;
  LookPace pace_;
  std::uint64_t seen_steps_ = 0;
  std::uint64_t seen_uses_ = 0;

  std::thread thread_;
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_FAILOVER_SERVER_WATCH_H_
