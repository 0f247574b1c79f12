// The routes for choices, lengths, counts and runs, and the two that fit every state. Routes for
// names and for what leaves a string are in files of their own (mask_maker_names.cc,
// mask_maker_exits.cc).
//
// A route asks for the masks of simpler states, which the store often has, and walks only the
// tokens that those masks cannot tell. A walk follows the token trie and the automaton together, so
// a prefix that tokens share is stepped through once, and a subtree is left at its first refused
// byte.
//
// Invariant  whatever the route, a bit is set exactly where the token's bytes can be taken.
// Cost       work is charged for nodes walked, words copied and classes gathered; a walk of a
//            narrow state is given up after kNarrowNodes.
#include "grammar_core/mask_routes/mask_maker.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/mask_routes/cell_chain.h"
#include "grammar_core/mask_routes/closure.h"
#include "grammar_core/mask_routes/most_chars_needed.h"
#include "grammar_core/mask_routes/tail_signatures.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

constexpr int kAsciiEnd = 128;
// A walk that visits more trie nodes than this is given up for a closure, whose analysis costs
// about as much.
constexpr std::int64_t kNarrowNodes = 8'000;
// Where a walk of so many is worth it, most of its tokens are allowed.
constexpr std::size_t kManyNodes = 32'768;
// Above so many branches one walk for all of them is cheaper than a mask for each.
constexpr std::size_t kMaxBranches = 12;
// Intersections share little, and each may take a walk of all tokens.
constexpr int kMaxIntersections = 2;
// Masks made for the sake of one another, at most: they are made by recursion.
constexpr int kMaxDepth = 8;
// A length that leaves fewer characters before the pattern's end is near for too many tokens.
constexpr std::uint32_t kFewChars = 16;
// Under more conditions it may be hard to tell whether a text of small counts is left.
constexpr std::size_t kFewConditions = 4;
// What takes so many units of work: the words of one mask that are copied, hashed and stored, those
// of a class of characters that are gathered, and the runs of all tokens.
constexpr std::int64_t kMaskUnits = 8;
constexpr std::int64_t kClassUnits = 64;
constexpr std::int64_t kTokensPerRunUnit = 256;
// Nodes of a trie that are made in a unit of work.
constexpr std::size_t kTrieNodesPerUnit = 16;
// A run of bytes of a larger set has too many ways to be cut.
constexpr std::size_t kMaxRunBytes = 32;
// Shorter runs are told by the mask of this one: JSON's white space has so many bytes at most.
constexpr std::uint32_t kLongRun = 64;
// Of more tokens with too long a run it is as cheap to gather the others.
constexpr std::size_t kMaxLonger = 256;

constexpr std::uint32_t KindBits(std::initializer_list<TermKind> kinds) {
  std::uint32_t bits = 0;
  for (const TermKind kind : kinds) bits |= std::uint32_t{1} << static_cast<int>(kind);
  return bits;
}

// A text that is fixed farther than any token goes takes those that it begins with, whatever comes
// behind it. Adds them; false, with `mask` as it was, for another cell.
bool AllowBeginnings(const TermStore& store, const TokenTrie& trie, TermId cell,
                     MaskBuilder* mask) {
  if (store.term(cell).kind != TermKind::kBytes || !trie.long_tokens().empty()) return false;
  const absl::string_view text = RestOfBytes(store, store.term(cell));
  if (!trie.NodesBelow(text).empty()) return false;
  trie.VisitPrefixes(text,
                     [&](std::size_t, const TrieNode& node) { mask->AllowTokens(trie, node); });
  return true;
}

}  // namespace

void MaskMaker::MarkRead(TermId state) {
  lowest_floor_ = std::min(lowest_floor_, automaton_->store().term(state).floor());
}

MaskRef MaskMaker::MaskOf(TermId state) {
  return others_->TextMask(state, *work_, &lowest_floor_, depth_ + 1);
}

void MaskMaker::MergeMaskOf(TermId state, MaskBuilder* mask) {
  if (!work_->Spend()) return;
  if (AllowBeginnings(automaton_->store(), masks_->index().trie(), PartsOf(state).cell, mask))
    MarkRead(state);
  else
    mask->Merge(MaskOf(state));
}

