// Makes terms in normal form and keeps them. Grows, never shrinks; owned by one grammar's
// automaton.
//
// Normal forms  Cat       Nothing swallows it, Empty vanishes from it, it is right-associated.
//               Alt       flat, sorted, each branch once, without Nothing. Equal tails and heads
//                         are factored out within a bound: that merges the stacks of ambiguous
//                         texts. Intersections in it are one Encode's. One that another one holds
//                         vanishes, and what all have in common is factored out.
//               Repeat    repeats of the same, side by side or in an Alt, are one, where that is
//                         exact.
//               And, Not  fold their trivial cases.
// Threads       makers need the automaton's lock; term() and the pools may be read without it for
//               ids that were published (see StableVector).
#ifndef MASKD_GRAMMAR_CORE_TERMS_TERM_STORE_H_
#define MASKD_GRAMMAR_CORE_TERMS_TERM_STORE_H_

#include <atomic>
#include <cassert>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"

#include "grammar_core/base/hash128.h"
#include "grammar_core/base/held_bytes.h"
#include "grammar_core/base/index_table.h"
#include "grammar_core/base/stable_vector.h"
#include "grammar_core/base/work.h"
#include "grammar_core/ir/counts.h"
#include "grammar_core/ir/facts/grammar_facts.h"
#include "grammar_core/ir/grammar_ir.h"
#include "grammar_core/terms/state_ways.h"
#include "grammar_core/terms/term.h"
#include "grammar_core/terms/term_keys.h"
#include "grammar_core/terms/term_lists.h"

namespace maskd {

// The terms of one automaton, each kept once.
class TermStore {
 public:
  // `facts` must outlive this. `max_token_bytes` is the reach of one token: counters beyond it look
  // alike in a term's key.
  TermStore(const GrammarFacts& facts, int max_token_bytes);

  // The term of a number that a maker has returned. The reference lives as long as the store.
  [[nodiscard]] const Term& term(TermId id) const { return terms_[id.value()]; }
  [[nodiscard]] const Term& term(CharTerm id) const { return terms_[id.value()]; }
  [[nodiscard]] const Term& term(AnyTerm id) const { return terms_[id.value()]; }
  // Its key (see term.h): kept, or made from those of a few parts.
  template <typename Level>
  [[nodiscard]] Hash96 KeyOf(Level id) const {
    return keys_.Has(id.value()) ? keys_.At(id.value()) : MadeKey(At(id));
  }
  // The first cell of a term and what follows it: kEmptyTerm behind the last one.
  template <typename Level>
  struct PartsAs {
    Level cell;
    Level tail;
  };
  using Parts = PartsAs<TermId>;
  // Cheap: no term is made.
  template <typename Level>
  [[nodiscard]] PartsAs<Level> PartsOf(Level id) const {
    const Term& term = this->term(id);
    if (term.kind != TermKind::kCat) return {id, kEmptyTerm};
    return {Level(term.a), Level(term.b)};
  }
  // `spine`, which is not nullable, from its first cell on that may not be empty.
  [[nodiscard]] TermId FromNeeded(TermId spine) const {
    assert(!term(spine).nullable && "all of it may be left out");
    while (term(PartsOf(spine).cell).nullable) spine = PartsOf(spine).tail;
    return spine;
  }
  // Steps and masks that are known read nothing else of a state, so these lie apart from the terms.
  // What is known of the way on from it; see state_ways.h for who may write it.
  [[nodiscard]] const std::atomic<std::uint64_t>& ways(TermId id) const {
    return ways_[id.value()];
  }
  [[nodiscard]] std::atomic<std::uint64_t>& mutable_ways(TermId id) { return ways_[id.value()]; }
  // The same place of a term of characters, which no step of bytes starts from: for who derives it
  // (char_derivative.h), under the automaton's lock. 0 at first. Not of Nothing or Empty.
  [[nodiscard]] std::uint64_t link(CharTerm id) const {
    return ways_[id.value()].load(std::memory_order_relaxed);
  }
  void set_link(CharTerm id, std::uint64_t link) {
    assert(id.value() > kEmptyTerm.value() && "bytes have these terms, too");
    ways_[id.value()].store(link, std::memory_order_relaxed);
  }
  // Which mask it has, for who keeps them; kNoMask before it is made.
  using MaskNumber = std::uint16_t;
  static constexpr MaskNumber kNoMask = 0;
  [[nodiscard]] std::atomic<MaskNumber>& mutable_mask(TermId id) { return masks_[id.value()]; }
  // Terms so far; all numbers below it are in use.
  [[nodiscard]] std::uint32_t size() const { return terms_.size(); }
  // The grammar's facts, shared by all automatons of it.
  [[nodiscard]] const GrammarFacts& facts() const { return *facts_; }
  [[nodiscard]] const GrammarIr& ir() const { return facts_->ir(); }
  [[nodiscard]] Measure measure() const { return facts_->measure(); }
  // The IR's sets, and after them those made here.
  [[nodiscard]] const ByteBits& byte_set(std::uint32_t index) const;
  [[nodiscard]] const std::vector<std::u32string>& text_set(std::uint32_t index) const;
  // An object of the IR with so many levels around it, by a number: those with none by theirs, and
  // after them the others.
  std::uint32_t PlaceObject(std::uint32_t object, std::uint32_t depth);
  struct PlacedObject {
    std::uint32_t object = 0;
    std::uint32_t depth = 0;
  };
  // Which object of the IR `placed` is, and how many levels are around it.
  [[nodiscard]] PlacedObject placed_object(std::uint32_t placed) const {
    const std::size_t named = ir().objects.size();
    return placed < named ? PlacedObject{placed, 0}
                          : placed_objects_[placed - static_cast<std::uint32_t>(named)];
  }
  [[nodiscard]] const ObjectSpec& object(std::uint32_t placed) const {
    return ir().objects[placed_object(placed).object];
  }
  // The children of an Alt or And.
  [[nodiscard]] std::span<const AnyTerm> list(std::uint32_t index) const { return lists_[index]; }

