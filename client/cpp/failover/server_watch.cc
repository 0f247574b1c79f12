// One thread looks now and then whether the stream is one too many where it is. If so it prepares
// the move step by step: it asks for the grammars, has them compiled, opens a stream and offers it.
// The caller's thread sees a flag, and takes the offer between two steps or leaves it.
//
// Invariant  has_news_ is set exactly while grammars are wanted or an offer waits; whatever was
//            prepared for an earlier Use() is thrown away.
// Cost       for a step: one atomic addition and one atomic load. A look asks each server once.
// Threads    one of its own; the lock is never held over a call.
#include "client/cpp/failover/server_watch.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "grpcpp/client_context.h"

#include "client/cpp/base/steady_time.h"
#include "client/cpp/connect/channel.h"
#include "maskd/v1/compile_service.grpc.pb.h"

namespace maskd::client {
namespace {

// How long a server may take to answer, to welcome, and the stream to take what is offered.
constexpr absl::Duration kAnswer = absl::Milliseconds(500);
constexpr absl::Duration kWelcome = absl::Seconds(1);
constexpr absl::Duration kTaken = absl::Seconds(1);
constexpr absl::Duration kParting = absl::Milliseconds(50);
constexpr absl::Duration kAlone = absl::Seconds(30);

}  // namespace

ServerWatch::ServerWatch(Options options) : options_(std::move(options)), pace_(options_.every) {
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {
    // The stream then stays where it is until its server ends.
  }
}

ServerWatch::~ServerWatch() {
  {
    const absl::MutexLock lock(&mutex_);
    is_over_ = true;
    if (compile_ != nullptr) compile_->TryCancel();
  }
  if (thread_.joinable()) thread_.join();
}

std::vector<std::string> ServerWatch::ServersOf(const std::vector<std::string>& addresses,
                                                const Resolver& resolve) {
  std::vector<std::string> servers;
  for (const std::string& address : addresses) {
    auto found = resolve(address);
    if (found.ok())
      servers.insert(servers.end(), found->begin(), found->end());
    else
      servers.push_back(address);
  }
  std::ranges::sort(servers);
  servers.erase(std::ranges::unique(servers).begin(), servers.end());
  return servers;
}

void ServerWatch::Use(const std::string& address, const v1::Welcome& welcome) {
  const absl::MutexLock lock(&mutex_);
  ++uses_;
  own_.reset();
  if (welcome.has_stream_number()) own_ = {address, welcome.stream_number()};
  if (offer_.has_value()) retired_.push_back(std::move(offer_->stream));
  offer_.reset();
  wants_grammars_ = false;
  has_news_ = false;
}

std::vector<std::string> ServerWatch::servers() const {
  const absl::MutexLock lock(&mutex_);
  return servers_;
}

bool ServerWatch::WantsGrammars() const {
  const absl::MutexLock lock(&mutex_);
  return wants_grammars_;
}

void ServerWatch::Give(std::vector<v1::CompileRequest> grammars) {
  const absl::MutexLock lock(&mutex_);
  if (!wants_grammars_) return;
  wants_grammars_ = false;
  has_news_ = false;
  grammars_ = std::move(grammars);
}

std::optional<ServerWatch::Offer> ServerWatch::Take() {
  const absl::MutexLock lock(&mutex_);
  std::optional<Offer> taken = std::exchange(offer_, std::nullopt);
  if (taken.has_value()) has_news_ = false;
  return taken;
}

bool ServerWatch::IsOver() const {
  const absl::MutexLock lock(&mutex_);
  return is_over_;
}

void ServerWatch::Retire(std::unique_ptr<MaskStream> stream) {
  const absl::MutexLock lock(&mutex_);
  retired_.push_back(std::move(stream));
}

void ServerWatch::LeaveAlone(const std::string& address) {
  const absl::MutexLock lock(&mutex_);
  alone_until_[address] = SteadyTime::Now() + kAlone;
}

template <typename Condition>
bool ServerWatch::Await(absl::Duration time, Condition condition) {
  const auto is_there = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return is_over_ || condition(); };
  return mutex_.AwaitWithTimeout(absl::Condition(&is_there), time) && !is_over_;
}

void ServerWatch::Run() {
  while (AwaitLook()) Look();
}

bool ServerWatch::AwaitLook() {
  SteadyTime until = SteadyTime::Now() + pace_.Next(random_);
  while (true) {
    std::vector<std::unique_ptr<MaskStream>> retired;
    {
      const absl::MutexLock lock(&mutex_);
      const bool woken = Await(until - SteadyTime::Now(), [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return !retired_.empty() || uses_ != seen_uses_;
      });
      if (is_over_) return false;
      if (!woken) return true;
      retired = std::exchange(retired_, {});
      // A stream that has just come looks soon whether it was one too many.
      if (std::exchange(seen_uses_, uses_) != uses_) {
        pace_.Came();
        until = std::min(until, SteadyTime::Now() + pace_.Next(random_));
      }
    }
    for (const auto& stream : retired) stream->Close(kParting).IgnoreError();
  }
}

