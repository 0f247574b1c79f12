// The schemas that cases of a server name instead of giving: "@slow" and others.
//
// Fresh    whatever a name stands for, no server has it in its cache from an earlier run.
// Threads  one thread.
#ifndef MASKD_TOOLS_ATTACK_SERVERS_SCHEMAS_H_
#define MASKD_TOOLS_ATTACK_SERVERS_SCHEMAS_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace maskd::attack {

// Made once a run: its names are this run's own.
class Schemas {
 public:
  // Draws a number at random, so that no text comes again in another run.
  Schemas();

  // The text that a case's `schema` stands for: a name, or else the text itself.
  //   @slow                    some seconds of work at the default limit; @slow_unique: another one
  //                            at each call
  //   @same                    a new small schema, the same until BeginCase()
  //   @unique_small            a new small schema at each call
  //   @poison                  as @same, but no text satisfies it, which takes some work to find
  //   @colliding_keys_N        an object with N names that have one value under FNV-1a (32 bits)
  //   @huge_invalid_1MB        a megabyte that is no JSON
  // Errors: UNIMPLEMENTED for another name.
  absl::StatusOr<std::string> Text(const std::string& schema);

  // Whether the last Text() did not know its name; false the next time.
  bool TakeUnknown() { return std::exchange(was_unknown_, false); }
  // A name that nobody has.
  std::string FreshName();

  // From now on what was the same is another one.
  void BeginCase() { ++case_number_; }

 private:
  const std::uint64_t run_;  // of all runs, this one
  std::uint64_t case_number_ = 0;
  std::uint64_t next_ = 0;
  bool was_unknown_ = false;
};

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_SERVERS_SCHEMAS_H_