  // What only the object's own code can tell of a term that stands inside an object.
  struct ObjectFacts {
    bool nullable = false;
    std::uint32_t min_bytes = 0;
    Hash128 key;
  };

  // Either level, the one of the parts.
  TermId Cat(TermId head, TermId tail) { return TermId(Cat(AnyTerm(head), AnyTerm(tail))); }
  CharTerm Cat(CharTerm head, CharTerm tail) { return CharTerm(Cat(AnyTerm(head), AnyTerm(tail))); }
  AnyTerm Cat(AnyTerm head, AnyTerm tail);
  TermId Alt(const std::vector<TermId>& terms) { return TermId(AltOf(terms, kSharedCells)); }
  CharTerm Alt(const std::vector<CharTerm>& terms) { return CharTerm(AltOf(terms, kSharedCells)); }
  AnyTerm Alt(const std::vector<AnyTerm>& terms) { return AltOf(terms, kSharedCells); }
  TermId Alt(TermId x, TermId y) { return Alt(std::vector<TermId>{x, y}); }
  CharTerm Alt(CharTerm x, CharTerm y) { return Alt(std::vector<CharTerm>{x, y}); }
  TermId Repeat(TermId body, std::uint32_t min, std::uint32_t max) {
    return TermId(Repeat(AnyTerm(body), min, max));
  }
  CharTerm Repeat(CharTerm body, std::uint32_t min, std::uint32_t max) {
    return CharTerm(Repeat(AnyTerm(body), min, max));
  }
  AnyTerm Repeat(AnyTerm body, std::uint32_t min, std::uint32_t max);
  // What a Repeat term of the level `Level` asks for after one more of its body.
  template <typename Level>
  Level AfterOne(const Term& repeat) {
    return Level(AfterOneOf(repeat));
  }