MaskRef MaskMaker::Make(TermId state, std::optional<MaskRoute> route) {
  MaskRouteTally::Scope scope;
  MaskBuilder mask(masks_);
  if (!work_->Spend(kMaskUnits)) return nullptr;
  MarkRead(state);
  // Tokens that are taken by name belong to every route, so they come first.
  if (automaton_->tables().names_tokens()) StateTerms(*automaton_).AddNamedTokens(state, &mask);
  const bool is_open = route == MaskRoute::kWalk || route == MaskRoute::kClosure;
  const bool by_form = !is_open && depth_ < kMaxDepth && MakeByForm(state, route, &mask);
  if (!by_form && route.has_value() && !is_open) return nullptr;
  if (!by_form) MakeByWalkOrClosure(state, route, &mask);
  if (!work_->ok()) return nullptr;
  scope.Made(route_);
  return mask.Finish();
}

struct MaskMaker::FormRoute {
  MaskRoute route;
  std::uint32_t kinds;  // a bit for each TermKind
  bool (*make)(MaskMaker& maker, TermId state, const Parts& parts, MaskBuilder* mask);
};

std::span<const MaskMaker::FormRoute> MaskMaker::FormRoutes() {
  using K = TermKind;
  using M = MaskMaker;
  using P = const Parts&;
  using B = MaskBuilder*;
  static constexpr FormRoute kRoutes[] = {
      {MaskRoute::kMarked, KindBits({K::kAlt, K::kRepeat, K::kCall}),
       [](M& m, TermId state, P, B mask) { return m.MakeByText(state, mask); }},
      {MaskRoute::kChoice, KindBits({K::kAlt}),
       [](M& m, TermId, P parts, B mask) { return m.MakeByChoice(parts, mask); }},
      {MaskRoute::kNames, KindBits({K::kEncode}),
       [](M& m, TermId, P parts, B mask) { return m.MakeByNames(parts, mask); }},
      {MaskRoute::kOthers, KindBits({K::kEncode}),
       [](M& m, TermId, P parts, B mask) { return m.MakeByOthers(parts, mask); }},
      {MaskRoute::kLength, KindBits({K::kEncode}),
       [](M& m, TermId state, P parts, B mask) { return m.MakeByLength(state, parts, mask); }},
      {MaskRoute::kCounts, KindBits({K::kEncode}),
       [](M& m, TermId state, P parts, B mask) { return m.MakeByCounts(state, parts, mask); }},
      {MaskRoute::kRuns, KindBits({K::kRepeat}),
       [](M& m, TermId state, P parts, B mask) { return m.MakeByRuns(state, parts, mask); }},
      {MaskRoute::kFreeText, KindBits({K::kEncode, K::kCall, K::kRepeat}),
       [](M& m, TermId state, P parts, B mask) { return m.MakeByFreeText(state, parts, mask); }},
      {MaskRoute::kExits, KindBits({K::kEncode}),
       [](M& m, TermId state, P, B mask) { return m.MakeByExits(state, mask); }},
      {MaskRoute::kEnds, KindBits({K::kNumber}),
       [](M& m, TermId, P parts, B mask) { return m.MakeByEnds(parts, mask); }},
  };
  return kRoutes;
}

bool MaskMaker::MakeByForm(TermId state, std::optional<MaskRoute> route, MaskBuilder* mask) {
  // In the order of the table, which goes from forms that are told at a glance to those that need a
  // look at the state's bytes.
  const Parts parts = PartsOf(state);
  const std::uint32_t kind = KindBits({automaton_->store().term(parts.cell).kind});
  for (const FormRoute& form : FormRoutes()) {
    if ((form.kinds & kind) == 0 || form.route != route.value_or(form.route)) continue;
    if (!MaskRouteSwitch::IsOn(form.route)) continue;
    if (!form.make(*this, state, parts, mask)) continue;
    assert(form.route != MaskRoute::kWalk && form.route != MaskRoute::kClosure);
    route_ = form.route;
    return true;
  }
  return false;
}

int MaskMaker::CountIntersections(std::span<const TermId> branches) const {
  return static_cast<int>(std::count_if(branches.begin(), branches.end(), [&](TermId branch) {
    const Term& cell = automaton_->store().term(PartsOf(branch).cell);
    return cell.kind == TermKind::kEncode &&
           automaton_->store().term(AsEncode(cell).characters).kind == TermKind::kAnd;
  }));
}

// A mask of the text does not say how many cells of `state` it depends on.
TermId MaskMaker::TextBeforeNames(TermId state) {
  const TermId text = StateTerms(*automaton_).TextBeforeNames(state);
  if (text != state) lowest_floor_ = 0;
  return text;
}

// What follows a token that is named differs from grammar to grammar, and no byte leads there: the
// text before it is the same in all.
bool MaskMaker::MakeByText(TermId state, MaskBuilder* mask) {
  if (!automaton_->tables().names_tokens()) return false;
  const TermId text = TextBeforeNames(state);
  if (text == state) return false;
  std::uint32_t its_own_floor = kNoEnd;
  if (text != kEmptyTerm) mask->Merge(others_->TextMask(text, *work_, &its_own_floor, depth_ + 1));
  return true;
}

