// The compiles of a simulation: so many at a time, each as long as chance has it. Looks at what
// they have to keep to: one of a grammar at a time, an error that would come again not twice within
// its time, a grammar that is kept not twice.
//
// Deadline  a compile that takes longer than its caller's two seconds is cut off, which says
//           nothing of the grammar: the next one of it is made.
// Threads   one.
#ifndef MASKD_TESTS_SERVICE_STREAMS_SIMULATED_COMPILER_H_
#define MASKD_TESTS_SERVICE_STREAMS_SIMULATED_COMPILER_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "service/grammars/grammar_store.h"
#include "tests/service/streams/simulated_world.h"

namespace maskd::service {

class SimulatedCompiler {
 public:
  // At most `at_once` run; `keeps_all`: the store is large enough for every grammar.
  SimulatedCompiler(SimulatedWorld* world, std::size_t at_once, bool keeps_all)
      : world_(world), at_once_(at_once), keeps_all_(keeps_all) {}

  // As CompileParsed(), of the compile that ends now.
  cache::CompileResult Compile(ParsedSource parsed, const std::string& id,
                               std::shared_ptr<TokenizerSpace> tokenizer, const Limits& limits,
                               Budget& budget);

  // Begins compiles that wait, while there is a place.
  void BeginWaiting();
  // Whether none runs or waits.
  [[nodiscard]] bool IsIdle();
  // When the last one ended.
  [[nodiscard]] Clock::TimePoint last_end() const { return last_end_; }
  // Whether a compile of `id` was cut off at `since` or later.
  [[nodiscard]] bool WasCutOffSince(const std::string& id, Clock::TimePoint since) const;

  // A planted fault: those that run never end.
  void DropAll() { running_.clear(); }

  // What was wrong; "" when nothing was.
  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 private:
  struct Past {
    Clock::TimePoint end;  // of the last one
    Clock::TimePoint cut_off;
    Clock::TimePoint error_kept_until;
    bool succeeded = false;
  };

  [[nodiscard]] Clock::Duration AnyDuration();
  void End(int number, Clock::TimePoint begin);
  void CheckNeeded(const Past& past);
  [[nodiscard]] absl::Status CutOff() const;

  SimulatedWorld* const world_;
  const std::size_t at_once_;
  const bool keeps_all_;
  std::map<int, std::function<void()>> running_;
  int next_ = 0;
  Clock::TimePoint begin_;  // of the one that ends now
  Clock::TimePoint last_end_;
  std::map<std::string, Past> past_;  // by id
  std::string wrong_;
};

}  // namespace maskd::service

#endif  // MASKD_TESTS_SERVICE_STREAMS_SIMULATED_COMPILER_H_
