// An ending is made from the far end. The spine is followed to the first cell whose ending is
// known, or behind which the text may end. On the way back each cell puts the bytes of its shortest
// text before what follows. Each byte's node looks down the token trie along the nodes behind it,
// which have their fewest tokens already: a dynamic program over one text, shared by all that end
// alike.
//
// Invariant  a node is never changed once it has its tokens; ending_[s] is kNone where none is
//            known, so no state is searched twice.
// Cost       a search for each new cell (kCellWork), then a look at each byte for each token that
//            begins there.
#include "grammar_core/matcher/endings.h"

#include <algorithm>
#include <cassert>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/mask_routes/closure.h"
#include "grammar_core/matcher/closing_strings.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

constexpr std::int64_t kBytesAState = 24;

// Characters of the longest tokens whose length is known to the index.
constexpr int kLongestToken = 128;

Budget EndingBudget(std::int64_t work) {
  Budget::Bounds bounds;
  bounds.work = work;
  bounds.work_name = "closing_work";
  return Budget(bounds);
}

}  // namespace

int Endings::Few(const TokenStepper& stepper, State state) {
  Budget budget = EndingBudget(kDistinctWork);
  Work work(budget);
  return Few(stepper, state, work);
}

int Endings::Few(const TokenStepper& stepper, State state, Work& work) {
  if (!stepper.states().automaton().tables().remembers()) return FewAsIfEqual(stepper, state);
  ForgetOthers(stepper);
  if (RowStates::IsOwn(state)) return FewOwn(stepper, state, work);
  const Node node = DistinctEnding(stepper, state, work);
  return FewOf(node);
}

int Endings::FewAsIfEqual(const TokenStepper& stepper, State state) {
  const Node node = EndingOf(stepper, stepper.states().Shared(state));
  return FewOf(node);
}

int Endings::FewOf(Node node) const {
  return node == kNone || nodes_[node].few == kNoTokens ? kNever : nodes_[node].few;
}

std::size_t Endings::BytesAsIfEqual(const TokenStepper& stepper, State state) {
  const Node node = EndingOf(stepper, stepper.states().Shared(state));
  return node == kNone ? kMaxDistinctBytes : nodes_[node].bytes;
}

std::uint64_t Endings::KeyOf(const TokenStepper& stepper, State state) {
  const Node node = EndingOf(stepper, stepper.states().Shared(state));
  return std::uint64_t{forgotten_} << 32 | node;
}

// What a node has at least is that of its shortest choice, and the others are nodes, too. A set of
// texts is one node.
int Endings::LongestPart(const TokenStepper& stepper) {
  ForgetOthers(stepper);
  if (longest_part_.has_value()) return *longest_part_;
  const GrammarFacts& facts = stepper.states().automaton().tables().facts;
  const GrammarIr& ir = facts.ir();
  std::uint32_t longest = 0;
  for (NodeId node = 0; node < ir.nodes.size(); ++node)
    if (facts.MinBytes(node) != kNoEnd) longest = std::max(longest, facts.MinBytes(node));
  for (const auto& texts : ir.text_sets)
    for (const std::u32string& text : texts)
      longest = std::max(longest, static_cast<std::uint32_t>(text.size()));
  longest_part_ = static_cast<int>(std::min<std::uint32_t>(longest, ShortestTexts::kMaxBytes));
  return *longest_part_;
}

std::string Endings::Text(const TokenStepper& stepper, State state) {
  return TextFrom(EndingOf(stepper, stepper.states().Shared(state)));
}

std::string Endings::TextFrom(Node node) const {
  std::string text;
  for (; node != kEnd && node != kNone; node = nodes_[node].next)
    if (!nodes_[node].is_named()) text.push_back(nodes_[node].byte);
  return text;
}

std::optional<Endings::Spelled> Endings::SpelledFrom(Node node) const {
  if (FewOf(node) == kNever) return std::nullopt;
  Spelled spelled;
  for (; node != kEnd; node = nodes_[node].next) {
    if (nodes_[node].is_named()) return std::nullopt;
    const bool is_spelled = nodes_[node].few != kNoTokens;
    spelled.text.push_back(nodes_[node].byte);
    spelled.few.push_back(is_spelled ? nodes_[node].few : kNever);
  }
  spelled.few.push_back(0);
  return spelled;
}

void Endings::Forget() {
  ++forgotten_;
  texts_.Forget();
  nodes_.resize(1);
  ending_.clear();
  distinct_.clear();
}

std::int64_t Endings::held_bytes() const {
  return static_cast<std::int64_t>(nodes_.size() * sizeof(Byte)) + texts_.held_bytes() +
         static_cast<std::int64_t>(ending_.size() + distinct_.size()) * kBytesAState;
}

