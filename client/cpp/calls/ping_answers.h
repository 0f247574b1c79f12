// Answers the server's pings on a channel that nobody polls. For this library's own files.
//
// gRPC receives in the threads that wait for something. An engine that waits for nothing, as it is
// idle or computes for long, would leave pings unanswered and be taken for dead: so a thread looks
// at what has arrived every two seconds, for a millisecond.
//
// Threads  made and destroyed by one; its own thread uses nothing but the channel.
#ifndef MASKD_CLIENT_CPP_CALLS_PING_ANSWERS_H_
#define MASKD_CLIENT_CPP_CALLS_PING_ANSWERS_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "grpcpp/channel.h"

namespace maskd::client {

// Made with the call and ended with it; costs a thread and a wake-up each two seconds.
class PingAnswers {
 public:
  // Starts the thread; the destructor waits for it, a millisecond at most while it looks.
  explicit PingAnswers(std::shared_ptr<grpc::Channel> channel);
  ~PingAnswers();
  PingAnswers(const PingAnswers&) = delete;
  PingAnswers& operator=(const PingAnswers&) = delete;

 private:
  void Run();

  const std::shared_ptr<grpc::Channel> channel_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_CALLS_PING_ANSWERS_H_
