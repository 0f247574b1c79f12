// Hash-consing with smart constructors. Each first looks for what its result is equal to: nothing,
// empty, one of its parts, a power of one body. Only then it interns a new term. So the derivatives
// of a grammar are finitely many, up to what the texts nest. The laws are those of Owens, Reppy and
// Turon (2009), and for choices the factoring of term_forms.cc.
//
// Invariant  a term's facts (nullable, min_bytes, floor, key) follow from its parts' facts, which
//            were known before it: nothing is ever revised.
// Cost       effort is counted for list entries that are sorted, compared or hashed, and charged by
//            whoever asked for the term.
#include "grammar_core/terms/term_store.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "grammar_core/base/held_bytes.h"
#include "grammar_core/base/sort_unique.h"
#include "grammar_core/base/utf8.h"

namespace maskd {
namespace {

// Suffix hashes of a string: element i is the hash of what follows from i on.
template <typename String>
std::vector<Hash128> SuffixHashes(const String& string) {
  std::vector<Hash128> hashes(string.size() + 1);
  for (std::size_t i = string.size(); i-- > 0;)
    hashes[i] = Mix(hashes[i + 1], static_cast<std::uint64_t>(string[i]));
  return hashes;
}

template <typename String>
const Hash128& SuffixHash(absl::flat_hash_map<std::uint32_t, std::vector<Hash128>>* known,
                          std::uint32_t index, const String& string, std::uint32_t offset,
                          TermStore* store) {
  std::vector<Hash128>& hashes = (*known)[index];
  if (hashes.empty()) {
    hashes = SuffixHashes(string);
    store->NoteSuffixes(hashes);
  }
  return hashes[offset];
}

}  // namespace

TermStore::TermStore(const GrammarFacts& facts, int max_token_bytes)
    : facts_(&facts), clamp_(static_cast<std::uint32_t>(max_token_bytes) + 1) {
  Intern<AnyTerm>({TermKind::kNothing, 0, 0, 0, 0}, [](Made* term) { term->min_bytes = kNoEnd; });
  Intern<AnyTerm>({TermKind::kEmpty, 0, 0, 0, 0}, [](Made* term) {
    term->nullable = true;
    term->key = Seed(TermKind::kEmpty);
  });
  assert(terms_.size() == 2 && At(kEmptyTerm).nullable && "as term.h numbers them");
  ForgetEffort();
  all_text_ = Not(kNothingTerm);
}

template <typename Level, typename Fill>
Level TermStore::Intern(const Id& id, Fill fill) {
  AddEffort(2);
  const auto [known, hash] = ids_.Find(id);
  if (known != IndexTable<ByTerm>::kNone) return Level(known);
  Made term;
  term.kind = id.kind;
  term.a = id.a;
  term.b = id.b;
  term.c = id.c;
  term.d = id.d;
  fill(&term);
  assert(ids_.size() == terms_.size());
  ids_.Add(hash);
  Append(term);
  return Level(terms_.size() - 1);
}

std::uint32_t TermStore::InternList(std::span<const AnyTerm> list) {
  AddEffort(list.size());
  return lists_.Keep(list);
}

AnyTerm TermStore::Cat(AnyTerm head, AnyTerm tail) {
  if (head == kNothingTerm || tail == kNothingTerm) return kNothingTerm;
  if (tail == kEmptyTerm) return head;
  // The cells of `head`, then `tail`: built from the far end.
  std::vector<AnyTerm> cells;
  while (At(head).kind == TermKind::kCat) {
    cells.push_back(AnyTerm(At(head).a));
    head = AnyTerm(At(head).b);
  }
  AnyTerm result = head == kEmptyTerm ? tail : CatCell(head, tail);
  for (auto cell = cells.rbegin(); cell != cells.rend(); ++cell) result = CatCell(*cell, result);
  return result;
}

AnyTerm TermStore::CatCell(AnyTerm head, AnyTerm tail) {
  // What joins with one cell may join with each of thousands behind it: x? and x x x ...
  while (true) {
    assert(At(head).kind != TermKind::kCat && "a head is one cell");
    if (At(head).kind == TermKind::kAlt && IsDeep(head)) return Distribute(head, tail);
    const bool is_cell = At(tail).kind != TermKind::kCat;
    const AnyTerm joined = JoinPowers(head, is_cell ? tail : AnyTerm(At(tail).a));
    if (joined == kNothingTerm) break;
    if (is_cell) return joined;
    head = joined;
    tail = AnyTerm(At(tail).b);
  }
  return Intern<AnyTerm>({TermKind::kCat, head.value(), tail.value(), 0, 0}, [&](Made* term) {
    const Term& h = At(head);
    const Term& t = At(tail);
    term->nullable = h.nullable && t.nullable;
    term->may_be_empty = h.may_be_empty || t.may_be_empty;
    term->clamped = h.clamped || t.clamped;
    term->in_distinct = h.in_distinct;
    term->in_limited = h.in_limited;
    term->c = t.cells() + 1;
    term->depth = std::max<std::uint16_t>(Above(h.depth), h.nullable ? t.depth : 0);
    term->d = h.nullable ? t.floor() : t.cells();
    term->min_bytes = SaturatingAdd(h.min_bytes, t.min_bytes);
  });
}

AnyTerm TermStore::AltTerm(std::vector<AnyTerm> branches) {
  if (branches.size() == 1) return branches[0];
  const std::uint32_t list = InternList(branches);
  return Intern<AnyTerm>({TermKind::kAlt, list, 0, 0, 0},
                         [&](Made* term) { FillAlt(term, lists_[list]); });
}

void TermStore::FillAlt(Made* term, std::span<const AnyTerm> branches) const {
  term->min_bytes = kNoEnd;
  term->c = 0;
  term->d = kNoEnd;
  term->may_be_empty = true;
  Hash128 key = Seed(TermKind::kAlt);
  for (const AnyTerm id : branches) {
    const Term& branch = At(id);
    term->nullable |= branch.nullable;
    term->may_be_empty &= branch.may_be_empty;
    term->clamped |= branch.clamped;
    term->in_distinct |= branch.in_distinct;
    term->in_limited |= branch.in_limited;
    term->c = std::max(term->c, branch.cells());
    term->depth = std::max(term->depth, Above(branch.depth));
    term->d = std::min(term->d, branch.floor());
    term->min_bytes = std::min(term->min_bytes, branch.min_bytes);
    key = MixUnordered(key, KeyOf(id));
  }
  term->key = key;
}

AnyTerm TermStore::Repeat(AnyTerm body, std::uint32_t min, std::uint32_t max) {
  if (max == 0 || body == kEmptyTerm) return kEmptyTerm;
  if (body == kNothingTerm) return min == 0 ? kEmptyTerm : kNothingTerm;
  if (min == 1 && max == 1) return body;
  if (At(body).nullable) min = 0;
  return Intern<AnyTerm>({TermKind::kRepeat, body.value(), min, max, 0}, [&](Made* term) {
    const Term& b = At(body);
    term->nullable = min == 0;
    term->may_be_empty = b.may_be_empty && min > 0;
    term->in_limited = b.in_limited;
    // In the key, the least clamped count looks like no bound.
    term->clamped = b.clamped || min > clamp_ || (max >= clamp_ && max != kUnbounded);
    term->depth = Above(b.depth);
    term->min_bytes = SaturatingMul(b.min_bytes, min);
  });
}

AnyTerm TermStore::AfterOneOf(const Term& repeat) {
  const std::uint32_t min = repeat.b == 0 ? 0 : repeat.b - 1;
  return Repeat(AnyTerm(repeat.a), min, repeat.c == kUnbounded ? kUnbounded : repeat.c - 1);
}

const ByteBits& TermStore::byte_set(std::uint32_t index) const {
  const std::vector<ByteBits>& named = ir().byte_sets;
  return index < named.size() ? named[index]
                              : own_byte_sets_[static_cast<std::uint32_t>(index - named.size())];
}

TermId TermStore::ByteSet(std::uint32_t set) {
  return Intern<TermId>({TermKind::kByteSet, set, 0, 0, 0}, [&](Made* term) {
    term->min_bytes = SizeOf(measure(), byte_set(set));
    term->key = MixBits(Seed(TermKind::kByteSet), byte_set(set));
  });
}

std::uint32_t TermStore::NumberOf(const ByteBits& set) {
  std::uint32_t index = 0;
  while (index < own_byte_sets_.size() && own_byte_sets_[index] != set) ++index;
  AddEffort(index / 8);
  if (index == own_byte_sets_.size()) own_byte_sets_.Append() = set;
  return static_cast<std::uint32_t>(ir().byte_sets.size()) + index;
}

std::uint32_t TermStore::AdoptByteSet(const TermStore& from, std::uint32_t set) {
  return set < ir().byte_sets.size() ? set : NumberOf(from.byte_set(set));
}

// Nothing of a term but its payload depends on its store, not even the key of an And or Not of its
// own: no other store ever makes that key.
AnyTerm TermStore::Adopt(const TermStore& from, AnyTerm theirs, const Term& like,
                         std::vector<AnyTerm> list) {
  assert(list.empty() || like.kind == TermKind::kAlt || like.kind == TermKind::kAnd);
  std::uint32_t payload = like.a;
  if (!list.empty()) {
    std::ranges::sort(list);
    payload = InternList(list);
  }
  Id id = ByTerm::IdOf(like);
  id.a = payload;
  return Intern<AnyTerm>(id, [&](Made* term) {
    static_cast<Term&>(*term) = like;
    term->a = payload;
    if (from.keys_.Has(theirs.value())) term->key = from.keys_.At(theirs.value());
  });
}

TermId TermStore::Byte(unsigned char byte) {
  ByteBits set;
  set.set(byte);
  return ByteSetOf(set);
}

TermId TermStore::Continuation(std::uint32_t count) {
  ByteBits set;
  for (int byte = 0x80; byte <= 0xBF; ++byte) set.set(byte);
  return Repeat(ByteSetOf(set), count, count);
}

TermId TermStore::HexDigits(std::uint32_t count) {
  ByteBits set;
  for (const char digit : absl::string_view("0123456789abcdefABCDEF")) set.set(digit);
  return Repeat(ByteSetOf(set), count, count);
}

TermId TermStore::Bytes(std::uint32_t string, std::uint32_t offset) {
  const std::string& bytes = ir().byte_strings[string];
  if (offset == bytes.size()) return kEmptyTerm;
  return Intern<TermId>({TermKind::kBytes, string, offset, 0, 0}, [&](Made* term) {
    term->min_bytes = SizeOf(measure(), absl::string_view(bytes).substr(offset));
    term->key =
        Mix(Seed(TermKind::kBytes), SuffixHash(&bytes_suffix_, string, bytes, offset, this));
  });
}

TermId TermStore::Tokens(std::uint32_t spec) {
  return Intern<TermId>({TermKind::kTokens, spec, 0, 0, 0}, [&](Made* term) {
    term->key = Mix(Seed(TermKind::kTokens), facts_->TokensHash(spec));
  });
}

TermId TermStore::Call(RuleId rule, std::uint32_t depth) {
  return Intern<TermId>({TermKind::kCall, rule, depth, 0, 0}, [&](Made* term) {
    term->nullable = facts_->RuleNullable(rule);
    term->min_bytes = facts_->RuleMinBytes(rule, depth);
    term->key = KeyAt(depth, Mix(Seed(TermKind::kCall), facts_->RuleHash(rule)));
  });
}

std::uint32_t TermStore::PlaceObject(std::uint32_t object, std::uint32_t depth) {
  if (depth == 0) return object;
  const auto named = static_cast<std::uint32_t>(ir().objects.size());
  const auto [at, is_new] =
      placed_ids_.try_emplace({object, depth}, named + placed_objects_.size());
  if (is_new) placed_objects_.Append() = {object, depth};
  return at->second;
}

TermId TermStore::Encode(CharTerm characters, PartialChar partial, std::uint32_t partial_bytes) {
  if (characters == kNothingTerm) return kNothingTerm;
  const bool between = partial.phase == CharPhase::kStart;
  if (characters == kEmptyTerm && between) return kEmptyTerm;
  return Intern<TermId>({TermKind::kEncode, characters.value(), partial.Pack(), kNoObject, 0},
                        [&](Made* term) {
                          term->nullable = between && At(characters).nullable;
                          term->min_bytes = between ? At(characters).min_bytes : partial_bytes;
                        });
}

TermId TermStore::EncodeNames(CharTerm characters, PartialChar partial, std::uint32_t object,
                              std::uint32_t progress, const Hash128& progress_key,
                              std::uint32_t partial_bytes) {
  const bool between = partial.phase == CharPhase::kStart;
  return EncodeWithin(characters, partial, object, progress, progress_key,
                      between ? At(characters).min_bytes : partial_bytes);
}

TermId TermStore::EncodeWithin(CharTerm characters, PartialChar partial, std::uint32_t object,
                               std::uint32_t inside, const Hash128& key, std::uint32_t min_bytes) {
  if (characters == kNothingTerm) return kNothingTerm;
  return Intern<TermId>(
      {TermKind::kEncode, characters.value(), partial.Pack(), object, inside}, [&](Made* term) {
        term->min_bytes = min_bytes;
        const Hash128 own = Mix(Mix(Seed(TermKind::kEncode), KeyOf(characters)), partial.Pack());
        term->key = Mix(own, key);
      });
}

TermId TermStore::Number(std::uint32_t number, std::uint32_t state, bool nullable,
                         const Hash128& key) {
  return Intern<TermId>({TermKind::kNumber, number, state, 0, 0}, [&](Made* term) {
    term->nullable = nullable;
    term->min_bytes = nullable ? 0 : 1;
    term->key = Mix(Seed(TermKind::kNumber), key);
  });
}

TermId TermStore::Object(std::uint32_t object, std::uint32_t progress, ObjectPhase phase,
                         const ObjectFacts& facts) {
  return Intern<TermId>(
      {TermKind::kObject, object, progress, static_cast<std::uint32_t>(phase), 0}, [&](Made* term) {
        term->min_bytes = facts.min_bytes;
        term->key = Mix(Mix(Seed(TermKind::kObject), facts.key), static_cast<std::uint64_t>(phase));
      });
}

TermId TermStore::Distinct(TermId array, bool begun, unsigned char close) {
  if (array == kNothingTerm || array == kEmptyTerm || array == kFailedTerm) return array;
  const std::uint32_t is_rest = begun ? 1 : 0;
  return Intern<TermId>({TermKind::kDistinct, array.value(), is_rest, close, 0}, [&](Made* term) {
    const Term& whole = At(array);
    term->in_distinct = begun;
    term->clamped = whole.clamped;
    term->depth = Above(whole.depth);
    term->min_bytes = whole.min_bytes;
    term->key = Mix(Mix(Seed(TermKind::kDistinct), KeyOf(array)), is_rest);
  });
}

// Its key is that of the text, and so are its masks: tokens are counted between them. In a chain of
// cells it is one cell, as the text may be.
TermId TermStore::Limited(TermId text, TokensLeft tokens) {
  if (text == kNothingTerm || text == kEmptyTerm || text == kFailedTerm) return text;
  const std::uint32_t touched = tokens.touched ? 1 : 0;
  return Intern<TermId>({TermKind::kLimited, text.value(), tokens.left, touched, 0},
                        [&](Made* term) {
                          const Term& whole = At(text);
                          term->nullable = whole.nullable;
                          term->clamped = whole.clamped;
                          term->in_limited = tokens.touched || whole.in_limited;
                          term->depth = Above(whole.depth);
                          term->min_bytes = whole.min_bytes;
                          term->key = Mix(Seed(TermKind::kLimited), KeyOf(text));
                        });
}

CharTerm TermStore::CharSet(std::uint32_t set) {
  return Intern<CharTerm>({TermKind::kCharSet, set, 0, 0, 0}, [&](Made* term) {
    Hash128 key = Seed(TermKind::kCharSet);
    for (const CharRange& range : ir().char_sets[set].ranges())
      key = Mix(Mix(key, range.lo), range.hi);
    term->key = key;
    term->min_bytes = SizeOf(measure(), ir().char_sets[set].ranges().front().lo);
  });
}

CharTerm TermStore::Text(std::uint32_t text, std::uint32_t offset) {
  const std::u32string& characters = ir().texts[text];
  if (offset == characters.size()) return kEmptyTerm;
  return Intern<CharTerm>({TermKind::kText, text, offset, 0, 0}, [&](Made* term) {
    term->min_bytes = SizeOf(measure(), std::u32string_view(characters).substr(offset));
    term->key =
        Mix(Seed(TermKind::kText), SuffixHash(&text_suffix_, text, characters, offset, this));
  });
}

const std::vector<std::u32string>& TermStore::text_set(std::uint32_t index) const {
  const std::vector<std::vector<std::u32string>>& named = ir().text_sets;
  return index < named.size() ? named[index]
                              : own_text_sets_[static_cast<std::uint32_t>(index - named.size())];
}

void TermStore::NoteSuffixes(const std::vector<Hash128>& hashes) {
  AddEffort(hashes.size() / 4);
  text_bytes_ += HeldBytes(hashes);
}

std::uint32_t TermStore::AddTextSet(std::vector<std::u32string> texts) {
  text_bytes_ += HeldBytes(texts, [](const std::u32string& text) { return HeldBytes(text); });
  own_text_sets_.Append() = std::move(texts);
  return static_cast<std::uint32_t>(ir().text_sets.size() + own_text_sets_.size() - 1);
}

CharTerm TermStore::TextSet(std::uint32_t set, std::uint32_t first, std::uint32_t end,
                            std::uint32_t depth) {
  const std::vector<std::u32string>& texts = text_set(set);
  if (first == end) return kNothingTerm;
  if (end - first == 1 && texts[first].size() == depth) return kEmptyTerm;
  return Intern<CharTerm>({TermKind::kTextSet, set, first, end, depth}, [&](Made* term) {
    term->nullable = texts[first].size() == depth;
    term->min_bytes = kNoEnd;
    Hash128 key = Seed(TermKind::kTextSet);
    for (std::uint32_t i = first; i < end; ++i) {
      const std::u32string_view rest = std::u32string_view(texts[i]).substr(depth);
      AddEffort(1 + rest.size() / 8);
      term->min_bytes = std::min(term->min_bytes, static_cast<std::uint32_t>(rest.size()));
      key = Mix(MixBytes(key, {reinterpret_cast<const char*>(rest.data()), rest.size() * 4}), 1);
    }
    term->key = key;
  });
}

CharTerm TermStore::NameSet(std::uint32_t object, std::uint32_t progress, std::uint32_t first,
                            std::uint32_t depth, const ObjectFacts& facts) {
  return Intern<CharTerm>({TermKind::kNameSet, object, progress, first, depth}, [&](Made* term) {
    term->nullable = facts.nullable;
    term->min_bytes = facts.min_bytes;
    term->key = Mix(Seed(TermKind::kNameSet), facts.key);
  });
}

template <typename Level>
CharTerm TermStore::AndOf(const std::vector<Level>& terms) {
  std::vector<AnyTerm> flat;
  for (const Level part : terms) {
    const AnyTerm id(part);
    if (id == kNothingTerm) return kNothingTerm;
    if (id == AnyTerm(all_text_)) continue;
    if (At(id).kind == TermKind::kAnd) {
      const std::span<const AnyTerm> inner = lists_[At(id).a];
      flat.insert(flat.end(), inner.begin(), inner.end());
    } else {
      flat.push_back(id);
    }
  }
  AddEffort(2 * flat.size());
  SortUnique(&flat);
  if (flat.empty()) return all_text_;
  if (flat.size() == 1) return CharTerm(flat[0]);
  if (Contradict(flat)) return kNothingTerm;
  const bool nullable =
      std::all_of(flat.begin(), flat.end(), [&](AnyTerm id) { return At(id).nullable; });
  if (std::find(flat.begin(), flat.end(), kEmptyTerm) != flat.end())
    return nullable ? kEmptyTerm : kNothingTerm;
  const std::uint32_t list = InternList(flat);
  return Intern<CharTerm>({TermKind::kAnd, list, 0, 0, 0}, [&](Made* term) {
    term->nullable = nullable;
    term->may_be_empty = !nullable;
    term->key = Seed(TermKind::kAnd);
    for (const AnyTerm id : lists_[list]) {
      term->depth = std::max(term->depth, Above(At(id).depth));
      term->min_bytes = std::max(term->min_bytes, At(id).min_bytes);
      term->key = MixUnordered(term->key, KeyOf(id));
      term->clamped |= At(id).clamped;
    }
    if (term->clamped) term->key = OwnKey(TermKind::kAnd, list);
  });
}
template CharTerm TermStore::AndOf(const std::vector<CharTerm>& terms);
template CharTerm TermStore::AndOf(const std::vector<AnyTerm>& terms);

bool TermStore::IsNames(TermId id) const {
  const Term& cell = At(id);
  return cell.kind == TermKind::kEncode && cell.c != kNoObject &&
         PartialChar::Unpack(cell.b).phase == CharPhase::kStart &&
         terms_[cell.a].kind == TermKind::kNameSet;
}

bool TermStore::IsAnyChar(CharTerm id) const {
  static const auto* const any = new maskd::CharSet(maskd::CharSet::All());
  const Term& term = At(id);
  return term.kind == TermKind::kCharSet && ir().char_sets[term.a] == *any;
}

bool TermStore::IsAllText(CharTerm id) const {
  const Term& term = At(id);
  if (term.kind == TermKind::kNot) return AnyTerm(term.a) == kNothingTerm;
  return term.kind == TermKind::kRepeat && term.b == 0 && term.c == kUnbounded &&
         IsAnyChar(CharTerm(term.a));
}

CharTerm TermStore::Not(CharTerm inner) {
  if (IsAllText(inner)) return kNothingTerm;
  if (At(inner).kind == TermKind::kNot) return CharTerm(At(inner).a);
  return Intern<CharTerm>({TermKind::kNot, inner.value(), 0, 0, 0}, [&](Made* term) {
    term->nullable = !At(inner).nullable;
    // Not Nothing is every string; any other complement may turn out to be empty.
    term->may_be_empty = !term->nullable;
    term->depth = Above(At(inner).depth);
    term->min_bytes = term->nullable ? 0 : 1;
    term->clamped = At(inner).clamped;
    term->key = term->clamped ? OwnKey(TermKind::kNot, inner.value())
                              : Mix(Seed(TermKind::kNot), KeyOf(inner));
  });
}

}  // namespace maskd