  // Bytes. Payloads are indices into the IR's pools.
  TermId ByteSet(std::uint32_t set);
  // The one byte.
  TermId Byte(unsigned char byte);
  TermId Bytes(std::uint32_t string, std::uint32_t offset);
  TermId Tokens(std::uint32_t spec);
  // `depth`: the levels around it, or 0 where its texts do not depend on them.
  TermId Call(RuleId rule, std::uint32_t depth = 0);
  // `partial_bytes`: the min_bytes of the term where `partial` is within a character.
  TermId Encode(CharTerm characters, PartialChar partial, std::uint32_t partial_bytes = 0);
  // An object's names in `characters`, and after the closing quote the rest of the object, whose
  // bytes the names' own bound counts.
  TermId EncodeNames(CharTerm characters, PartialChar partial, std::uint32_t object,
                     std::uint32_t progress, const Hash128& progress_key,
                     std::uint32_t partial_bytes = 0);
  // The rest of a string within an object or array that goes on behind its quote, from `inside`
  // (of which `key` is the key) on; `min_bytes` counts all of that.
  TermId EncodeWithin(CharTerm characters, PartialChar partial, std::uint32_t object,
                      std::uint32_t inside, const Hash128& key, std::uint32_t min_bytes);
  TermId Number(std::uint32_t number, std::uint32_t state, bool nullable, const Hash128& key);
  TermId Object(std::uint32_t object, std::uint32_t progress, ObjectPhase phase,
                const ObjectFacts& facts);
  // An array whose items must differ or, if its first byte has just been read, its rest. A state
  // says no more of that: what has been written is kept by the row (see row_states.h).
  TermId Distinct(TermId array, bool begun, unsigned char close);
  // `text` or its rest, where it ends as soon as it may once no tokens are left.
  struct TokensLeft {
    std::uint32_t left;
    bool touched = false;  // by the token at hand
  };
  // Of `text` Nothing and Empty it is that term itself: no token is left to be counted.
  TermId Limited(TermId text, TokensLeft tokens);
  // What `id` is when the token at hand ends; a text in another one has no more tokens left.
  TermId AtTokenEnd(TermId id, std::uint32_t most = kUnbounded);
  // The same as if items of the arrays just begun could be equal: the texts of `id` and perhaps
  // more. And of that only what is within such an array, or what is not.
  enum class Within : std::uint8_t { kEither, kInside, kOutside };
  TermId WithoutDistinct(TermId id, Within within = Within::kEither);

  // Terms that no IR node stands for: 0x80..0xBF, a hexadecimal digit and a space, `count` times.
  TermId Continuation(std::uint32_t count);
  TermId HexDigits(std::uint32_t count);
  TermId Spaces(std::uint32_t count) { return Repeat(Byte(' '), count, count); }

  // Characters.
  CharTerm CharSet(std::uint32_t set);
  CharTerm Text(std::uint32_t text, std::uint32_t offset);
  // Adds a set of texts, sorted and distinct, to those of the IR; its index.
  std::uint32_t AddTextSet(std::vector<std::u32string> texts);
  // The texts from `first` on that share their first `depth` characters with texts[first].
  CharTerm TextSet(std::uint32_t set, std::uint32_t first, std::uint32_t end, std::uint32_t depth);
  CharTerm NameSet(std::uint32_t object, std::uint32_t progress, std::uint32_t first,
                   std::uint32_t depth, const ObjectFacts& facts);
  CharTerm And(const std::vector<CharTerm>& terms) { return AndOf(terms); }
  CharTerm Not(CharTerm term);

  // A term like `like`, which is `theirs` of another store of the same grammar: what is known of it
  // is taken over, its payload (`like`'s fields a to d) is in this store's numbers already. An
  // Alt's or And's list is `list`, in any order.
  AnyTerm Adopt(const TermStore& from, AnyTerm theirs, const Term& like,
                std::vector<AnyTerm> list = {});
  // The number of a set of bytes that another store of the same grammar has as `set`.
  std::uint32_t AdoptByteSet(const TermStore& from, std::uint32_t set);

  // Whether `id` is an Encode term of an object's names, between two characters.
  [[nodiscard]] bool IsNames(TermId id) const;
  // Whether `id` is any one character.
  [[nodiscard]] bool IsAnyChar(CharTerm id) const;
  // Whether `id` is every character string.
  [[nodiscard]] bool IsAllText(CharTerm id) const;

  // The key of what has `depth` levels around it, where that matters. Not clamped: what one token
  // opens may take more bytes to end the deeper it is.
  [[nodiscard]] static Hash128 KeyAt(std::uint32_t depth, const Hash128& key) {
    return depth == 0 ? key : Mix(Mix(key, depth), kDepthSeed);
  }

