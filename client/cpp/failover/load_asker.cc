#include "client/cpp/failover/load_asker.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/support/async_unary_call.h"

#include "client/cpp/base/steady_time.h"
#include "client/cpp/connect/channel.h"

namespace maskd::client {
namespace {

constexpr int kMessageBytes = 1 << 16;
// No server has more streams: what is said beyond, sums of it would overflow.
constexpr std::uint32_t kMostStreams = 1 << 20;

int Bounded(std::uint32_t streams) { return static_cast<int>(std::min(streams, kMostStreams)); }

struct Call {
  grpc::ClientContext context;
  v1::GetLoadResponse response;
  grpc::Status status;
  std::unique_ptr<grpc::ClientAsyncResponseReader<v1::GetLoadResponse>> reader;
};

}  // namespace

bool LoadAsker::Loads::IsUneven() const {
  std::set<int> known;
  for (const std::optional<int>& count : streams)
    if (count.has_value()) known.insert(*count);
  return !known.empty() && *known.rbegin() > *known.begin() + 1;
}

std::optional<std::string> LoadAsker::Loads::PlaceFor(const std::string& address) const {
  std::vector<std::string> known;
  std::vector<int> counts;
  std::optional<std::size_t> own;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    if (!streams[i].has_value()) continue;
    if (servers[i] == address) own = known.size();
    known.push_back(servers[i]);
    counts.push_back(*streams[i]);
  }
  if (!own.has_value() || !rank.has_value()) return std::nullopt;
  const std::optional<std::size_t> place = PlaceToGo(counts, *own, *rank);
  return place.has_value() ? std::optional(known[*place]) : std::nullopt;
}

void LoadAsker::Sample(std::vector<std::string>* servers, const std::optional<Own>& own) {
  if (servers->size() > kMost) {
    std::ranges::shuffle(*servers, random_);
    if (own.has_value()) {
      const auto here = std::ranges::find(*servers, own->address);
      if (here != servers->end()) std::swap(*here, servers->front());
    }
    servers->resize(kMost);
  }
  std::ranges::sort(*servers);
  std::erase_if(stubs_, [servers](const auto& stub) {
    return !std::ranges::binary_search(*servers, stub.first);
  });
}

LoadAsker::Loads LoadAsker::Ask(std::vector<std::string> servers, const std::optional<Own>& own,
                                absl::Duration patience) {
  Sample(&servers, own);
  Loads loads{std::move(servers), {}, std::nullopt};
  loads.streams.resize(loads.servers.size());
  std::vector<Call> calls(loads.servers.size());
  grpc::CompletionQueue queue;
  const auto deadline = (SteadyTime::Now() + patience).ForGrpc();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::string& server = loads.servers[i];
    auto& stub = stubs_[server];
    if (stub == nullptr) stub = v1::MaskService::NewStub(MakeChannel(server, kMessageBytes));
    v1::GetLoadRequest request;
    if (own.has_value() && own->address == server) request.set_stream_number(own->stream_number);
    calls[i].context.set_deadline(deadline);
    calls[i].reader = stub->AsyncGetLoad(&calls[i].context, request, &queue);
    calls[i].reader->Finish(&calls[i].response, &calls[i].status, &calls[i]);
  }
  void* tag = nullptr;
  bool ok = false;
  for (std::size_t i = 0; i < calls.size(); ++i) queue.Next(&tag, &ok);
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!calls[i].status.ok()) {
      // Its connection may wait for minutes before it tries again.
      stubs_.erase(loads.servers[i]);
      continue;
    }
    loads.streams[i] = Bounded(calls[i].response.open_streams());
    if (calls[i].response.has_rank()) loads.rank = Bounded(calls[i].response.rank());
  }
  return loads;
}

}  // namespace maskd::client
