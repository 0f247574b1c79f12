#include "tools/cli/terminal.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include <sys/ioctl.h>
#include <unistd.h>

namespace maskd::cli {
namespace {

constexpr absl::Duration kBetweenLines = absl::Milliseconds(100);

// The variable, empty where it is not set. The program has not changed its environment.
absl::string_view Variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

bool ShowsColour(int descriptor) {
  return isatty(descriptor) == 1 && Variable("NO_COLOR").empty() && Variable("TERM") != "dumb";
}

const char* Code(Tone tone) {
  switch (tone) {
    case Tone::kGood:
      return "\x1b[32m";
    case Tone::kBad:
      return "\x1b[31m";
    case Tone::kWarning:
      return "\x1b[33m";
    case Tone::kFaint:
      return "\x1b[2m";
  }
  return "";
}

}  // namespace

bool IsTerminal() { return isatty(STDOUT_FILENO) == 1 && Variable("TERM") != "dumb"; }

int TerminalLines() {
  constexpr int kUsual = 24;
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1 ? size.ws_row : kUsual;
}

std::string Painted(absl::string_view text, Tone tone, int descriptor) {
  return ShowsColour(descriptor) ? absl::StrCat(Code(tone), text, "\x1b[0m") : std::string(text);
}

Progress::Progress(absl::string_view what, std::int64_t total)
    : what_(what),
      total_(total),
      is_shown_(isatty(2) == 1 && Variable("TERM") != "dumb"),
      next_(absl::Now() + kBetweenLines) {}

Progress::~Progress() {
  if (is_shown_) absl::FPrintF(stderr, "\r\x1b[K");
}

void Progress::Step() {
  ++done_;
  if (!is_shown_ || absl::Now() < next_) return;
  next_ = absl::Now() + kBetweenLines;
  const std::string of = total_ == 0 ? "" : absl::StrCat(" of ", total_);
  absl::FPrintF(stderr, "\r\x1b[K%d%s %s", done_, of, what_);
}

}  // namespace maskd::cli
