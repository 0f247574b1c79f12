// Colour and progress for people: on a terminal, and neither in a pipe or a file.
//
// Colour   only where the stream is a terminal, NO_COLOR is not set and TERM is not "dumb"
//          (https://no-color.org).
// Threads  one thread.
#ifndef MASKD_TOOLS_CLI_TERMINAL_H_
#define MASKD_TOOLS_CLI_TERMINAL_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace maskd::cli {

// What a text says, from which its colour follows.
enum class Tone : std::uint8_t { kGood, kBad, kWarning, kFaint };

// `text` in a colour where `descriptor` (1: standard output, 2: standard error) shows colours.
std::string Painted(absl::string_view text, Tone tone, int descriptor = 1);

// Whether standard output is a terminal that can be drawn on; its lines, 24 where it does not say.
bool IsTerminal();
int TerminalLines();

// A line on standard error that counts, ten times a second at most, and goes when the work is done.
class Progress {
 public:
  // `what` is counted, such as "schemas"; `total` 0 is not known.
  Progress(absl::string_view what, std::int64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // One more of what is counted; draws seldom, so a call costs a look at the clock.
  void Step();

 private:
  const std::string what_;
  const std::int64_t total_;
  const bool is_shown_;
  std::int64_t done_ = 0;
  absl::Time next_;
};

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_TERMINAL_H_
