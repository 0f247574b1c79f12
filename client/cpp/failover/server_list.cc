#include "client/cpp/failover/server_list.h"

#include <algorithm>

#include "absl/random/distributions.h"

#include "client/cpp/base/errors.h"
#include "client/cpp/base/steady_time.h"

namespace maskd::client {

void ServerList::Use(const std::string& address) {
  const auto found = std::ranges::find(all_, address);
  at_ = static_cast<std::size_t>(found - all_.begin());
  if (found == all_.end()) all_.push_back(address);
}

void ServerList::Shuffle(absl::BitGenRef random) {
  const std::string here = address();
  std::ranges::shuffle(all_, random);
  Use(here);
}

void ServerList::Replace(const std::vector<std::string>& now, absl::BitGenRef random) {
  if (now.empty()) return;
  const std::string here = address();
  std::erase_if(all_, [&](const std::string& server) {
    return server != here && !std::ranges::binary_search(now, server);
  });
  for (const std::string& server : now) {
    if (std::ranges::find(all_, server) != all_.end()) continue;
    const std::size_t at = absl::Uniform<std::size_t>(random, 0, all_.size() + 1);
    all_.insert(all_.begin() + static_cast<std::ptrdiff_t>(at), server);
  }
  Use(here);
}

void ServerList::Note(const std::string& address, const absl::Status& said, SteadyTime now) {
  refusals_.erase(address);
  if (const std::optional<absl::Duration> after = ErrorRetryAfter(said); after.has_value())
    refusals_.emplace(address, Refusal{said, now + *after});
}

std::vector<std::string> ServerList::ToAsk(SteadyTime now) const {
  std::vector<std::string> servers;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const std::string& server = all_[(at_ + i) % all_.size()];
    const auto refusal = refusals_.find(server);
    if (refusal == refusals_.end() || refusal->second.until <= now) servers.push_back(server);
  }
  return servers;
}

std::optional<ServerList::Refusal> ServerList::First() const {
  std::optional<Refusal> first;
  for (const std::string& server : all_) {
    const auto refusal = refusals_.find(server);
    if (refusal == refusals_.end()) return std::nullopt;
    if (!first.has_value() || refusal->second.until < first->until) first = refusal->second;
  }
  return first;
}

}  // namespace maskd::client
