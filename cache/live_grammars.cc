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

std::vector<GrammarPtr> LiveGrammars::all() const {
  std::vector<GrammarPtr> grammars;
  const MutexLock lock(&table_->mutex);
  grammars.reserve(table_->entries.size());
  for (const auto& [face, entry] : table_->entries)
    if (GrammarPtr grammar = entry.grammar.lock(); grammar != nullptr)
      grammars.push_back(std::move(grammar));
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
