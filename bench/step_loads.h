// What a server does beside the steps that a benchmark times.
//
// Threads  each has its own thread, which the destructor ends and waits for.
#ifndef MASKD_BENCH_STEP_LOADS_H_
#define MASKD_BENCH_STEP_LOADS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "client/cpp/client.h"

namespace maskd::bench {

v1::CompileRequest CompileRequestOf(const std::string& schema);

// Compiles grammars that are new to the server, at a steady rate.
class CompileLoad {
 public:
  // Neither is owned. `per_second` 0: none.
  CompileLoad(const client::Client* client, const std::vector<std::string>* schemas,
              int per_second);
  ~CompileLoad();
  CompileLoad(const CompileLoad&) = delete;
  CompileLoad& operator=(const CompileLoad&) = delete;

  // Ends it. How long each compile took, in microseconds.
  std::vector<double> Stop();

 private:
  void Run(const client::Client& client, const std::vector<std::string>& schemas, int per_second);

  std::atomic<bool> stop_ = false;
  std::vector<double> compiles_;
  std::thread thread_;
};

// Steps its own stream of one row, which follows a regex at random. Where the texts of the regex
// have states enough, nearly all of its steps have a mask to be made.
class StreamLoad {
 public:
  // The server's address, the logits' width, and the pause between two steps.
  struct Options {
    std::string server;
    std::string regex;
    std::uint32_t width = 0;
    int pause_us = 0;
  };

  // Errors: the client's.
  static absl::StatusOr<std::unique_ptr<StreamLoad>> Start(const Options& options);
  ~StreamLoad();
  StreamLoad(const StreamLoad&) = delete;
  StreamLoad& operator=(const StreamLoad&) = delete;

  // Ends it. Its steps' times, in microseconds; the error if it ended by one.
  absl::StatusOr<std::vector<double>> Stop();

 private:
  StreamLoad(Options options, std::unique_ptr<client::Client> client,
             std::unique_ptr<client::MaskStream> stream, std::string grammar);
  absl::Status Run();

  const Options options_;
  const std::unique_ptr<client::Client> client_;
  const std::unique_ptr<client::MaskStream> stream_;
  const std::string grammar_;
  std::atomic<bool> stop_ = false;
  std::vector<double> steps_;
  absl::Status status_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace maskd::bench

#endif  // MASKD_BENCH_STEP_LOADS_H_
