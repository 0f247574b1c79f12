// Three places for a stream's memory, one after the other: offered (waiting_), in use (the stream's
// own), ended (ended_). A token is taken once, by whoever comes first: the handover port on its own
// thread, or the stream that withdraws it. Both do so under the lock, so each memory has one owner.
//
// May block  nothing under the lock; memory is given back to the system outside of it.
#include "service/streams/memory_offers.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace maskd::service {

absl::Status MemoryOffers::Listen(const std::string& path, const ring::SocketRights& rights,
                                  ring::HandoverPort::MayAsk may_ask) {
  auto port = ring::HandoverPort::Listen(
      absl::StrCat(path, ring::kSocketSuffix),
      [this](absl::string_view token) { return Take(token); }, rights, std::move(may_ask));
  if (!port.ok()) return port.status();
  ports_.push_back(*std::move(port));
  return absl::OkStatus();
}

MemoryOffers::Offer::~Offer() { Withdraw(); }

bool MemoryOffers::Offer::Withdraw() {
  MemoryOffers* const offers = std::exchange(offers_, nullptr);
  return offers != nullptr && offers->Remove(token_);
}

absl::StatusOr<MemoryOffers::Offer> MemoryOffers::Add(ring::UniqueFd fd,
                                                      std::function<void()> tell_fetched) {
  absl::StatusOr<std::string> token = ring::MakeToken();
  if (!token.ok()) return token.status();
  const MutexLock lock(&mutex_);
  waiting_[*token] = {std::move(fd), std::move(tell_fetched)};
  return Offer(this, *std::move(token));
}

void MemoryOffers::Retire(ring::SharedMemory memory) {
  memory.GiveBackAllButUnread();
  std::vector<ring::SharedMemory> gone;  // without the lock: giving back takes time
  const MutexLock lock(&mutex_);
  ended_bytes_ += memory.charged_bytes();
  ended_.push_back(std::move(memory));
  while (ended_.size() > kMaxEnded || ended_bytes_ > kMaxEndedBytes) {
    ended_bytes_ -= ended_.front().charged_bytes();
    gone.push_back(std::move(ended_.front()));
    ended_.pop_front();
  }
}

ring::UniqueFd MemoryOffers::Take(absl::string_view token) {
  const MutexLock lock(&mutex_);
  auto found = waiting_.extract(token);
  if (found.empty()) return ring::UniqueFd();
  found.mapped().tell_fetched();
  return std::move(found.mapped().fd);
}

bool MemoryOffers::Remove(const std::string& token) {
  const MutexLock lock(&mutex_);
  return waiting_.erase(token) > 0;
}

}  // namespace maskd::service