// Names and members are soon told, however many branches there are; a walk for all of them at once
// would make a state of every letter of every name. Of other branches many are one choice, walked.
bool MaskMaker::MakeByChoice(const Parts& parts, MaskBuilder* mask) {
  const TermStore& store = automaton_->store();
  const auto branches = BranchesOf(store, store.term(parts.cell));
  const auto is_object = [&](TermId state) { return IsBeforeMember(PartsOf(state).cell); };
  std::vector<TermId> names;
  std::vector<TermId> objects;
  std::vector<TermId> others;
  for (const TermId branch : branches) {
    const TermId state = StateTerms(*automaton_).Join(branch, parts.tail);
    std::vector<TermId> within;
    AppendBranches(state, &within);
    if (std::ranges::all_of(within, [&](TermId way) { return IsName(way); }))
      names.insert(names.end(), within.begin(), within.end());
    else if (std::ranges::all_of(within, is_object))
      objects.push_back(state);
    else
      others.push_back(state);
  }
  // Where many branches are no names, one walk of them all is cheaper than a mask of each.
  const bool many = others.size() > kMaxBranches || CountIntersections(others) > kMaxIntersections;
  if (many && others.size() == branches.size()) return false;
  MergeNames(names, mask);
  if (many) others = {StateTerms(*automaton_).Choice(others)};
  for (const TermId state : others) MergeMaskOf(state, mask);
  if (objects.size() == branches.size()) return MakeByMember(parts, mask);
  if (!objects.empty()) MergeMaskOf(StateTerms(*automaton_).Choice(objects), mask);
  return true;
}

bool MaskMaker::MakeByLength(TermId state, const Parts& parts, MaskBuilder* mask) {
  const TermStore& store = automaton_->store();
  const Term& cell = store.term(parts.cell);
  if (!IsBetweenCharacters(cell)) return false;
  const auto [text, partial, object, progress] = AsEncode(cell);
  if (store.term(text).kind != TermKind::kAnd) return false;
  // The bound matters only to tokens that may leave less room than the pattern's longest completion
  // needs: fewer of them the farther it is.
  const auto reach = static_cast<std::uint32_t>(masks_->index().vocabulary().max_token_bytes());
  for (const CharTerm part : BranchesOf<CharTerm>(store, store.term(text))) {
    const Term& length = store.term(part);
    if (length.kind != TermKind::kRepeat) continue;
    const auto [body, min, max] = AsRepeat<CharTerm>(length);
    if (min != 0 || max == kUnbounded || !store.IsAnyChar(body)) continue;
    const CharTerm pattern = StateTerms(*automaton_).Without(text, part);
    const std::optional<std::uint32_t> completion = MostCharsNeeded(store, pattern);
    if (!completion.has_value() || max < SaturatingAdd(*completion, kFewChars)) continue;
    const TermId free = StateTerms(*automaton_).Encoded(pattern, partial.spelling, parts.tail);
    if (max >= SaturatingAdd(*completion, reach)) {
      MergeMaskOf(free, mask);
      return true;
    }
    // A token of fewer characters leaves room for whatever completes the pattern.
    const MaskRef all = MaskOf(free);
    if (all == nullptr) return true;
    const int sure = static_cast<int>(max - *completion);
    const CharacterClass within = {.ascii = AsciiBits().set(),
                                   .beyond_ascii = true,
                                   .spaces_beyond_ascii = true,
                                   .max_chars = sure};
    work_->Spend(kClassUnits);
    TokenMask allowed = *masks_->TokensWithin(within);
    allowed.Intersect(*all);
    mask->Merge(masks_->Intern(std::move(allowed), {&all, 1}));
    CandidateClass longer;
    longer.ill_formed = true;
    longer.longer_than = sure;
    WalkCandidates(longer, state, mask);
    return true;
  }
  return false;
}

