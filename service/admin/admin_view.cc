// Everything is read from counters that the parts keep anyway, when somebody asks; nothing is
// sampled in between. Of a long list a page alone is kept while it is walked.
#include "service/admin/admin_view.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

#include "grammar_core/compile/compiled_grammar.h"
#include "metrics/names.h"
#include "service/grammars/memory_figures.h"

namespace maskd::service {
namespace {

ListedStream Look(const StreamRegistry::Entry& entry, Clock::TimePoint now) {
  ListedStream stream{.id = entry.id, .peer = entry.peer, .has_place = entry.has_place};
  if (entry.figures == nullptr) return stream;
  stream.who = entry.figures->who();
  stream.values = entry.figures->Read();
  stream.age = now - entry.figures->begin();
  const auto since = [now](Clock::TimePoint then) {  // another thread's clock may be ahead
    return std::max(now - then, Clock::Duration::zero());
  };
  if (stream.values.in_step.has_value())
    stream.in_step = since(*stream.values.in_step);
  else
    stream.idle = since(stream.values.active);
  return stream;
}

std::int64_t ValueOf(const ListedStream& stream, StreamOrder order) {
  const StreamFigures::Values& values = stream.values;
  switch (order) {
    case StreamOrder::kAge:
      return -static_cast<std::int64_t>(stream.id);
    case StreamOrder::kTime:
      return values.step_time.count();
    case StreamOrder::kIdle:
      return stream.idle.count();
    case StreamOrder::kRows:
      return std::accumulate(values.rows.begin(), values.rows.end(), std::int64_t{0});
    case StreamOrder::kTokens:
      return values.tokens;
    case StreamOrder::kBytes:
      return values.received_bytes + values.sent_bytes;
  }
  return 0;
}

std::int64_t ValueOf(const cache::LiveGrammars::Listed& listed, GrammarOrder order) {
  const auto costs = [&] { return listed.grammar->costs(); };
  switch (order) {
    case GrammarOrder::kMemory: {
      const GrammarCosts all = costs();
      return all.held_bytes + all.mask_bytes;
    }
    case GrammarOrder::kTime:
      return costs().compile_us;
    case GrammarOrder::kRows:
      return listed.usage->rows;
    case GrammarOrder::kHits:
      return listed.usage->hits;
  }
  return 0;
}

}  // namespace

AdminPage<ListedStream> AdminView::ListStreams(StreamOrder order, PageRequest request) const {
  AdminPage<ListedStream> page(std::move(request));
  std::vector<StreamRegistry::Entry> some;
  std::uint64_t first = 0;
  do {
    some = parts_.streams->List(first, kAtOnce);
    for (const StreamRegistry::Entry& entry : some) {
      ListedStream stream = Look(entry, parts_.clock->Now());
      first = entry.id + 1;
      page.Offer({ValueOf(stream, order), absl::StrFormat("%020d", entry.id)}, std::move(stream));
    }
  } while (some.size() == kAtOnce);
  return page;
}

AdminPage<cache::LiveGrammars::Listed> AdminView::ListGrammars(GrammarOrder order,
                                                               PageRequest request) const {
  AdminPage<cache::LiveGrammars::Listed> page(std::move(request));
  cache::LiveGrammars::Some some;
  do {
    some = parts_.grammars->live().ListSome(some.next_after, kAtOnce);
    for (cache::LiveGrammars::Listed& listed : some.listed) {
      AdminPlace place{ValueOf(listed, order), listed.grammar->id()};
      page.Offer(std::move(place), std::move(listed));
    }
  } while (some.next_after != nullptr);
  return page;
}

MemoryInUse AdminView::memory() const {
  const memory::Accountant& accountant = *parts_.accountant;
  MemoryInUse memory{.limit_bytes = accountant.limit_bytes(),
                     .resident_bytes = accountant.resident_bytes(),
                     .mark = accountant.passed()};
  for (const metrics::Figure& figure : MemoryFigures(accountant.Read(), memory.limit_bytes))
    if (absl::string_view(figure.name.name) == metrics::kMemoryBytes.name)
      memory.parts.emplace_back(figure.label_value, static_cast<std::int64_t>(figure.value));
  return memory;
}

}  // namespace maskd::service
