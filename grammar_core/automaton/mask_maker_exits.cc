// The route of MaskMaker for wide strings before a tail.
#include <algorithm>

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/mask_maker.h"

namespace maskd {
namespace {

constexpr int kAsciiEnd = 128;
// Cells before a string that are taken together with it: white space and its quote.
constexpr int kMaxCellsBefore = 2;

bool IsPlain(const TermStore& store, const Term& cell) {
  return cell.kind == TermKind::kByteSet || cell.kind == TermKind::kBytes ||
         (cell.kind == TermKind::kRepeat && store.term(cell.a).kind == TermKind::kByteSet);
}

Hash128 KeyOfAll(const TermStore& store, TermId id) {
  Hash128 key;
  for (; store.term(id).kind == TermKind::kCat; id = store.term(id).b) {
    key = Mix(key, store.term(store.term(id).a).key);
  }
  return Mix(key, store.term(id).key);
}

}  // namespace

// A string of bounded length has a cell of its own for each length that is near, with exits of
// their own, and of a narrow cell a walk is quickly done.
bool MaskMaker::IsWorthExits(TermId cell_id) {
  const TermStore& store = automaton_->store();
  const Term& cell = store.term(cell_id);
  if (cell.kind != TermKind::kEncode || cell.c != kNoObject ||
      PartialChar::Unpack(cell.b).phase != CharPhase::kStart) {
    return false;
  }
  const Term& text = store.term(cell.a);
  if (text.kind == TermKind::kText || text.kind == TermKind::kTextSet) return false;
  if (text.kind == TermKind::kRepeat && store.term(text.a).kind == TermKind::kCharSet) {
    const auto reach = static_cast<std::uint32_t>(masks_->index().vocabulary().max_token_bytes());
    return text.b == 0 && text.c > reach;
  }
  return CountTaken(cell_id) >= kWideState;
}

// The state up to its first string, and what comes after; the tail is Empty if there is none.
MaskMaker::Parts MaskMaker::CutBehindString(TermId state) {
  const TermStore& store = automaton_->store();
  std::vector<TermId> before;
  TermId rest = state;
  for (int i = 0; i <= kMaxCellsBefore; ++i) {
    const Parts parts = PartsOf(rest);
    if (IsWorthExits(parts.cell)) {
      TermId text = parts.cell;
      for (; !before.empty(); before.pop_back()) text = automaton_->Join(before.back(), text);
      return {text, parts.tail};
    }
    if (!IsPlain(store, store.term(parts.cell))) break;
    before.push_back(parts.cell);
    rest = parts.tail;
  }
  return {state, kEmptyTerm};
}

// Not for a tail that can begin with a byte beyond ASCII, whose exits are not indexed.
bool MaskMaker::MakeByExits(TermId state, MaskBuilder* mask) {
  const auto [text, tail] = CutBehindString(state);
  if (tail == kEmptyTerm) return false;
  for (int byte = kAsciiEnd; byte < 256; ++byte) {
    const TermId next = automaton_->Step(tail, static_cast<unsigned char>(byte), *work_);
    if (next != kNothingTerm) return false;
  }
  std::uint32_t its_own_floor = kNoEnd;
  mask->Merge(automaton_->TextMask(text, *work_, &its_own_floor, depth_ + 1));
  for (int byte = 0; byte < kAsciiEnd; ++byte) {
    const TermId next = automaton_->Step(tail, static_cast<unsigned char>(byte), *work_);
    if (next == kNothingTerm) continue;
    if (next == kFailedTerm) return true;
    const auto exits = ExitsOf(text, static_cast<unsigned char>(byte));
    if (exits == nullptr) return true;
    for (const TokenId id : exits->ends) mask->Allow(id);
    Walk(exits->rests, next, kAllNodes, mask);
  }
  MarkRead(tail);
  WalkLongTokens(masks_->index().trie(), state, mask);
  return true;
}

std::shared_ptr<const Exits> MaskMaker::ExitsOf(TermId text, unsigned char byte) {
  const Hash128 key = Mix(KeyOfAll(automaton_->store(), text), byte);
  if (auto known = masks_->FindExits(key); known != nullptr) return known;
  std::vector<TokenId> ends;
  std::vector<TokenTrie::Entry> rests;
  for (const TokenId id : masks_->index().TokensHolding(byte)) {
    const absl::string_view bytes = masks_->index().vocabulary().TokenBytes(id);
    if (bytes.size() > TokenTrie::kMaxDepth) continue;  // MakeByExits tries long tokens whole
    TermId at = text;
    for (std::size_t i = 0; i < bytes.size() && at != kNothingTerm; ++i) {
      const auto next_byte = static_cast<unsigned char>(bytes[i]);
      if (next_byte == byte && automaton_->MayEnd(at)) {
        if (i + 1 == bytes.size()) {
          ends.push_back(id);
        } else {
          rests.push_back({bytes.substr(i + 1), id});
        }
      }
      at = automaton_->Step(at, next_byte, *work_);
      if (at == kFailedTerm) return nullptr;
    }
  }
  std::sort(rests.begin(), rests.end(), [](const TokenTrie::Entry& x, const TokenTrie::Entry& y) {
    return x.bytes != y.bytes ? x.bytes < y.bytes : x.id < y.id;
  });
  auto exits = std::make_shared<const Exits>(Exits{std::move(ends), TokenTrie(rests)});
  masks_->PutExits(key, exits);
  return exits;
}

}  // namespace maskd