void Endings::ForgetOthers(const TokenStepper& stepper) {
  if (automaton_ == stepper.automaton_serial() && held_bytes() <= kMaxBytes) return;
  automaton_ = stepper.automaton_serial();
  longest_part_.reset();
  Forget();
}

std::vector<TokenId> Endings::Tokens(const TokenStepper& stepper, State state) {
  Budget budget = EndingBudget(kDistinctWork);
  Work work(budget);
  return Tokens(stepper, state, work);
}

std::vector<TokenId> Endings::Tokens(const TokenStepper& stepper, State state, Work& work) {
  if (FewAsIfEqual(stepper, state) == kNever) return {};
  if (stepper.states().names_tokens() && !stepper.states().automaton().tables().remembers())
    return TokensByPieces(stepper, state);
  const std::optional<std::string> text = DistinctText(stepper, state, work);
  return text.has_value() ? FewestPieces(stepper.search(), *text) : std::vector<TokenId>();
}

// Pieces of text with the named tokens between them.
std::vector<TokenId> Endings::TokensByPieces(const TokenStepper& stepper, State state) {
  std::vector<TokenId> tokens;
  std::string text;
  const auto end_piece = [&] {
    const std::vector<TokenId> pieces = FewestPieces(stepper.search(), text);
    tokens.insert(tokens.end(), pieces.begin(), pieces.end());
    text.clear();
  };
  for (Node node = EndingOf(stepper, stepper.states().Shared(state)); node != kEnd;
       node = nodes_[node].next) {
    if (!nodes_[node].is_named()) {
      text.push_back(nodes_[node].byte);
      continue;
    }
    end_piece();
    tokens.push_back(nodes_[node].named);
  }
  end_piece();
  return tokens;
}

Endings::Node Endings::EndingOf(const TokenStepper& stepper, TermId state, int depth) {
  if (depth == 0) ForgetOthers(stepper);
  if (const auto known = ending_.find(state); known != ending_.end()) return known->second;
  const Automaton& automaton = stepper.states().automaton();
  const TermStore& store = automaton.store();
  std::vector<TermId> spine;  // from `state` on, before the first one whose ending is known
  Node node = kNone;
  for (TermId at = state;;) {
    if (const auto known = ending_.find(at); known != ending_.end()) {
      node = known->second;
      break;
    }
    spine.push_back(at);
    if (automaton.MayEnd(at)) break;
    at = store.PartsOf(at).tail;
  }
  for (; !spine.empty(); spine.pop_back()) {
    const TermId at = spine.back();
    node = automaton.MayEnd(at) ? kEnd : Before(stepper, at, node, depth);
    ending_[at] = node;
  }
  return node;
}

Endings::Node Endings::Before(const TokenStepper& stepper, TermId at, Node node, int depth) {
  const TermStore& store = stepper.states().automaton().store();
  const bool names = stepper.states().names_tokens();
  const TermKind kind = store.term(store.PartsOf(at).cell).kind;
  if (node != kNone && store.term(store.PartsOf(at).cell).nullable) return node;
  if (names && kind == TermKind::kTokens) return PutNamed(stepper, at, node);
  const auto text = node == kNone ? std::nullopt : CellText(stepper, at);
  if (!text.has_value() && names && kind == TermKind::kAlt) return BestBranch(stepper, at, depth);
  const std::size_t most = ShortestTexts::kMaxBytes;
  if (!text.has_value() || text->size() + nodes_[node].bytes > most) return kNone;
  const TokenSearch search = stepper.search();
  assert(node < nodes_.size() && "before a node that was forgotten");
  for (auto byte = text->rbegin(); byte != text->rend(); ++byte) node = Put(search, *byte, node);
  return node;
}

Endings::Node Endings::PutNamed(const TokenStepper& stepper, TermId at, Node next) {
  if (next == kNone || nodes_[next].few == kNoTokens) return kNone;
  TokenId token = kNoToken;
  for (const NamedTokens::Step& step : StateTerms(stepper.states().automaton()).NamedSteps(at)) {
    step.tokens.VisitAllowedWhile([&](TokenId id) {
      const bool is_free = !stepper.IsStop(id) || stepper.vocabulary().IsSpecial(id);
      if (is_free) token = id;
      return !is_free;
    });
    if (token != kNoToken) break;
  }
  if (token == kNoToken) return kNone;
  const auto few = static_cast<std::uint16_t>(nodes_[next].few + 1);
  nodes_.push_back({next, nodes_[next].bytes, few, '\0', token});
  return static_cast<Node>(nodes_.size() - 1);
}

