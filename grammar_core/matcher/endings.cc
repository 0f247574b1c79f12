// An ending is made from the far end. The spine is followed to the first cell whose ending is
// known, or behind which the text may end. On the way back each cell puts the bytes of its shortest
// text before what follows. Each byte's node looks down the token trie along the nodes behind it,
// which have their fewest tokens already: a dynamic program over one text, shared by all that end
// alike.
//
// Invariant  a node is never changed once it has its tokens; ending_[s] is kNone where none is
//            known, so no state is searched twice.
// Cost       a search for each new cell (kCellWork), then a look at each byte for each token that
//            begins there. Where items differ: a step of the row for each byte within their array.
#include "grammar_core/matcher/endings.h"

#include <algorithm>
#include <cassert>
#include <span>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/mask_routes/closure.h"
#include "grammar_core/matcher/other_bytes.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

constexpr std::int64_t kBytesAState = 24;

// Bytes of an ending that are looked at for one unit of work.
constexpr std::size_t kBytesPerUnit = 4;

// Characters of the longest tokens whose length is known to the index.
constexpr int kLongestToken = 128;

Budget EndingBudget(std::int64_t work) {
  Budget::Bounds bounds;
  bounds.work = work;
  bounds.work_name = "closing_work";
  return Budget(bounds);
}

}  // namespace

const Term* FreeString(const TermStore& store, TermId state) {
  const Term& cell = store.term(store.PartsOf(state).cell);
  if (!IsBetweenCharacters(cell) || !IsJsonString(AsEncode(cell).partial.spelling)) return nullptr;
  const Term& text = store.term(AsEncode(cell).characters);
  return IsRepeatOfSet(store, text) ? &text : nullptr;
}

int Endings::Few(const TokenStepper& stepper, State state) {
  Budget budget = EndingBudget(kDistinctWork);
  Work work(budget);
  return Few(stepper, state, work);
}

int Endings::Few(const TokenStepper& stepper, State state, Work& work, std::string* text) {
  if (!stepper.states().automaton().tables().remembers()) return FewAsIfEqual(stepper, state);
  ForgetOthers(stepper);
  if (RowStates::IsOwn(state)) return FewOwn(stepper, state, work, text);
  const Node node = DistinctEnding(stepper, state, work);
  return node == kNone || nodes_[node].few == kNoTokens ? kNever : nodes_[node].few;
}

int Endings::FewAsIfEqual(const TokenStepper& stepper, State state) {
  const Node node = EndingOf(stepper, stepper.states().Shared(state));
  return node == kNone || nodes_[node].few == kNoTokens ? kNever : nodes_[node].few;
}

