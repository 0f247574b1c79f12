// Three passes over all rows, again and again: each asks for what the next one will read, so that
// the reads of all rows are under way together. A row leaves when its tokens are over, or at the
// first transition that is not made yet.
#include "grammar_core/matcher/token_preload.h"

#include <atomic>
#include <cassert>

#include "absl/strings/string_view.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/matcher/token_stepper.h"
#include "grammar_core/rows/row_states.h"

namespace maskd {
namespace {

void Fetch(const void* address) { __builtin_prefetch(address); }

}  // namespace

struct TokenPreload::Walk {
  const Automaton* automaton;
  const Vocabulary* vocabulary;
  std::span<const TokenId> tokens;  // after the one whose bytes are walked
  absl::string_view bytes;          // left of it
  const StateLinks* links;          // of its state
  StateWays ways = StateWays(0);
};

TokenPreload::TokenPreload() = default;
TokenPreload::~TokenPreload() = default;

void TokenPreload::Add(const TokenStepper& stepper, RowStateId state,
                       std::span<const TokenId> tokens) {
  const Automaton& automaton = stepper.states().automaton();
  if (RowStates::IsOwn(state)) return;  // its steps are of another kind
  const StateLinks* const links = &automaton.store().links(RowMemory::TermOf(state));
  Fetch(links);
  walks_.push_back({&automaton, &stepper.vocabulary(), tokens, {}, links});
}

bool TokenPreload::BeginToken(Walk* walk) {
  if (!walk->bytes.empty()) return true;
  Fetch(walk->links->mask.load(std::memory_order_acquire));
  if (walk->tokens.empty()) return false;
  const TokenId token = walk->tokens.front();
  if (token < 0 || token >= walk->vocabulary->size()) return false;
  walk->tokens = walk->tokens.subspan(1);
  walk->bytes = walk->vocabulary->TokenBytes(token);
  return !walk->bytes.empty();
}

bool TokenPreload::FindTransition(Walk* walk) {
  walk->ways = StateWays(walk->links->ways.load(std::memory_order_acquire));
  if (walk->ways.none()) return false;
  if (!walk->ways.is_single()) Fetch(walk->ways.address_of(NextClass(*walk)));
  return true;
}

bool TokenPreload::Follow(Walk* walk) {
  assert(!walk->bytes.empty() && "BeginToken() has looked");
  const TermId next = walk->ways.To(NextClass(*walk));
  if (next == kUnknownTerm || next == kNothingTerm) return false;
  walk->bytes.remove_prefix(1);
  walk->links = &walk->automaton->store().links(next);
  Fetch(walk->links);
  return true;
}

int TokenPreload::NextClass(const Walk& walk) {
  return walk.automaton->classes().Of(static_cast<unsigned char>(walk.bytes.front()));
}

void TokenPreload::Run() {
  while (!walks_.empty()) {
    std::erase_if(walks_, [](Walk& walk) { return !BeginToken(&walk); });
    std::erase_if(walks_, [](Walk& walk) { return !FindTransition(&walk); });
    std::erase_if(walks_, [](Walk& walk) { return !Follow(&walk); });
  }
}

}  // namespace maskd