  // A counter as it goes into a key: beyond the reach of one token all look alike.
  [[nodiscard]] std::uint32_t ClampCount(std::uint32_t count) const {
    return std::min(count, clamp_);
  }

  // What making and looking up terms has taken since it was last charged, in units of `work`, and
  // counted for the part of it that those who make terms do themselves. False where `work` failed.
  void AddEffort(std::size_t parts) { effort_ += static_cast<std::int64_t>(parts); }
  // The same for hashes of a literal's rests, which are kept.
  void NoteSuffixes(const std::vector<Hash128>& hashes);
  // What was made is no caller's work.
  void ForgetEffort() { effort_ = 0; }
  bool ChargeEffort(Work& work) {
    const std::int64_t units = effort_ / kEffortPerUnit;
    effort_ %= kEffortPerUnit;
    return units == 0 ? work.ok() : work.Spend(units);
  }

  // Bytes held by terms, their links, lists and hash tables.
  [[nodiscard]] std::int64_t held_bytes() const;
  // The same by kind: they add up to it.
  [[nodiscard]] std::vector<HeldPart> parts() const;

 private:
  static constexpr std::uint64_t kDepthSeed = 0x6465707468;
  static constexpr int kSharedCells = 8;
  // Where choices nest deeper than this their branches are kept apart: a derivative descends
  // through them.
  static constexpr std::uint32_t kMaxDepth = 500;
  // Branches, its inner choices' included, that the factoring of one choice looks at: so many times
  // its own and these. Behind that they are kept apart.
  static constexpr std::int64_t kFactoringEffort = 16;
  static constexpr std::int64_t kFactoringBranches = 64;

  // Parts of lists, looked up, sorted or hashed, that take as long as one unit of work.
  static constexpr std::int64_t kEffortPerUnit = 32;

  // Of more branches none is looked for in the others.
  static constexpr std::size_t kMaxAbsorbed = 256;

  struct Id {
    TermKind kind;
    std::uint32_t a, b, c, d;
    bool operator==(const Id&) const = default;
  };
  // Most terms take no more chunks than they need.
  template <typename T>
  using Table = StableVector<T, 3, 7>;
  // For what most grammars have few of, or none.
  template <typename T>
  using FewTable = StableVector<T, 2, 4>;
  // Terms by their ids.
  struct ByTerm {
    const Table<Term>* terms;
    [[nodiscard]] static Id IdOf(const Term& term) {
      if (term.HasSpine()) return {term.kind, term.a, term.b, 0, 0};
      return {term.kind, term.a, term.b, term.c, term.d};
    }
    std::size_t operator()(const Id& id) const {
      return absl::HashOf(id.kind, id.a, id.b, id.c, id.d);
    }
    std::size_t operator()(std::uint32_t id) const { return (*this)(IdOf((*terms)[id])); }
    bool operator()(std::uint32_t x, const Id& y) const { return IdOf((*terms)[x]) == y; }
  };