bool MaskMaker::MakeByCounts(TermId state, const Parts& parts, MaskBuilder* mask) {
  const Term& cell = automaton_->store().term(parts.cell);
  if (!IsBetweenCharacters(cell)) return false;
  const PartialChar partial = AsEncode(cell).partial;
  const Term& text = automaton_->store().term(AsEncode(cell).characters);
  if (text.kind == TermKind::kAnd &&
      BranchesOf<CharTerm>(automaton_->store(), text).size() > kFewConditions)
    return false;
  const std::optional<CountBounds> bounds =
      StateTerms(*automaton_).BoundsOf(AsEncode(cell).characters);
  if (!bounds.has_value()) return false;
  // Both are simpler patterns that many states share, so they are mostly in the store.
  const MaskRef more =
      MaskOf(StateTerms(*automaton_).Encoded(bounds->more, partial.spelling, parts.tail));
  if (more == nullptr) return true;
  const MaskRef fewer =
      MaskOf(StateTerms(*automaton_).Encoded(bounds->fewer, partial.spelling, parts.tail));
  if (fewer == nullptr) return true;
  // What is allowed with fewer repeats left is allowed here, and what is not with more, is not.
  mask->Merge(fewer);
  if (more == fewer) return true;
  TokenMask between = *more;
  between.Subtract(*fewer);
  std::vector<TokenTrie::Entry> entries;
  between.VisitAllowed(
      [&](TokenId id) { entries.push_back({masks_->index().vocabulary().TokenBytes(id), id}); });
  work_->Spend(static_cast<std::int64_t>(entries.size() / 4));
  Walk(TokenTrie::OfUnsorted(&entries), state, kAllNodes, mask);
  return true;
}

bool MaskMaker::MakeByRuns(TermId state, const Parts& parts, MaskBuilder* mask) {
  const TermStore& store = automaton_->store();
  const auto [body, fewest, most] = AsRepeat(store.term(parts.cell));
  if (store.term(body).kind != TermKind::kByteSet) return false;
  const ByteBits& set = BytesOf(store, store.term(body));
  if (set.count() > kMaxRunBytes) return false;
  if (!work_->Spend(masks_->index().vocabulary().size() / kTokensPerRunUnit)) return true;
  // Tokens are cut behind their run of such bytes once for the vocabulary; here only what follows
  // the run is walked, from the tail.
  const auto runs = masks_->RunsOf(set);
  assert(fewest <= most && "a repeat of at least more than at most");
  if (!MakeByLongRun(parts, *runs, mask)) AddRuns(set, *runs, fewest, most, parts.tail, mask);
  WalkLongTokens(masks_->index().trie(), state, mask);
  return true;
}

void MaskMaker::AddRuns(const ByteBits& set, const RunIndex& runs, std::uint32_t fewest,
                        std::uint32_t most, TermId tail, MaskBuilder* mask) {
  if (!runs.whole().empty()) mask->Merge(masks_->WholeRuns(set, runs, most));
  if (tail == kEmptyTerm) return;
  if (fewest == 0 && !MakeByMember(PartsOf(tail), mask)) MergeMaskOf(tail, mask);
  const TokenTrie& rests = runs.rests();
  const auto allow = [&](const TrieNode& node) {
    if (node.token == TokenTrie::kNoToken) return;
    rests.VisitTokens(node, [&](TokenId index) {
      const RunToken& cut = runs.cut(index);
      const auto run = static_cast<std::uint32_t>(cut.run);
      if (run >= fewest && run <= most) mask->Allow(cut.id);
    });
  };
  if (WalkMembers(rests, PartsOf(tail), allow)) return;
  Path path;
  path[0] = states_.Enter(tail);
  WalkAll(rests, &path, kAllNodes, allow);
}

// A text is cut behind its run in one way, as the tail begins otherwise. So a token is refused for
// its run alone, if that is too long.
bool MaskMaker::MakeByLongRun(const Parts& parts, const RunIndex& runs, MaskBuilder* mask) {
  const auto [body, fewest, most] = AsRepeat(automaton_->store().term(parts.cell));
  if (fewest > 0 || most > kLongRun || parts.tail == kEmptyTerm) return false;
  const std::span<const RunToken> longer = runs.LongerThan(most);
  if (longer.size() > kMaxLonger) return false;
  const FirstClasses::Set begins = automaton_->FirstOf(parts.tail, *work_);
  const ByteBits& set = BytesOf(automaton_->store(), automaton_->store().term(body));
  for (std::size_t byte = set._Find_first(); byte < set.size(); byte = set._Find_next(byte)) {
    const int byte_class = automaton_->classes().Of(static_cast<unsigned char>(byte));
    if (begins[static_cast<std::size_t>(byte_class)]) return false;
  }
  const MaskRef all = MaskOfLongRun(parts, runs);
  if (all == nullptr) return true;
  mask->Merge(longer.empty() ? all : masks_->WithoutLonger(all, set, runs, most));
  return true;
}

