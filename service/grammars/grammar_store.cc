// From a request's target to a grammar, or to a ticket for the one that is being compiled. The id
// comes first: it is made of the text alone, so a grammar that is known costs a look, and equal
// requests share one compile (cache/single_flight.h). A text that came before is not read for its
// id (cache/known_texts.h).
//
// Compile  in this order: the tenant's lease when it is asked for; room in memory on the compile
//          thread, where waiting holds up no caller's thread; then the work; then the metrics, the
//          warm-up and whoever waits.
// Invariant  a grammar that anybody holds is in live_, so its bytes are counted whether the cache
//          keeps it or not; a pinned one is found though the cache may have let it go.
// May block  AwaitRoom(), on the compile's thread. Get() reads and hashes a text and waits for
//          nothing.
#include "service/grammars/grammar_store.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "cache/load_error.h"
#include "cpu/processor_count.h"
#include "grammar_core/base/budget.h"
#include "grammar_core/base/error.h"
#include "grammar_core/base/memory_reserve.h"
#include "grammar_core/compile/compiler.h"
#include "grammar_core/frontend/front_end.h"
#include "service/base/errors.h"
#include "service/base/log.h"
#include "service/config/memory_plan.h"

namespace maskd::service {
namespace {

constexpr std::size_t kIdDigits = 64;
// Digits of an id in a log line: enough to tell grammars apart.
constexpr std::size_t kLoggedDigits = 12;
// Free pages have gone back and stores have shrunk several times by then.
constexpr std::int64_t kMemoryRetryMs = 1'000;
// Bytes of a text whose compile is short: six schemas of ten, of which none took 10 ms.
constexpr std::size_t kShortTextBytes = 1024;
// What a longer text's turn costs at most, in bytes: ten times as long a text takes three times as
// long, so none costs more than 16 of the shortest.
constexpr std::size_t kMostTextCost = 16 * kShortTextBytes;

// Texts whose ids are kept: 1.4 MB of them.
constexpr std::size_t kKnownTexts = 4096;

// A limit counts work or memory, which the same text meets again; a caller's deadline passes once.
bool IsLasting(const absl::Status& error) {
  return absl::IsInvalidArgument(error) || absl::IsUnimplemented(error) ||
         (absl::IsResourceExhausted(error) && ErrorReason(error) == "LIMIT_EXCEEDED");
}

// The kind as a metric label: only names of our own table.
std::string KindLabel(const std::string& kind) {
  const std::vector<std::string> kinds = FrontEndKinds();
  return std::find(kinds.begin(), kinds.end(), kind) == kinds.end() ? "unknown" : kind;
}

// What a grammar holds by now.
std::int64_t HeldBytes(const cache::GrammarPtr& grammar) { return grammar->costs().held_bytes; }

cache::GrammarCache::Options CacheOptions(const Config& config, const StoreMachinery& machinery,
                                          cache::LiveGrammars* live, WarmUpQueue* warm_up) {
  cache::GrammarCache::Options options;
  options.capacity_bytes = PlanMemory(config).cache_bytes;
  options.compile_threads =
      config.compile_threads > 0 ? static_cast<int>(config.compile_threads) : ProcessorCount();
  if (machinery.compiles == StoreMachinery::Compiles::kWhenTaken) options.compile_threads = 0;
  options.compile_queue = static_cast<std::size_t>(config.compile_queue);
  // Masks are a part of their own (memory/part.h), but what keeps them alive is a grammar.
  options.held_bytes = [live](const cache::GrammarPtr& grammar) {
    return live->Measure(grammar) + grammar->costs().mask_bytes;
  };
  options.is_lasting = &IsLasting;
  options.waiting_changed = [warm_up](int change) { warm_up->CompilesWaitingChanged(change); };
  options.clock = machinery.clock;
  return options;
}

double SecondsBetween(Clock::TimePoint begin, Clock::TimePoint end) {
  return std::chrono::duration<double>(end - begin).count();
}

// Short texts cost the same, long ones their bytes up to a bound: what a compile takes is not known
// before it is done.
cache::WorkPool::Turn TurnOf(const Caller& caller, std::size_t text_bytes) {
  const bool is_short = text_bytes <= kShortTextBytes;
  return {.owner = TurnOwner(caller),
          .cost = is_short ? 1 : static_cast<std::int64_t>(std::min(text_bytes, kMostTextCost)),
          .is_short = is_short};
}

// The compiler times two of them and the whole.
metrics::CompilePhases PhasesOf(const GrammarCosts& costs) {
  constexpr double kSecond = 1e-6;
  const std::int64_t between = costs.compile_us - costs.reduce_us - costs.first_mask_us;
  return {.reduce = kSecond * static_cast<double>(costs.reduce_us),
          .automaton = kSecond * static_cast<double>(std::max<std::int64_t>(0, between)),
          .first_mask = kSecond * static_cast<double>(costs.first_mask_us)};
}

void ReportCompile(const std::string& kind, const std::string& id, const absl::Status& status,
                   double seconds, const Trace& trace, metrics::Metrics* metrics) {
  const std::string code = absl::StatusCodeToString(status.code());
  if (metrics != nullptr) metrics->CompileDone(kind, code, seconds);
  LogEvent(status.ok() ? "compiled" : "compile_failed",
           {{"grammar", id.substr(0, kLoggedDigits)},
            {"kind", kind},
            {"code", code},
            {"us", absl::StrCat(static_cast<std::int64_t>(seconds * 1e6))}},
           trace);
}

}  // namespace

bool IsGrammarId(absl::string_view id) {
  return id.size() == kIdDigits && std::all_of(id.begin(), id.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

class GrammarStore::Compiling {
 public:
  explicit Compiling(const GrammarStore* store) : store_(store) {
    const MutexLock lock(&store_->compiling_mutex_);
    at_ = store_->compiling_.insert(Clock::Steady()->Now());
  }
  ~Compiling() {
    const MutexLock lock(&store_->compiling_mutex_);
    store_->compiling_.erase(at_);
  }
  Compiling(const Compiling&) = delete;
  Compiling& operator=(const Compiling&) = delete;

 private:
  const GrammarStore* const store_;
  std::multiset<Clock::TimePoint>::iterator at_;
};

std::optional<Clock::TimePoint> GrammarStore::compiling_since() const {
  const MutexLock lock(&compiling_mutex_);
  if (compiling_.empty()) return std::nullopt;
  return *compiling_.begin();
}

GrammarStore::GrammarStore(const Config& config, metrics::Metrics* metrics,
                           StoreMachinery machinery)
    : limits_(config.limits),
      metrics_(metrics),
      machinery_(std::move(machinery)),
      warm_up_(config.warm_up_ms, static_cast<int>(config.look_ahead_masks)),
      live_(&HeldBytes),
      texts_(kKnownTexts),
      cache_(CacheOptions(config, machinery_, &live_, &warm_up_), metrics) {}

std::vector<Pool> GrammarStore::pools() const {
  const cache::WorkPool& pool = cache_.pool();
  const auto count = [](std::size_t of) { return static_cast<std::int64_t>(of); };
  return {{"compile_threads", count(pool.working()), count(pool.thread_count())},
          {"compile_queue", count(pool.waiting()), count(pool.queue_limit())}};
}

absl::StatusOr<GrammarStore::Request> GrammarStore::Get(const GrammarTarget& target,
                                                        const LoadedTokenizer& tokenizer,
                                                        const Caller& caller) {
  Tenant* const tenant = caller.tenant.get();
  if (!target.source.has_value()) {
    const absl::Status allowed =
        tenant == nullptr ? absl::OkStatus() : tenant->CheckGrammar(target.id);
    return allowed.ok() ? GetById(target.id, tokenizer) : allowed;
  }
  if (absl::Status allowed = tenant == nullptr ? absl::OkStatus() : tenant->CheckInline();
      !allowed.ok()) {
    return allowed;
  }
  return GetByText(*target.source, tokenizer, caller);
}

absl::StatusOr<GrammarStore::Request> GrammarStore::GetByText(const GrammarSource& source,
                                                              const LoadedTokenizer& tokenizer,
                                                              const Caller& caller) {
  Tenant* const tenant = caller.tenant.get();
  const std::string key = SourceKey(source, tokenizer.vocabulary().hash());
  if (std::optional<std::string> id = texts_.Find(key); id.has_value()) {
    if (tenant != nullptr) {
      if (absl::Status allowed = tenant->CheckGrammar(*id); !allowed.ok()) return allowed;
    }
    if (std::optional<cache::Ticket> known = FindKnown(*id); known.has_value())
      return Request{*std::move(id), *std::move(known)};
  }
  // Before the text is read, which most of a refused call would be. So a known grammar's text is
  // refused here where it is spelled as never before.
  if (absl::Status room = cache_.CheckQueue(); !room.ok()) return room;
  const Clock::TimePoint begin = clock().Now();
  absl::StatusOr<ParsedSource> parsed =
      ParseSource(source, limits_, tokenizer.space()->read_context());
  if (metrics_ != nullptr) metrics_->TextRead(SecondsBetween(begin, clock().Now()));
  if (!parsed.ok()) return parsed.status();
  std::string id = GrammarId(*parsed, tokenizer.vocabulary().hash());
  texts_.Put(key, id);
  if (tenant != nullptr) {
    if (absl::Status allowed = tenant->CheckGrammar(id); !allowed.ok()) return allowed;
  }
  absl::StatusOr<cache::Ticket> ticket = GetTicket(*std::move(parsed), tokenizer, id, caller);
  if (!ticket.ok()) return ticket.status();
  return Request{std::move(id), *std::move(ticket)};
}

absl::StatusOr<cache::Ticket> GrammarStore::GetTicket(ParsedSource parsed,
                                                      const LoadedTokenizer& tokenizer,
                                                      const std::string& id, const Caller& caller) {
  if (std::optional<cache::Ticket> known = FindKnown(id); known.has_value())
    return *std::move(known);
  Tenant* const tenant = caller.tenant.get();
  auto lease = std::make_shared<Tenant::Lease>();
  if (tenant != nullptr) {
    absl::StatusOr<Tenant::Lease> taken = tenant->Take(Tenant::Use::kCompile);
    if (!taken.ok()) return taken.status();
    *lease = *std::move(taken);
  }
  const cache::WorkPool::Turn turn = TurnOf(caller, parsed.source.text.size());
  return cache_.Get(id, CompileOf(std::move(parsed), tokenizer, id, std::move(lease), caller.trace),
                    tenant == nullptr ? nullptr : tenant->share(), turn);
}

std::optional<cache::Ticket> GrammarStore::FindKnown(const std::string& id) {
  cache::GrammarPtr pinned = FindPinned(id);
  std::optional<cache::Ticket> ticket =
      pinned != nullptr ? std::optional<cache::Ticket>(std::move(pinned)) : cache_.FindKnown(id);
  if (ticket.has_value() && ticket->origin() == cache::Ticket::Origin::kKnown) {
    if (const cache::CompileResult known = ticket->result(); known.ok()) CountHit(*known);
  }
  return ticket;
}

absl::StatusOr<GrammarStore::Request> GrammarStore::GetById(const std::string& id,
                                                            const LoadedTokenizer& tokenizer) {
  if (!IsGrammarId(id)) return BadField("grammar_id", "is not 64 lower-case hexadecimal digits");
  // The cache first, as a look there counts as a use.
  cache::GrammarPtr grammar = cache_.Find(id);
  if (grammar == nullptr) grammar = FindPinned(id);
  if (grammar == nullptr) return NotFound("grammar", id, "send its text");
  if (grammar->tokenizer().vocabulary().hash() != tokenizer.vocabulary().hash()) {
    return ErrorAt(
        absl::StatusCode::kFailedPrecondition, "grammar_id", "TOKENIZER_DIFFERS",
        absl::StrCat("was compiled against another tokenizer than \"", tokenizer.name(), "\""));
  }
  CountHit(grammar);
  return Request{id, cache::Ticket(std::move(grammar))};
}

// Work is done once, so the source is moved out of it.
cache::CompileWork GrammarStore::CompileOf(ParsedSource parsed, const LoadedTokenizer& tokenizer,
                                           const std::string& id,
                                           std::shared_ptr<Tenant::Lease> lease,
                                           const Trace& trace) const {
  return [this, source = std::make_shared<ParsedSource>(std::move(parsed)), id,
          lease = std::move(lease), trace, asked = clock().Now(),
          space = tokenizer.space()](const std::atomic<bool>& cancelled) -> cache::CompileResult {
    if (metrics_ != nullptr) metrics_->CompileWaited(SecondsBetween(asked, clock().Now()));
    Tenant::Lease compile = std::move(*lease);  // given back before whoever waits is told
    if (machinery_.memory != nullptr && !machinery_.memory->AwaitRoom(cancelled))
      return MemoryShort();
    compile.Spend();  // it begins: it counts against the tenant's minute from here
    const Compiling compiling(this);
    const Clock::TimePoint begin = clock().Now();
    const std::string kind = source->source.kind;
    cache::CompileResult result =
        OrOutOfMemory([&] { return Compile(std::move(*source), id, space, cancelled); });
    ReportCompile(KindLabel(kind), id, result.status(), SecondsBetween(begin, clock().Now()), trace,
                  metrics_);
    if (!result.ok()) return result;
    if (metrics_ != nullptr) metrics_->CompileSpent(PhasesOf((*result)->costs()));
    warm_up_.Add(*result);
    return result;
  };
}

cache::CompileResult GrammarStore::Compile(ParsedSource parsed, const std::string& id,
                                           const std::shared_ptr<TokenizerSpace>& space,
                                           const std::atomic<bool>& cancelled) const {
  Budget::Bounds bounds;
  bounds.work = limits_.compile_work;
  bounds.cancelled = &cancelled;
  Budget budget(bounds);
  cache::CompileResult result = machinery_.compile(std::move(parsed), id, space, limits_, budget);
  if (!result.ok()) return result;
  cache::GrammarPtr grammar = live_.Track(*std::move(result));
  if (machinery_.memory != nullptr) machinery_.memory->Grew(HeldBytes(grammar));
  return grammar;
}

void GrammarStore::Pin(const std::vector<cache::GrammarPtr>& grammars) {
  absl::flat_hash_map<std::string, cache::GrammarPtr> pinned;
  for (const cache::GrammarPtr& grammar : grammars) pinned.emplace(grammar->id(), grammar);
  const MutexLock lock(&pinned_mutex_);
  pinned_.swap(pinned);
}

cache::GrammarPtr GrammarStore::FindPinned(const std::string& id) const {
  const MutexLock lock(&pinned_mutex_);
  const auto found = pinned_.find(id);
  return found == pinned_.end() ? nullptr : found->second;
}

void GrammarStore::Shrink(std::int64_t bytes) {
  const std::int64_t before = live_.held_bytes();
  cache_.Shrink(bytes);
  // What the cache drops may be held by rows and free nothing: then what grammars have learnt goes.
  if (before - live_.held_bytes() >= bytes) return;
  for (const cache::GrammarPtr& grammar : live_.all()) grammar->Forget();
  idle_rows_.RestAll();
}

void GrammarStore::CountHit(const cache::GrammarPtr& grammar) const {
  if (const auto usage = live_.UsageOf(grammar); usage != nullptr) ++usage->hits;
}

GrammarStore::Compiles GrammarStore::compiles() const {
  const cache::WorkPool& pool = cache_.pool();
  const MutexLock lock(&compiling_mutex_);
  return {.running = std::ssize(compiling_),
          .threads = static_cast<std::int64_t>(pool.thread_count()),
          .waiting = static_cast<std::int64_t>(pool.waiting()),
          .queue = static_cast<std::int64_t>(pool.queue_limit())};
}

absl::Status GrammarStore::CheckRoom() const {
  return machinery_.memory == nullptr || machinery_.memory->HasRoom() ? absl::OkStatus()
                                                                      : MemoryShort();
}

absl::Status GrammarStore::MemoryShort() const {
  return cache::OverloadedError(
      "MEMORY_SHORT",
      absl::StrCat("limit memory_bytes is ", machinery_.memory->limit_bytes(), ", ",
                   machinery_.memory->resident_bytes(), " in use"),
      kMemoryRetryMs);
}

void GrammarStore::RemeasureAll() {
  for (const cache::GrammarPtr& grammar : live_.all()) Remeasure(grammar);
}

}  // namespace maskd::service
