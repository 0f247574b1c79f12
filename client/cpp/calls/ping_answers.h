// Answers the server's pings on a channel that nobody polls. For this library's own files.
//
// gRPC receives in the threads that wait for something. An engine that waits for nothing, as it is
// idle or computes for long, would leave pings unanswered and be taken for dead: so a thread looks
// at what has arrived every two seconds, for a millisecond.
//
// Threads  made and destroyed by one; the thread that looks has nothing but what it shares with
//          this. gRPC's timer, which ends a look, sleeps by the clock of the day: where that was
//          set back, a look may take as much longer, and nobody waits for the thread then.
#ifndef MASKD_CLIENT_CPP_CALLS_PING_ANSWERS_H_
#define MASKD_CLIENT_CPP_CALLS_PING_ANSWERS_H_

#include <memory>

#include "grpcpp/channel.h"

namespace maskd::client {

// Made with the call and ended with it; costs a thread and a wake-up each two seconds.
class PingAnswers {
 public:
  // Starts the thread. The destructor ends it, and waits for 100 ms at most: a millisecond for a
  // look, and no longer unless the clock was set back.
  explicit PingAnswers(std::shared_ptr<grpc::Channel> channel);
  ~PingAnswers();
  PingAnswers(const PingAnswers&) = delete;
  PingAnswers& operator=(const PingAnswers&) = delete;

 private:
  struct Looks;  // with the thread, which may outlive this

  static void Run(Looks& looks);

  const std::shared_ptr<Looks> looks_;
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_CALLS_PING_ANSWERS_H_