std::size_t Endings::BytesAsIfEqual(const TokenStepper& stepper, State state) {
  const Node node = EndingOf(stepper, stepper.states().Shared(state));
  return node == kNone ? kMaxDistinctBytes : nodes_[node].bytes;
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

void Endings::Forget() {
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
  Forget();
}

int Endings::FewOwn(const TokenStepper& stepper, State state, Work& work, std::string* text) {
  if (FewAsIfEqual(stepper, state) == kNever) return kNever;
  const std::optional<Distinct> found = DistinctOf(stepper, state, work);
  if (!found.has_value()) return kNever;
  if (text != nullptr) *text = absl::StrCat(found->text, TextFrom(found->behind));
  // The row goes on, and its own bytes are of no use to others.
  const std::size_t kept = nodes_.size();
  const Node node = PutAll(stepper.search(), *found);
  const int few = node == kNone || nodes_[node].few == kNoTokens ? kNever : nodes_[node].few;
  nodes_.resize(kept);
  return few;
}

Endings::Node Endings::DistinctEnding(const TokenStepper& stepper, State state, Work& work) {
  assert(!RowStates::IsOwn(state));
  if (const auto known = distinct_.find(state); known != distinct_.end()) return known->second;
  if (FewAsIfEqual(stepper, state) == kNever) return kNone;
  return MakeDistinct(stepper, state, work);
}

// As long as the ending goes through states of all rows it is the same for each of them.
Endings::Node Endings::MakeDistinct(const TokenStepper& stepper, State state, Work& work) {
  const RowStates& states = stepper.states();
  const RowStates::Scratch scratch(states);
  const std::string ending = Text(stepper, state);
  std::vector<State> path = {state};
  for (std::size_t i = 0; i < ending.size() && !distinct_.contains(path.back()); ++i) {
    const State next =
        states.TakeUnsearched(path.back(), static_cast<unsigned char>(ending[i]), work);
    if (next == kNothingTerm || next == kFailedTerm || RowStates::IsOwn(next)) break;
    path.push_back(next);
  }
  if (!work.ok()) return kNone;
  const auto look = [&](State from) {
    const auto found = DistinctOf(stepper, from, work);
    const Node node = found.has_value() ? PutAll(stepper.search(), *found) : kNone;
    if (work.ok()) distinct_[from] = node;
    return node;
  };
  const auto known = distinct_.find(path.back());
  Node node = known != distinct_.end() ? known->second : look(path.back());
  // Another byte before may lead on.
  if (node == kNone && path.size() > 1) return look(state);
  for (path.pop_back(); !path.empty() && node != kNone; path.pop_back()) {
    node = PutAll(stepper.search(), {ending.substr(path.size() - 1, 1), node});
    distinct_[path.back()] = node;
  }
  return node;
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

std::vector<TokenId> Endings::TokensWithin(const TokenStepper& stepper, State state, int most,
                                           Work& work) {
  if (!stepper.states().automaton().tables().remembers()) return {};
  if (FewAsIfEqual(stepper, state) == kNever) return {};
  const RowStates::Scratch scratch(stepper.states());
  for (const std::size_t near : {kNear, kMaxBack}) {
    auto found = Repaired(stepper, state, {&RowStates::TakeUnsearched, near, true}, work);
    if (!found.has_value() || found->text.size() > kMaxDistinctBytes) continue;
    TakeBytesOfFewerTokens(stepper, state, &*found, work);
    std::vector<TokenId> tokens = FewestPieces(stepper.search(), found->text);
    if (work.ok() && static_cast<int>(tokens.size()) <= most) return tokens;
  }
  return {};
}

// A byte is tried by a walk from its place to the end.
void Endings::TakeBytesOfFewerTokens(const TokenStepper& stepper, State state, Distinct* ending,
                                     Work& work) {
  const RowStates& states = stepper.states();
  std::string& text = ending->text;
  std::vector<State> path = {state};  // before each byte, and behind the last one
  const auto walk = [&](std::size_t from) {
    path.resize(from + 1);
    while (path.size() <= text.size()) {
      const auto byte = static_cast<unsigned char>(text[path.size() - 1]);
      const State next = states.TakeUnsearched(path.back(), byte, work);
      if (next == kNothingTerm || next == kFailedTerm) return false;
      path.push_back(next);
    }
    return states.MayEnd(path.back());
  };
  bool is_text = walk(0);
  assert(std::ranges::is_sorted(ending->replaced) && "places on the way to the end");
  for (const std::size_t at : ending->replaced) {
    const auto units = static_cast<std::int64_t>(text.size() / kBytesPerUnit);
    if (!is_text || !work.Spend(1 + units)) return;
    std::vector<ByteChoice> others = BytesOfFewerTokens(stepper.search(), text, at);
    others.resize(std::min(others.size(), kMaxTried));
    const std::vector<State> before = path;
    const char byte = text[at];
    is_text = std::ranges::any_of(others, [&](const ByteChoice& other) {
      text[at] = static_cast<char>(other.byte);
      return walk(at);
    });
    if (is_text) continue;
    text[at] = byte;
    path = before;
    is_text = true;  // as it was
  }
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

std::optional<std::string> Endings::DistinctText(const TokenStepper& stepper, State state,
                                                 Work& work) {
  if (!stepper.states().automaton().tables().remembers()) return Text(stepper, state);
  const std::optional<Distinct> found = DistinctOf(stepper, state, work);
  if (!found.has_value()) return std::nullopt;
  return absl::StrCat(found->text, TextFrom(found->behind));
}

std::optional<Endings::Distinct> Endings::DistinctOf(const TokenStepper& stepper, State state,
                                                     Work& work) {
  const RowStates::Scratch scratch(stepper.states());
  // Without a search at each byte first: the text that is found shows what may be written. Where
  // that way comes to where all that is left repeats something, searches keep it from there.
  for (const Take take : {&RowStates::TakeUnsearched, &RowStates::Take}) {
    if (!work.ok()) break;
    auto repaired = Repaired(stepper, state, {take}, work);
    if (repaired.has_value()) return repaired;
  }
  return std::nullopt;
}

// Where a byte is refused, another one takes its place, or that of one shortly before.
std::optional<Endings::Distinct> Endings::Repaired(const TokenStepper& stepper, State state,
                                                   const Repair& repair, Work& work) {
  const RowStates& states = stepper.states();
  Begun begun = {{{state}}};
  std::vector<Place>& places = begun.places;
  std::string& text = begun.ending.text;
  for (int replaced = 0; replaced <= kMaxReplaced; ++replaced) {
    const std::string ending = Text(stepper, places.back().state);
    std::size_t taken = 0;
    for (; taken < ending.size(); ++taken) {
      // The own state refuses what would repeat an item, where the automaton's takes it.
      const auto byte = static_cast<unsigned char>(ending[taken]);
      if (places.back().tried.test(byte)) break;
      const State next = (states.*repair.take)(places.back().state, byte, work);
      places.back().tried.set(byte);
      if (next == kNothingTerm || next == kFailedTerm) break;
      const bool has_left = RowStates::IsOwn(places.back().state) && !RowStates::IsOwn(next);
      places.push_back({next});
      text.push_back(ending[taken]);
      if (!has_left || repair.is_whole || distinct_depth_ >= kMaxDistinctDepth) continue;
      ++distinct_depth_;
      begun.ending.behind = DistinctEnding(stepper, next, work);
      --distinct_depth_;
      if (begun.ending.behind != kNone) return std::move(begun.ending);
      begun.ending.behind = kEnd;
    }
    if (taken == ending.size() && states.MayEnd(places.back().state))
      return std::move(begun.ending);
    if (taken == ending.size() || !TakeOther(stepper, repair, &begun, work)) return std::nullopt;
  }
  return std::nullopt;
}

void Endings::Begun::Replace(std::size_t at, unsigned char byte, State next) {
  places.resize(at + 1);
  places.back().tried.set(byte);
  places.push_back({next});
  ending.text.resize(at);
  ending.text.push_back(static_cast<char>(byte));
  std::erase_if(ending.replaced, [&](std::size_t place) { return place >= at; });
  ending.replaced.push_back(at);
}

Endings::Node Endings::PutAll(const TokenSearch& search, const Distinct& ending) {
  Node node = ending.behind;
  if (ending.text.size() + nodes_[node].bytes > kMaxDistinctBytes) return kNone;
  for (auto byte = ending.text.rbegin(); byte != ending.text.rend(); ++byte)
    node = Put(search, *byte, node);
  return node;
}

bool Endings::TakeOther(const TokenStepper& stepper, const Repair& repair, Begun* begun,
                        Work& work) {
  std::vector<Place>& places = begun->places;
  assert(!places.empty() && "a text begins at a place");
  // As if items could be equal no text through here has fewer bytes.
  const std::size_t least = places.size() - 1 + BytesAsIfEqual(stepper, places.back().state);
  Other best;
  std::size_t at = 0;
  for (std::size_t back = 1; back <= std::min(places.size(), kMaxBack) && work.ok(); ++back) {
    const std::size_t enough = back > repair.near ? least + 1 : least;
    if (best.next != kNothingTerm && !best.may_repeat && best.bytes <= enough) break;
    const std::size_t before = places.size() - back;
    const Other other = OtherByte(stepper, before, &places[before], repair.take, work);
    if (other.next == kNothingTerm || best.cost() <= other.cost()) continue;
    best = other;
    at = before;
  }
  if (!work.ok() || best.next == kNothingTerm) return false;
  begun->Replace(at, best.byte, best.next);
  return true;
}

// White space would change nothing.
Endings::Other Endings::OtherByte(const TokenStepper& stepper, std::size_t before, Place* place,
                                  Take take, Work& work) {
  const RowStates& states = stepper.states();
  const std::size_t least = before + BytesAsIfEqual(stepper, place->state);
  const int enough = FewAsIfEqual(stepper, place->state);
  if (!place->first.has_value()) place->first = states.FirstOf(place->state, work);
  const FirstClasses::Set& first = *place->first;
  Other best;
  for (std::size_t c = first._Find_first(); c < first.size() && work.ok();
       c = first._Find_next(c)) {
    const unsigned char byte = states.classes().Sample(static_cast<int>(c));
    if (place->tried.test(byte) || absl::ascii_isspace(byte)) continue;
    const State next = (states.*take)(place->state, byte, work);
    if (next == kNothingTerm || next == kFailedTerm) continue;
    const Other other = {byte, next, before + 1 + BytesAsIfEqual(stepper, next),
                         RowStates::IsOwn(next) && !states.TakenRests(next).empty(),
                         FewAsIfEqual(stepper, next)};
    if (other.cost() < best.cost()) best = other;
    if (!best.may_repeat && (best.bytes <= least || best.few <= enough)) break;
  }
  return best;
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
  if (auto text = OneByte(stepper, cell, work); text.has_value()) return text;
  const std::string* const text = texts_.Of(stepper.states(), cell, work);
  return text == nullptr ? std::nullopt : std::optional(*text);
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