  // A new term, and its key where the term keeps one.
  struct Made : Term {
    Hash96 key;
  };
  // The term of `id` if it is known, or a new one whose facts `fill` sets.
  template <typename Level, typename Fill>
  Level Intern(const Id& id, Fill fill);
  std::uint32_t InternList(std::span<const AnyTerm> list);
  std::uint32_t NumberOf(const ByteBits& set);
  // As term(), where a parameter has that name.
  template <typename Level>
  [[nodiscard]] const Term& At(Level id) const {
    return terms_[id.value()];
  }
  TermId ByteSetOf(const ByteBits& set) { return ByteSet(NumberOf(set)); }
  // The makers of both levels, where the level does not matter.
  AnyTerm AfterOneOf(const Term& repeat);
  AnyTerm CatCell(AnyTerm head, AnyTerm tail);
  [[nodiscard]] Power PowerOf(AnyTerm id) const;
  AnyTerm JoinPowers(AnyTerm x, AnyTerm y);
  void UnitePowers(std::vector<AnyTerm>* branches);
  [[nodiscard]] bool IsBoth(AnyTerm id) const { return At(id).kind == TermKind::kAnd; }
  void JoinEncoded(std::vector<AnyTerm>* branches);
  void Absorb(std::vector<AnyTerm>* branches);
  AnyTerm ShareParts(const std::vector<AnyTerm>& branches);
  // `shared_cells`: how many cells that tails share are looked for.
  template <typename Level>
  AnyTerm AltOf(const std::vector<Level>& terms, int shared_cells);
  // Of at least two branches, none of which is Nothing or an Alt.
  AnyTerm AltOfFlat(std::vector<AnyTerm> flat, int shared_cells);
  template <typename Level>
  CharTerm AndOf(const std::vector<Level>& terms);
  void FactorWithin(std::vector<AnyTerm>* branches, int shared_cells);
  AnyTerm AltTerm(std::vector<AnyTerm> branches);
  // Whether what character terms, which ascend, have in common is plainly nothing: x & !x.
  [[nodiscard]] bool Contradict(std::span<const AnyTerm> terms) const;
  void FillAlt(Made* term, std::span<const AnyTerm> branches) const;
  [[nodiscard]] bool IsDeep(AnyTerm id) const { return At(id).depth > kMaxDepth; }
  AnyTerm Distribute(AnyTerm alt, AnyTerm tail);
  // A branch as what it may have in common with others, and the rest.
  struct Part {
    AnyTerm common;
    AnyTerm rest;
    AnyTerm whole;
  };
  // Appends a term that is in no table yet.
  void Append(const Made& term);
  // Of every so many cells of a spine one keeps its key: any other is made from those behind it.
  static constexpr std::uint32_t kCellsAKey = 16;
  [[nodiscard]] bool KeepsKey(const Term& term) const;
  // The key of a term of a kind that makes it from its parts.
  [[nodiscard]] Hash96 MadeKey(const Term& term) const;
  template <typename PartOf, typename Join>
  void Factor(std::vector<AnyTerm>* branches, PartOf part_of, Join join);
  void FactorTails(std::vector<AnyTerm>* branches);
  void FactorHeads(std::vector<AnyTerm>* branches, int cells);
  // One level more; so many and more look alike.
  static std::uint16_t Above(std::uint32_t depth) {
    return static_cast<std::uint16_t>(std::min<std::uint32_t>(depth + 1, 0xFFFF));
  }
  static Hash128 Seed(TermKind kind) { return Mix(Hash128{}, static_cast<std::uint64_t>(kind)); }

  [[nodiscard]] std::int64_t TermBytes() const {
    return terms_.chunk_bytes() + keys_.chunk_bytes();
  }
  [[nodiscard]] std::int64_t LinkBytes() const {
    return ways_.chunk_bytes() + masks_.chunk_bytes();
  }
  [[nodiscard]] std::int64_t ListBytes() const;
  [[nodiscard]] std::int64_t SetBytes() const;

  const GrammarFacts* facts_;
  const std::uint32_t clamp_;
  Table<Term> terms_;
  // What ways() and mutable_mask() read, for each term.
  Table<std::atomic<std::uint64_t>> ways_;
  Table<std::atomic<MaskNumber>> masks_;
  TermKeys keys_;
  IndexTable<ByTerm> ids_{ByTerm{&terms_}};
  // Numbered after the IR's.
  FewTable<PlacedObject> placed_objects_;
  absl::flat_hash_map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> placed_ids_;
  TermLists lists_;
  // The key of an And or Not with a clamped part.
  [[nodiscard]] Hash128 OwnKey(TermKind kind, std::uint32_t payload) const {
    return Mix(Mix(unique_, static_cast<std::uint64_t>(kind)), payload);
  }
  const Hash128 unique_ = UniqueHash();
  std::int64_t text_bytes_ = 0;  // of what sets of texts and hashes of literals hold
  std::int64_t effort_ = 0;      // not charged yet
  // While a choice is factored.
  std::optional<std::int64_t> factoring_left_;
  // Every character string; as a repetition of any character it is so, too.
  CharTerm all_text_ = kNothingTerm;
  // Numbered after the IR's.
  FewTable<ByteBits> own_byte_sets_;
  FewTable<std::vector<std::u32string>> own_text_sets_;
  // Content hashes of literal suffixes, by string and by text; made on first use.
  absl::flat_hash_map<std::uint32_t, std::vector<Hash128>> bytes_suffix_;
  absl::flat_hash_map<std::uint32_t, std::vector<Hash128>> text_suffix_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TERMS_TERM_STORE_H_
