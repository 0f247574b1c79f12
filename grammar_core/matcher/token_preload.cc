#include "grammar_core/matcher/token_preload.h"

namespace maskd {
namespace {

void Fetch(const void* address) { __builtin_prefetch(address); }

}  // namespace

void TokenPreload::Add(const TokenStepper& stepper, TokenStepper::State state,
                       std::span<const TokenId> tokens) {
  const Automaton& automaton = stepper.states().automaton();
  if (RowStates::IsOwn(state)) return;  // its steps are of another kind
  const StateLinks* const links = &automaton.store().links(state);
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
  const std::atomic<TermId>* const row = walk->links->row.load(std::memory_order_acquire);
  if (row == nullptr) return false;
  const auto byte = static_cast<unsigned char>(walk->bytes.front());
  walk->transition = row + walk->automaton->classes().Of(byte);
  Fetch(walk->transition);
  return true;
}

bool TokenPreload::Follow(Walk* walk) {
  const TermId next = walk->transition->load(std::memory_order_acquire);
  if (next == kUnknownTerm || next == kNothingTerm) return false;
  walk->bytes.remove_prefix(1);
  walk->links = &walk->automaton->store().links(next);
  Fetch(walk->links);
  return true;
}

void TokenPreload::Run() {
  while (!walks_.empty()) {
    std::erase_if(walks_, [](Walk& walk) { return !BeginToken(&walk); });
    std::erase_if(walks_, [](Walk& walk) { return !FindTransition(&walk); });
    std::erase_if(walks_, [](Walk& walk) { return !Follow(&walk); });
  }
}

}  // namespace maskd
