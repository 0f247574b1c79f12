#include "grammar_core/matcher/endings.h"

#include <algorithm>
#include <span>

#include "absl/strings/ascii.h"

#include "grammar_core/automaton/automaton.h"

namespace maskd {
namespace {

constexpr std::int64_t kBytesAState = 24;

Budget CellBudget(std::int64_t work) {
  Budget::Bounds bounds;
  bounds.work = work;
  bounds.work_name = "closing_work";
  return Budget(bounds);
}

}  // namespace

int Endings::Few(const TokenStepper& stepper, State state) {
  if (RowStates::IsOwn(state)) return FewOwn(stepper, state);
  const Node node = EndingOf(stepper, state);
  return node == kNone || nodes_[node].few == kNoTokens ? kNever : nodes_[node].few;
}

std::string Endings::Text(const TokenStepper& stepper, State state) {
  std::string text;
  for (Node node = EndingOf(stepper, state); node != kEnd && node != kNone;
       node = nodes_[node].next) {
    text.push_back(nodes_[node].byte);
  }
  return text;
}

void Endings::Forget() {
  texts_.Forget();
  nodes_.resize(1);
  ending_.clear();
}

int Endings::FewOwn(const TokenStepper& stepper, State state) {
  const RowStates& states = stepper.states();
  const RowStates::Scratch scratch(states);
  const State shared = states.Shared(state);
  const int few = Few(stepper, shared);
  if (few == kNever) return kNever;
  Budget budget = CellBudget(kOwnWork);
  Work work(budget);
  if (states.Completes(state, Text(stepper, shared), work)) return few;
  const std::optional<std::string> text = OwnText(stepper, state, work);
  if (!text.has_value()) return kNever;
  const std::vector<TokenId> tokens = FewestPieces(stepper.search(), *text);
  return tokens.empty() ? kNever : static_cast<int>(tokens.size());
}

std::optional<std::string> Endings::OwnText(const TokenStepper& stepper, State state, Work& work) {
  const RowStates& states = stepper.states();
  std::string text;
  State at = state;
  for (int replaced = 0; replaced <= kMaxReplaced; ++replaced) {
    const std::string ending = Text(stepper, states.Shared(at));
    std::size_t taken = 0;
    for (; taken < ending.size(); ++taken) {
      if (!RowStates::IsOwn(at)) return text + ending.substr(taken);
      const auto byte = static_cast<unsigned char>(ending[taken]);
      const State next = states.Take(at, byte, work);
      if (next == kNothingTerm || next == kFailedTerm) break;
      at = next;
      text.push_back(ending[taken]);
    }
    if (states.MayEnd(at)) return text;
    if (taken == ending.size() || !work.ok()) return std::nullopt;
    const auto other = OtherByte(stepper, static_cast<unsigned char>(ending[taken]), &at, work);
    if (!other.has_value()) return std::nullopt;
    text.push_back(static_cast<char>(*other));
  }
  return std::nullopt;
}

// White space would change nothing.
std::optional<unsigned char> Endings::OtherByte(const TokenStepper& stepper, unsigned char refused,
                                                State* at, Work& work) {
  const RowStates& states = stepper.states();
  const int enough = Few(stepper, states.Shared(*at));
  const FirstClasses::Set first = states.FirstOf(*at, work);
  std::optional<unsigned char> best;
  State behind = kNothingTerm;
  int least = kNever;
  for (std::size_t c = first._Find_first(); c < first.size() && work.ok();
       c = first._Find_next(c)) {
    const unsigned char byte = states.classes().Sample(static_cast<int>(c));
    if (byte == refused || absl::ascii_isspace(byte)) continue;
    const State next = states.Take(*at, byte, work);
    if (next == kNothingTerm || next == kFailedTerm) continue;
    const int few = Few(stepper, states.Shared(next));
    if (few >= least) continue;
    best = byte;
    behind = next;
    least = few;
    if (few <= enough) break;
  }
  *at = behind;
  return best;
}

Endings::Node Endings::EndingOf(const TokenStepper& stepper, State state) {
  if (automaton_ != stepper.automaton_serial()) Forget();
  automaton_ = stepper.automaton_serial();
  if (const auto known = ending_.find(state); known != ending_.end()) return known->second;
  const auto held = static_cast<std::int64_t>(nodes_.size() * sizeof(Byte)) + texts_.held_bytes() +
                    static_cast<std::int64_t>(ending_.size()) * kBytesAState;
  if (held > kMaxBytes) Forget();

  const RowStates& states = stepper.states();
  const TermStore& store = states.automaton().store();
  std::vector<State> spine;  // from `state` on, before the first one whose ending is known
  Node node = kNone;
  for (State at = state;;) {
    if (const auto known = ending_.find(at); known != ending_.end()) {
      node = known->second;
      break;
    }
    spine.push_back(at);
    if (states.MayEnd(at)) break;
    at = store.PartsOf(at).tail;
  }
  const TokenSearch search = stepper.search();
  for (; !spine.empty(); spine.pop_back()) {
    const State at = spine.back();
    if (states.MayEnd(at)) {
      node = kEnd;
    } else {
      Budget budget = CellBudget(kCellWork);
      Work work(budget);
      const TermId cell = store.PartsOf(at).cell;
      const std::string* text = node == kNone ? nullptr : texts_.Of(states, cell, work);
      const std::size_t most = ShortestTexts::kMaxBytes;
      if (text == nullptr || text->size() + nodes_[node].bytes > most) {
        node = kNone;
      } else {
        for (auto byte = text->rbegin(); byte != text->rend(); ++byte) {
          node = Put(search, *byte, node);
        }
      }
    }
    ending_[at] = node;
  }
  return node;
}

Endings::Node Endings::Put(const TokenSearch& search, char byte, Node next) {
  const auto bytes = static_cast<std::uint16_t>(nodes_[next].bytes + 1);
  nodes_.push_back({next, bytes, kNoTokens, byte});
  const auto node = static_cast<Node>(nodes_.size() - 1);
  nodes_[node].few = FewFrom(search, node);
  return node;
}

// The tokens that the bytes from `node` on begin with, and the fewest behind each.
std::uint16_t Endings::FewFrom(const TokenSearch& search, Node node) const {
  const TokenTrie& trie = search.index->trie();
  std::uint16_t few = kNoTokens;
  const std::size_t first = trie.First(static_cast<unsigned char>(nodes_[node].byte));
  std::span<const TrieNode> below = trie.nodes().subspan(first);
  while (node != kEnd) {
    const TrieNode* const at =
        TokenTrie::FindChild(below, static_cast<unsigned char>(nodes_[node].byte));
    if (at == nullptr) break;
    node = nodes_[node].next;
    below = TokenTrie::Below(*at);
    if (at->token == TokenTrie::kNoToken || nodes_[node].few == kNoTokens) continue;
    trie.VisitTokens(*at, [&](TokenId id) {
      if (std::ranges::binary_search(search.excluded, id)) return;
      few = std::min<std::uint16_t>(few, nodes_[node].few + 1);
    });
  }
  return few;
}

}  // namespace maskd
