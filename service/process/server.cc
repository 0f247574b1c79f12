// The order of a start is that of what may fail and what may be asked: tokenizers and tokens are
// read, sockets opened, gRPC built, threads started, grammars preloaded, and only then health says
// ready and connections are taken. A client never meets a server that is half there.
//
// The order of an end is the other way round: not ready, streams told to go and waited for, no
// further connections, gRPC shut down with what time is left, threads joined. Each step has its
// deadline.
//
// Invariant  members are destroyed in the reverse of their order in the class, so each may use
//            those before it; threads are joined before anything they use goes.
// May block  Start() for tokenizers and preloaded grammars; Drain() for --drain_ms.
#include "service/process/server.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server_builder.h>

#include "grammar_core/frontend/front_end.h"
#include "grammar_core/frontend/json_schema/schema_store.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/mask/token_mask.h"
#include "service/admin/server_plugins.h"
#include "service/base/log.h"
#include "service/config/config_reader.h"
#include "service/grammars/memory_figures.h"
#include "service/grammars/preload.h"
#include "service/sequences/row_counts.h"

namespace maskd::service {
namespace {

using std::chrono::milliseconds;

// A dead peer is found within seconds; clients may ping as often.
constexpr int kKeepaliveMs = 10'000;
constexpr int kKeepaliveTimeoutMs = 5'000;
constexpr int kMinClientPingMs = 1'000;
// Calls of one connection that are neither Decode streams nor of health: none has them all.
constexpr int kConnectionCalls = 512;

constexpr const char* kServices[] = {"maskd.v1.CompileService", "maskd.v1.MaskService",
                                     "maskd.v1.TokenizerService"};

// What a store keeps beside masks: keys, tries and tables. Those count wherever they are.
std::int64_t BytesBesideMasks(const MaskStore& store) {
  const MaskStore::Stats stats = store.stats();
  return stats.held_bytes - stats.mask_bytes;
}

void LogTokenizer(const LoadedTokenizer& tokenizer) {
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  LogEvent("tokenizer", {{"name", tokenizer.name()},
                         {"size", absl::StrCat(vocabulary.size())},
                         {"stop_ids", absl::StrJoin(vocabulary.stop_ids(), ",")},
                         {"hash", vocabulary.hash()}});
}

void LogMark(const memory::Accountant::Passed& passed) {
  LogEvent("memory_mark", {{"mark", memory::kMarkNames[static_cast<std::size_t>(passed.mark)]},
                           {"now", passed.above ? "above" : "below"},
                           {"resident", absl::StrCat(passed.resident_bytes)},
                           {"limit", absl::StrCat(passed.limit_bytes)}});
}

memory::Accountant::Options AccountOptions(const MemoryPlan& plan, memory::Accountant::Heap heap) {
  memory::Accountant::Options options;
  options.limit_bytes = plan.memory_bytes;
  options.heap = std::move(heap);
  options.heap.floor_bytes = plan.heap_bytes;
  options.passed = &LogMark;
  return options;
}

void SetArguments(const Config& config, grpc::ServerBuilder* builder) {
  builder->SetMaxReceiveMessageSize(static_cast<int>(config.max_message_bytes));
  builder->SetMaxSendMessageSize(-1);  // replies are bounded by max_reply_bytes
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                              kMinClientPingMs);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                              kConnectionCalls + static_cast<int>(config.max_streams));
  // Or else each call would be sent more than the 64 KiB that nobody has asked for.
  builder->AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  // A message would be decompressed before its size is looked at.
  builder->SetDefaultCompressionAlgorithm(GRPC_COMPRESS_NONE);
  for (const auto algorithm : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP})
    builder->SetCompressionAlgorithmSupportStatus(algorithm, false);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const Config& config,
                                                      memory::Accountant::Heap heap,
                                                      std::function<bool()> is_ending) {
  // What may take long or fail on the user's files comes before any port is open.
  const MemoryPlan plan = PlanMemory(config);
  absl::StatusOr<std::unique_ptr<const TokenizerStore>> tokenizers =
      TokenizerStore::Load(config.tokenizers, plan.mask_store_bytes);
  if (!tokenizers.ok()) return tokenizers.status();
  for (const LoadedTokenizer& tokenizer : (*tokenizers)->all()) LogTokenizer(tokenizer);
  try {
    std::unique_ptr<Server> server(
        new Server(config, plan, std::move(heap), *std::move(tokenizers), std::move(is_ending)));
    server->tokens_seen_ = FileStamp::Of(config.tokens);
    if (absl::Status read = server->admission_.Configure(config); !read.ok()) return read;
    server->KeepAccount();
    if (absl::Status listening = server->Listen(); !listening.ok()) return listening;
    return server;
  } catch (const std::system_error& error) {
    return absl::UnavailableError(absl::StrCat("the system has no thread: ", error.what()));
  }
}

