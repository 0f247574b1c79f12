#include "grammar_core/matcher/token_preload.h"

namespace maskd {
namespace {

void Fetch(const void* address) { __builtin_prefetch(address); }

// Its transitions and its mask may lie in two lines of the cache.
void FetchTerm(const Term* term) {
  Fetch(&term->row);
  Fetch(&term->mask);
}

}  // namespace

void TokenPreload::Add(const TokenStepper& stepper, TokenStepper::State state,
                       std::span<const TokenId> tokens) {
  const Automaton& automaton = stepper.states().automaton();
  if (RowStates::IsOwn(state)) return;  // its steps are of another kind
  const Term* const term = &automaton.term(state);
  FetchTerm(term);
  walks_.push_back({&automaton, &stepper.vocabulary(), tokens, {}, term});
}

bool TokenPreload::BeginToken(Walk* walk) {
  if (!walk->bytes.empty()) return true;
  Fetch(walk->term->mask.load(std::memory_order_acquire));
  if (walk->tokens.empty()) return false;
  const TokenId token = walk->tokens.front();
  if (token < 0 || token >= walk->vocabulary->size()) return false;
  walk->tokens = walk->tokens.subspan(1);
  walk->bytes = walk->vocabulary->TokenBytes(token);
  return !walk->bytes.empty();
}

bool TokenPreload::FindTransition(Walk* walk) {
  const std::atomic<TermId>* const row = walk->term->row.load(std::memory_order_acquire);
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
  walk->term = &walk->automaton->term(next);
  FetchTerm(walk->term);
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
