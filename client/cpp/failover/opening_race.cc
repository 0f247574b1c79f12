#include "client/cpp/failover/opening_race.h"

#include <algorithm>
#include <utility>

#include "client/cpp/base/steady_time.h"

namespace maskd::client {
namespace {

// How long one of several attempts is looked at.
constexpr absl::Duration kLook = absl::Milliseconds(1);

}  // namespace

std::optional<OpeningRace::Attempt> OpeningRace::Next(SteadyTime deadline) {
  while (!is_over()) {
    const SteadyTime now = SteadyTime::Now();
    if (!left_.empty() && now >= due_) {
      std::string address = std::move(left_.front());
      left_.pop_front();
      due_ = now + kAttemptDelay;
      auto opening = begin_(address);
      running_.push_back({std::move(address), std::move(opening)});
    }
    const SteadyTime until = left_.empty() ? deadline : std::min(deadline, due_);
    if (auto ended = Look(until); ended.has_value()) {
      if (!ended->stream.ok()) due_ = SteadyTime::LongAgo();
      return ended;
    }
    if (SteadyTime::Now() >= deadline) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<OpeningRace::Attempt> OpeningRace::Look(SteadyTime until) {
  for (auto each = running_.begin(); each != running_.end(); ++each) {
    const bool is_alone = running_.size() == 1;
    auto opened = each->opening->Await(is_alone ? until : SteadyTime::Now() + kLook);
    if (!opened.has_value()) continue;
    Attempt ended{std::move(each->address), *std::move(opened)};
    running_.erase(each);
    return ended;
  }
  return std::nullopt;
}

}  // namespace maskd::client