Server::Server(const Config& config, const MemoryPlan& plan, memory::Accountant::Heap heap,
               TokenizerStorePtr tokenizers, std::function<bool()> is_ending)
    : config_(config),
      plan_(plan),
      is_ending_(std::move(is_ending)),
      metrics_(MASKD_VERSION, FrontEndKinds()),
      accountant_(AccountOptions(plan, std::move(heap))),
      tokenizers_(std::move(tokenizers)),
      grammars_(config, &metrics_, {.memory = &accountant_}),
      calls_(
          config, [this](const grpc::ServerContextBase& context) { return gate_.Admit(context); },
          &metrics_, [this] { accountant_.EmptyThreadCache(); }),
      compile_service_(&tokenizers_, &grammars_),
      mask_service_(config, &tokenizers_, &grammars_, &gate_, &metrics_),
      tokenizer_service_(&tokenizers_),
      ports_(config_, &connections_),
      stalls_(milliseconds(config.stall_ms), [this](bool stalled) { SetLive(!stalled); }) {}

// Left out, since only bounds of it are known, which are no part of what is resident: messages that
// are being received, at most max_receiving_bytes; pages lent to clients that this process has not
// touched (ring::SharedMemory::alive_bytes() is what is lent in all). What it has touched the
// accountant knows of the system.
void Server::KeepAccount() {
  using memory::Part;
  const auto keep = [this](memory::Accountant::Holder holder) {
    holders_.push_back(accountant_.Register(std::move(holder)));
  };
  keep({.part = Part::kVocabularies, .held_bytes = [this] { return VocabularyBytes(); }});
  keep({.part = Part::kMasks,
        .held_bytes = [this] { return MaskBytes(); },
        .shrink = [this](std::int64_t bytes) { ShrinkMasks(bytes); }});
  keep({.part = Part::kSchemas,
        .held_bytes = [this] { return SchemaBytes(); },
        .shrink = [this](std::int64_t bytes) { ShrinkSchemas(bytes); }});
  keep({.part = Part::kGrammars,
        .held_bytes = [this] { return grammars_.live().held_bytes(); },
        .shrink = [this](std::int64_t bytes) { grammars_.Shrink(bytes); }});
  keep({.part = Part::kRows, .held_bytes = &LiveRowBytes});
  keep({.part = Part::kReplies,
        .held_bytes = [this] { return mask_service_.queued_bytes() + calls_.unread().bytes(); }});
  holders_.push_back(accountant_.Register(Part::kRequests, &calls_.received()));
  metrics_.AddFigures([this] { return ReadFigures(); });
  metrics_.AddFigures([] { return ProcessFigures(memory::ReadProcessFigures()); });
  metrics_.AddFigures([this] { return ports_.ReadFigures(); });
  metrics_.AddFigures([this] { return admission_.ReadFigures(); });
  metrics_.AddFigures([] { return LogFigures(LogLinesDropped()); });
  metrics_.AddFigures([this] { return PoolFigures(Pools()); });
  metrics_.AddFigures([this] { return TokenizerFigures(*tokenizers_.now()); });
}

std::int64_t Server::VocabularyBytes() const {
  const TokenizerStorePtr tokenizers = tokenizers_.now();
  std::int64_t bytes = 0;
  for (const LoadedTokenizer& tokenizer : tokenizers->all())
    bytes += tokenizer.space()->held_bytes();
  return bytes;
}

std::int64_t Server::MaskBytes() const {
  const TokenizerStorePtr tokenizers = tokenizers_.now();
  std::int64_t bytes = StoredMaskBytes();
  for (const LoadedTokenizer& tokenizer : tokenizers->all())
    bytes += BytesBesideMasks(tokenizer.space()->masks());
  return bytes;
}

void Server::ShrinkMasks(std::int64_t bytes) {
  const TokenizerStorePtr tokenizers = tokenizers_.now();
  for (const LoadedTokenizer& tokenizer : tokenizers->all()) {
    if (bytes <= 0) return;
    MaskStore& store = tokenizer.space()->masks();
    const std::int64_t held = store.stats().held_bytes;
    store.Shrink(std::max<std::int64_t>(0, held - bytes));
    bytes -= held - store.stats().held_bytes;
  }
}

std::int64_t Server::SchemaBytes() const {
  const TokenizerStorePtr tokenizers = tokenizers_.now();
  std::int64_t bytes = 0;
  for (const LoadedTokenizer& tokenizer : tokenizers->all())
    bytes += tokenizer.space()->schemas().stats().held_bytes;
  return bytes;
}