Endings::Node Endings::BestBranch(const TokenStepper& stepper, TermId at, int depth) {
  Automaton& automaton = stepper.states().automaton();
  const TermStore::Parts parts = automaton.store().PartsOf(at);
  const auto list = BranchesOf(automaton.store(), automaton.store().term(parts.cell));
  if (list.size() > kMaxBranches || depth >= kMaxChoices) return kNone;
  // A copy: joining makes terms, and the list may move.
  const std::vector<TermId> branches(list.begin(), list.end());
  Node best = kNone;
  for (const TermId branch : branches) {
    const Node node = EndingOf(stepper, StateTerms(automaton).Join(branch, parts.tail), depth + 1);
    if (node == kNone || nodes_[node].few == kNoTokens) continue;
    if (best == kNone || nodes_[node].few < nodes_[best].few) best = node;
  }
  return best;
}

std::optional<std::string> Endings::CellText(const TokenStepper& stepper, TermId state) {
  Budget budget = EndingBudget(kCellWork);
  Work work(budget);
  if (auto text = LongTokens(stepper, state, work); text.has_value()) return text;
  const TermStore& store = stepper.states().automaton().store();
  const TermId cell = store.PartsOf(state).cell;
  if (auto text = StateTerms(stepper.states().automaton()).TextToMultiple(cell); text.has_value())
    return text;
  if (auto text = OneByte(stepper, cell, work); text.has_value()) return text;
  Budget few = EndingBudget(kNumberWork);
  Work few_work(few);
  const bool is_number = store.term(cell).kind == TermKind::kNumber;
  const auto text = texts_.Of(stepper.states(), cell, is_number ? few_work : work);
  return text.has_value() ? std::optional<std::string>(*text) : std::nullopt;
}

// Of a number, which is mostly one digit from its end, in a new state after each token.
std::optional<std::string> Endings::OneByte(const TokenStepper& stepper, TermId cell, Work& work) {
  Automaton& automaton = stepper.states().automaton();
  if (automaton.store().term(cell).kind != TermKind::kNumber) return std::nullopt;
  for (unsigned char digit = '0'; digit <= '9'; ++digit) {
    const TermId next = automaton.Step(cell, digit, work);
    if (next != kNothingTerm && next != kFailedTerm && automaton.MayEnd(next))
      return std::string(1, static_cast<char>(digit));
  }
  return std::nullopt;
}

// Of a string of at least two more of one set of characters, ASCII only.
std::optional<std::string> Endings::LongTokens(const TokenStepper& stepper, TermId state,
                                               Work& work) {
  Automaton& automaton = stepper.states().automaton();
  const Term* const text = FreeString(automaton.store(), state);
  if (text == nullptr || AsRepeat<CharTerm>(*text).min < 2) return std::nullopt;
  const std::uint32_t needed = AsRepeat<CharTerm>(*text).min;
  std::optional<Closure> closure = FindStructuralClosure(&automaton, state, work);
  if (!closure.has_value()) return std::nullopt;
  CharacterClass& characters = closure->characters;
  characters.beyond_ascii = characters.spaces_beyond_ascii = false;
  MaskStore& masks = stepper.grammar().tokenizer().masks();
  std::string bytes;
  int longest = kLongestToken;
  while (bytes.size() < needed && longest > 0 && work.Spend()) {
    longest = std::min(longest, static_cast<int>(needed - bytes.size()));
    characters.max_chars = longest;
    TokenMask tokens = *masks.TokensWithin(characters);
    characters.max_chars = longest - 1;
    tokens.Subtract(*masks.TokensWithin(characters));
    TokenId token = -1;
    tokens.VisitAllowedWhile([&](TokenId id) {
      const bool is_text = !stepper.IsStop(id);
      if (is_text) token = id;
      return !is_text;
    });
    if (token < 0)
      --longest;
    else
      absl::StrAppend(&bytes, stepper.vocabulary().TokenBytes(token));
  }
  return longest > 0 && work.ok() ? std::optional(std::move(bytes)) : std::nullopt;
}

Endings::Node Endings::Put(const TokenSearch& search, char byte, Node next) {
  const auto bytes = static_cast<std::uint16_t>(nodes_[next].bytes + 1);
  nodes_.push_back({next, bytes, kNoTokens, byte, kNoToken});
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
  while (node != kEnd && !nodes_[node].is_named()) {
    const TrieNode* const at =
        TokenTrie::FindChild(below, static_cast<unsigned char>(nodes_[node].byte));
    if (at == nullptr) break;
    node = nodes_[node].next;
    below = TokenTrie::Below(*at);
    if (at->token == TokenTrie::kNoToken || nodes_[node].few == kNoTokens) continue;
    trie.VisitTokens(*at, [&](TokenId id) {
      if (!search.IsText(id)) return;
      few = std::min<std::uint16_t>(few, nodes_[node].few + 1);
    });
  }
  return few;
}

}  // namespace maskd
