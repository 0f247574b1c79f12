// A plain request of another connection, again and again while cases run: the one row of its stream
// is asked for its mask. Each answer's time is kept, and its mask compared.
//
// Threads  it starts one; the others' calls from one thread.
#ifndef MASKD_TOOLS_ATTACK_TARGETS_BYSTANDER_H_
#define MASKD_TOOLS_ATTACK_TARGETS_BYSTANDER_H_

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "client/cpp/client.h"
#include "grammar_core/base/mutex.h"
#include "tools/attack/targets/server_access.h"

namespace maskd::attack {

// Runs from Start() until its end. What it measures is what a neighbour of the attacker would see.
class Bystander {
 public:
  // Errors: those of opening its stream.
  static absl::StatusOr<std::unique_ptr<Bystander>> Start(const ServerAccess& server);
  ~Bystander();
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;

  // Times of the steps answered since the last call, in milliseconds.
  std::vector<double> TakeTimes() ABSL_LOCKS_EXCLUDED(mutex_);
  // What went wrong since the last call; empty: nothing.
  std::string TakeFault() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  explicit Bystander(ServerAccess server) : server_(std::move(server)) {}
  absl::Status Open();
  absl::Status Step();
  void Run();

  const ServerAccess server_;
  std::unique_ptr<client::Client> client_;
  std::unique_ptr<client::MaskStream> stream_;
  std::vector<std::int32_t> mask_;  // the first answer's
  std::atomic<bool> stop_ = false;
  Mutex mutex_;
  std::vector<double> times_ ABSL_GUARDED_BY(mutex_);
  std::string fault_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_TARGETS_BYSTANDER_H_