// No state need have this mask, so it is kept under a key that is the tail's and the run's.
MaskRef MaskMaker::MaskOfLongRun(const Parts& parts, const RunIndex& runs) {
  constexpr std::uint64_t kRun = 0x72756E;
  const TermStore& store = automaton_->store();
  const TermId body = AsRepeat(store.term(parts.cell)).body;
  const Hash128 run = Mix(Mix(Hash128{}, kRun), store.KeyOf(body));
  TailSignatures signatures(automaton_, &store, masks_);
  const auto key = signatures.KeyOf(parts.tail, *work_);
  CellChain chain(store, parts.tail, run);
  MaskRef all =
      key.has_value() ? masks_->Find(Mix(run, key->key)).mask : chain.Find(masks_, &lowest_floor_);
  if (key.has_value()) lowest_floor_ = std::min(lowest_floor_, key->floor);
  if (all != nullptr || !work_->Spend(kMaskUnits)) return all;
  MaskBuilder mask(masks_);
  AddRuns(BytesOf(store, store.term(body)), runs, 0, kLongRun, parts.tail, &mask);
  if (!work_->ok()) return nullptr;
  all = mask.Finish();
  if (key.has_value())
    masks_->Settle(Mix(run, key->key), all);
  else
    chain.Settle(masks_, lowest_floor(), all);
  return all;
}

void MaskMaker::MakeByWalkOrClosure(TermId state, std::optional<MaskRoute> route,
                                    MaskBuilder* mask) {
  const TokenTrie& all = masks_->index().trie();
  if (!route.has_value() && !MaskRouteSwitch::IsOn(MaskRoute::kClosure)) route = MaskRoute::kWalk;
  if (!route.has_value() && !MaskRouteSwitch::IsOn(MaskRoute::kWalk)) route = MaskRoute::kClosure;
  route_ = MaskRoute::kWalk;
  if (route == MaskRoute::kWalk || states_.SparesTerms(state)) {
    Walk(all, state, kAllNodes, mask);
    return;
  }
  // Known from the state's form alone, else a walk if few bytes lead on, and the search of states
  // where the walk would be long.
  std::optional<Closure> closure = FindStructuralClosure(automaton_, state, *work_);
  if (!closure.has_value()) {
    if (!route.has_value() && !IsWide(state) && Walk(all, state, kNarrowNodes, mask)) return;
    const int longest = masks_->index().vocabulary().max_token_bytes();
    closure = FindClosure(automaton_, state, longest, *work_);
  }
  route_ = MaskRoute::kClosure;
  if (!work_->ok()) return;
  lowest_floor_ = std::min(lowest_floor_, closure->lowest_floor);
  work_->Spend(kClassUnits);
  // The tokens of the class are a bitmap of the vocabulary's index; only candidates are walked.
  mask->Merge(masks_->TokensWithin(closure->characters));
  WalkCandidates(closure->candidates, state, mask);
}

void MaskMaker::WalkCandidates(const CandidateClass& candidates, TermId state, MaskBuilder* mask) {
  const auto trie = masks_->TrieOf(candidates);
  work_->Spend(static_cast<std::int64_t>(trie->nodes().size() / kTrieNodesPerUnit));
  Walk(*trie, state, kAllNodes, mask);
}

bool MaskMaker::IsWide(TermId state) {
  const WalkStates::State begin = states_.Enter(state);
  int taken = 0;
  for (int byte = 0; byte < kAsciiEnd; ++byte)
    if (states_.Step(begin, static_cast<unsigned char>(byte)) > WalkStates::kFailed) ++taken;
  return taken >= kWideState;
}

bool MaskMaker::Walk(const TokenTrie& trie, TermId state, std::int64_t max_nodes,
                     MaskBuilder* mask) {
  Path path;
  path[0] = states_.Enter(state);
  const std::size_t end = trie.nodes().size();
  if (max_nodes == kAllNodes && end >= kManyNodes) {
    // Nearly all tokens are allowed where so long a walk is worth it: bits at once, no list.
    std::int32_t* const words = mask->ToWords().mutable_words().data();
    WalkAll(trie, &path, max_nodes, [&](const TrieNode& node) { trie.AllowTokens(node, words); });
  } else if (!WalkAll(trie, &path, max_nodes,
                      [&](const TrieNode& node) { mask->AllowTokens(trie, node); })) {
    return false;
  }
  WalkLongTokens(trie, state, mask);
  return true;
}

void MaskMaker::WalkLongTokens(const TokenTrie& trie, TermId state, MaskBuilder* mask) {
  for (const TokenId id : trie.long_tokens()) {
    TermId at = state;
    for (const unsigned char byte : masks_->index().vocabulary().TokenBytes(id)) {
      MarkRead(at);
      at = automaton_->Step(at, byte, *work_);
      if (at == kFailedTerm) return;
      if (at == kNothingTerm) break;
    }
    if (at != kNothingTerm) mask->Allow(id);
  }
}

}  // namespace maskd
