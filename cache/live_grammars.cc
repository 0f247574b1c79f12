#include "cache/live_grammars.h"

namespace maskd::cache {

// Leaves the table before the grammar goes: its address may come again at once.
struct LiveGrammars::Tracked {
  Tracked(GrammarPtr held, std::shared_ptr<Table> in)
      : grammar(std::move(held)), table(std::move(in)) {}
  Tracked(const Tracked&) = delete;
  Tracked& operator=(const Tracked&) = delete;
  ~Tracked() {
    const MutexLock lock(&table->mutex);
    const auto found = table->entries.find(grammar.get());
    table->held_bytes -= found->second.bytes;
    table->entries.erase(found);
  }

  const GrammarPtr grammar;
  const std::shared_ptr<Table> table;
};

GrammarPtr LiveGrammars::Track(GrammarPtr grammar) {
  const CompiledGrammar* const face = grammar.get();
  std::shared_ptr<Tracked> tracked;
  {
    const MutexLock lock(&table_->mutex);
    if (!table_->entries.try_emplace(face).second) return grammar;
    tracked = std::make_shared<Tracked>(std::move(grammar), table_);
    table_->entries[face].grammar = GrammarPtr(tracked, face);
  }
  GrammarPtr counted(std::move(tracked), face);
  Measure(counted);
  return counted;
}

std::int64_t LiveGrammars::Measure(const GrammarPtr& grammar) {
  const std::int64_t bytes = held_bytes_(grammar);
  const MutexLock lock(&table_->mutex);
  if (const auto found = table_->entries.find(grammar.get()); found != table_->entries.end()) {
    table_->held_bytes += bytes - found->second.bytes;
    found->second.bytes = bytes;
  }
  return bytes;
}

std::shared_ptr<GrammarUsage> LiveGrammars::UsageOf(const GrammarPtr& grammar) const {
  const MutexLock lock(&table_->mutex);
  const auto found = table_->entries.find(grammar.get());
  return found == table_->entries.end() ? nullptr : found->second.usage;
}

LiveGrammars::Some LiveGrammars::ListSome(const CompiledGrammar* after, std::size_t most) const {
  Some some;
  some.listed.reserve(most);
  const MutexLock lock(&table_->mutex);
  auto at = after == nullptr ? table_->entries.begin() : table_->entries.upper_bound(after);
  for (std::size_t seen = 0; at != table_->entries.end() && seen < most; ++at, ++seen) {
    some.next_after = at->first;
    // One whose last user is letting go of it has nothing to lock any more.
    if (GrammarPtr grammar = at->second.grammar.lock(); grammar != nullptr)
      some.listed.push_back({std::move(grammar), at->second.usage});
  }
  if (at == table_->entries.end()) some.next_after = nullptr;
  return some;
}

// By some at a time: compiles and rows that are opened wait for the lock.
std::vector<GrammarPtr> LiveGrammars::all() const {
  constexpr std::size_t kAtOnce = 256;
  std::vector<GrammarPtr> grammars;
  Some some;
  do {
    some = ListSome(some.next_after, kAtOnce);
    for (Listed& each : some.listed) grammars.push_back(std::move(each.grammar));
  } while (some.next_after != nullptr);
  return grammars;
}

std::int64_t LiveGrammars::held_bytes() const {
  const MutexLock lock(&table_->mutex);
  return table_->held_bytes;
}

std::size_t LiveGrammars::size() const {
  const MutexLock lock(&table_->mutex);
  return table_->entries.size();
}

}  // namespace maskd::cache