void Server::ShrinkSchemas(std::int64_t bytes) {
  const TokenizerStorePtr tokenizers = tokenizers_.now();
  for (const LoadedTokenizer& tokenizer : tokenizers->all()) {
    if (bytes <= 0) return;
    SchemaStore& store = tokenizer.space()->schemas();
    const std::int64_t held = store.stats().held_bytes;
    store.Shrink(std::max<std::int64_t>(0, held - bytes));
    bytes -= held - store.stats().held_bytes;
  }
}

std::vector<metrics::Figure> Server::ReadFigures() {
  grammars_.RemeasureAll();
  std::vector<metrics::Figure> figures = MemoryFigures(accountant_.Read(), plan_.memory_bytes);
  for (metrics::Figure& figure : GrammarFigures(grammars_.live().all()))
    figures.push_back(std::move(figure));
  return figures;
}

std::vector<Pool> Server::Pools() {
  std::vector<Pool> all = mask_service_.pools();
  for (const std::vector<Pool>& pools : {grammars_.pools(), calls_.pools(), connections_.pools()})
    all.insert(all.end(), pools.begin(), pools.end());
  return all;
}

// The streams' threads use the server until their last call has ended.
Server::~Server() {
  admin_ = nullptr;
  // Nobody new, then everybody out, then the threads: what they use is destroyed behind them.
  ports_.Close();
  if (server_ == nullptr) return;
  health_.Stop();
  server_->Shutdown(std::chrono::system_clock::now());
  mask_service_.Join();
  calls_.Join();
  health_.Join();
}

absl::Status Server::Listen() {
  connections_.SetMayConnect([this](std::int64_t user) { return admission_.MayConnect(user); });
  if (absl::Status opened = ports_.Open(); !opened.ok()) return opened;
  grpc::EnableDefaultHealthCheckService(false);  // ours says why
  const auto builder = BuilderWithoutPlugins();
  SetArguments(config_, builder.get());
  compile_service_.AddTo(&calls_);
  mask_service_.AddTo(&calls_);
  tokenizer_service_.AddTo(&calls_);
  calls_.Listen(builder.get());
  mask_service_.Listen(builder.get());
  health_.Listen(builder.get());
  ports_.SetUp(builder.get());
  server_ = builder->BuildAndStart();
  if (server_ == nullptr) return absl::InternalError("gRPC's server does not start");
  accountant_.Start();
  if (config_.shared_memory) LendMemory();
  if (absl::Status started = StartServices(); !started.ok()) return started;
  auto preloaded = Preload(config_.grammars, *tokenizers_.now(), &grammars_, is_ending_);
  if (!preloaded.ok()) return preloaded.status();
  grammars_.Pin(*preloaded);
  // From here on a balancer may send callers.
  SetLive(true);
  SetReady(true);
  if (absl::Status started = ports_.Start(server_.get()); !started.ok()) return started;
  WatchStalls();
  if (absl::Status started = stalls_.Start(); !started.ok()) return started;
  if (absl::Status listening = ListenForAdmins(); !listening.ok()) return listening;
  return ListenForMetrics();
}

absl::Status Server::StartServices() {
  if (absl::Status started = health_.Start(); !started.ok()) return started;
  if (absl::Status started = calls_.Start(); !started.ok()) return started;
  return mask_service_.Start([this](grpc::ServerCompletionQueue* queue, int* live) {
    health_.Accept(queue, live);
    calls_.Accept(queue, live);
  });
}

absl::Status Server::ListenForMetrics() {
  if (config_.metrics_listen.empty()) return absl::OkStatus();
  auto port =
      MetricsPort::Start(config_.metrics_listen, {.metrics = &metrics_,
                                                  .is_live = [this] { return IsLive(); },
                                                  .is_ready = [this] { return IsReady(); }});
  if (!port.ok())
    return absl::UnavailableError(absl::StrCat("--metrics_listen: ", port.status().message()));
  metrics_port_ = *std::move(port);
  LogEvent("metrics",
           {{"address", config_.metrics_listen}, {"port", absl::StrCat(metrics_port_->port())}});
  return absl::OkStatus();
}

// Last of what listens, so that everything that it looks at is there.
absl::Status Server::ListenForAdmins() {
  if (AddressesOf(config_, Audience::kAdmins).empty()) return absl::OkStatus();
  auto admin =
      AdminServer::Start(config_,
                         {.streams = &mask_service_.streams(),
                          .grammars = &grammars_,
                          .tokenizers = &tokenizers_,
                          .accountant = &accountant_,
                          .limits = [this, config = config_] { return ReadLimits(config); }},
                         MASKD_VERSION, &admission_);
  if (!admin.ok()) return admin.status();
  admin_ = *std::move(admin);
  return absl::OkStatus();
}

std::vector<int> Server::admin_ports() const {
  return admin_ == nullptr ? std::vector<int>() : admin_->ports();
}