LoadAsker::Loads ServerWatch::AskAll(const LoadAsker::Own& own) {
  std::vector<std::string> servers = this->servers();
  {
    const absl::MutexLock lock(&mutex_);
    std::erase_if(alone_until_, [](const auto& alone) { return alone.second < SteadyTime::Now(); });
    std::erase_if(servers, [this, &own](const std::string& server) ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return alone_until_.contains(server) && server != own.address;
    });
  }
  return asker_.Ask(std::move(servers), own, kAnswer);
}

void ServerWatch::Look() {
  // Each name may take as long as the system's resolver: none is asked for behind the end.
  const Resolver resolve =
      [this](const std::string& address) -> absl::StatusOr<std::vector<std::string>> {
    if (IsOver()) return absl::CancelledError("the stream goes");
    return options_.resolve(address);
  };
  std::vector<std::string> servers = ServersOf(options_.addresses, resolve);
  const std::size_t count = servers.size();
  std::optional<LoadAsker::Own> own;
  {
    const absl::MutexLock lock(&mutex_);
    servers_ = std::move(servers);
    own = own_;
  }
  const std::uint64_t steps = steps_.load(std::memory_order_relaxed);
  const bool is_idle = std::exchange(seen_steps_, steps) == steps;
  if (!own.has_value() || count < 2 || is_idle) return pace_.Looked(false);
  const LoadAsker::Loads loads = AskAll(*own);
  pace_.Looked(loads.IsUneven());
  const std::optional<std::string> place = loads.PlaceFor(own->address);
  if (place.has_value()) Prepare(*place, *own, loads);
}

void ServerWatch::Prepare(const std::string& place, const LoadAsker::Own& own,
                          const LoadAsker::Loads& loads) {
  const auto grammars = AwaitGrammars();
  if (!grammars.has_value()) return;
  if (!Compile(place, *grammars)) return LeaveAlone(place);
  // That may have taken long. The same servers: of many, others would have another place for it.
  const auto is_still_best = [&] {
    return asker_.Ask(loads.servers, own, kAnswer).PlaceFor(own.address) == place;
  };
  if (!grammars->empty() && !is_still_best()) return;
  StreamOptions options = options_.stream;
  options.open_timeout = std::min(options.open_timeout, kWelcome);
  auto opened = MaskStream::Open(place, options_.max_message_bytes, options);
  if (!opened.ok()) return LeaveAlone(place);
  std::unique_ptr<MaskStream> late;
  {
    const absl::MutexLock lock(&mutex_);
    if (uses_ != seen_uses_ || is_over_) {
      late = *std::move(opened);
    } else {
      offer_ = Offer{place, *std::move(opened)};
      has_news_ = true;
      Await(kTaken, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return !offer_.has_value(); });
      if (offer_.has_value()) late = std::move(offer_->stream);
      offer_.reset();
      has_news_ = false;
    }
  }
  if (late != nullptr) late->Close(kParting).IgnoreError();
}

std::optional<std::vector<v1::CompileRequest>> ServerWatch::AwaitGrammars() {
  const absl::MutexLock lock(&mutex_);
  if (uses_ != seen_uses_) return std::nullopt;
  grammars_.reset();
  wants_grammars_ = true;
  has_news_ = true;
  Await(kTaken, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return grammars_.has_value(); });
  wants_grammars_ = false;
  has_news_ = false;
  return std::exchange(grammars_, std::nullopt);
}

bool ServerWatch::Compile(const std::string& place,
                          const std::vector<v1::CompileRequest>& grammars) {
  if (grammars.empty()) return true;
  const auto stub = v1::CompileService::NewStub(MakeChannel(place, options_.max_message_bytes));
  const SteadyTime deadline = SteadyTime::Now() + options_.compile_timeout;
  for (const v1::CompileRequest& grammar : grammars) {
    grpc::ClientContext context;
    context.set_deadline(deadline.ForGrpc());
    {
      const absl::MutexLock lock(&mutex_);
      if (is_over_ || uses_ != seen_uses_) return true;  // nobody goes there any more
      compile_ = &context;
    }
    v1::CompileResponse response;
    const bool compiled = stub->Compile(&context, grammar, &response).ok();
    const absl::MutexLock lock(&mutex_);
    compile_ = nullptr;
    if (!compiled) return false;
  }
  return true;
}

}  // namespace maskd::client