// By the names of their flags. A row's limit is one of its stream, so of all rows there is none.
std::vector<LimitInUse> Server::ReadLimits(const Config& config) {
  const GrammarStore::Compiles compiles = grammars_.compiles();
  return {
      {"max_streams", mask_service_.streams().CountPlaced(), config.max_streams},
      {"rows", LiveRows(), std::nullopt},
      {"max_connections", connections_.CountOpen(), connections_.limits().in_all},
      {"compile_threads", compiles.running, compiles.threads},
      {"compile_queue", compiles.waiting, compiles.queue},
      {"cache_bytes", grammars_.held_bytes(), grammars_.capacity_bytes()},
      {"max_unread_reply_bytes", calls_.unread().bytes(), config.max_unread_reply_bytes},
  };
}

// What cannot lend serves all the same: its streams stay with gRPC.
void Server::LendMemory() {
  for (const std::string& address : config_.listen) {
    const std::optional<absl::string_view> path = SocketPathOf(address);
    if (!path.has_value()) continue;
    const auto may_fetch = [this](uid_t user) { return admission_.MayConnect(user); };
    if (absl::Status lent =
            mask_service_.LendMemory(std::string(*path), SocketRightsOf(config_), may_fetch);
        !lent.ok()) {
      LogEvent("no_shared_memory", {{"address", address}, {"reason", std::string(lent.message())}});
    }
  }
}

void Server::SetLive(bool live) {
  is_live_ = live;
  health_.Set("liveness", live);
}

void Server::SetReady(bool ready) {
  is_ready_ = ready;
  health_.Set("", ready);
  health_.Set("readiness", ready);
  for (const char* service : kServices) health_.Set(service, ready);
}

void Server::WatchStalls() {
  stalls_.Add("accept_loop", [this] { return ports_.activity().since(); });
  stalls_.Add("call_thread", [this] { return calls_.busy_since(); });
  stalls_.Add("compile_thread", [this] { return grammars_.compiling_since(); });
  for (int i = 0; i < mask_service_.thread_count(); ++i) {
    stalls_.Add(absl::StrCat("stream_thread_", i),
                [this, i] { return mask_service_.busy_since(i); });
  }
}

// What can fail comes before what changes anything.
absl::Status Server::Reload(const Config& next) {
  if (absl::Status checked = CheckReload(config_, next); !checked.ok()) return checked;
  const TokenizerStorePtr before = tokenizers_.now();
  auto loaded =
      TokenizerStore::Load(next.tokenizers, PlanMemory(next).mask_store_bytes, before.get());
  if (!loaded.ok()) return loaded.status();
  const TokenizerStorePtr tokenizers = *std::move(loaded);
  auto preloaded = Preload(next.grammars, *tokenizers, &grammars_, is_ending_);
  if (!preloaded.ok()) return preloaded.status();
  const FileStamp tokens = FileStamp::Of(next.tokens);
  if (absl::Status read = admission_.Configure(next); !read.ok()) return read;
  tokens_seen_ = tokens;
  // Grammars before tokenizers: a call that finds the new tokenizer finds its grammars, too.
  grammars_.Pin(*preloaded);
  tokenizers_.Replace(tokenizers);
  for (const LoadedTokenizer& tokenizer : tokenizers->all()) LogTokenizer(tokenizer);
  config_ = next;
  return absl::OkStatus();
}

void Server::LookAtTokens() {
  const FileStamp now = FileStamp::Of(config_.tokens);
  if (config_.tokens.empty() || now == tokens_seen_) return;
  tokens_seen_ = now;
  const absl::Status read = admission_.ReadTokens(config_.tokens);
  LogEvent(read.ok() ? "tokens_read" : "tokens_refused",
           {{"path", config_.tokens}, {"reason", std::string(read.message())}});
}

void Server::Drain() {
  LogEvent("draining", {{"ms", absl::StrCat(config_.drain_ms)}});
  SetReady(false);
  const auto deadline = std::chrono::steady_clock::now() + milliseconds(config_.drain_ms);
  // gRPC cancels a call that comes during its shutdown. So that begins when the streams have gone:
  // until then one that comes is refused with UNAVAILABLE.
  mask_service_.Drain(deadline);
  health_.Stop();
  ports_.Close();
  const auto left = deadline - std::chrono::steady_clock::now();
  server_->Shutdown(std::chrono::system_clock::now() +
                    std::max(std::chrono::duration_cast<milliseconds>(left), milliseconds(0)));
  server_->Wait();
  mask_service_.Join();
  calls_.Join();
  health_.Join();
  LogEvent("stopped", {});
}

int Server::metrics_port() const { return metrics_port_ == nullptr ? 0 : metrics_port_->port(); }

}  // namespace maskd::service
