// What one row knows beside its grammar's automaton: the arrays of distinct items that it is
// within, and its states there.
//
// States    an own state is a number from kFirstOwn on; all others are states of the automaton, in
//           which the row is within no such array. An own state is the ways to read the text: each
//           a state of the automaton, as if items could be equal, and what was written in the
//           arrays that this way is within. There is one, but where a grammar lets an array be of
//           one kind or another.
// Live      a way that could only lead to repetitions is dropped at each step (row_step.h), so
//           every own state that a row is in can be ended.
// Memory    what is kept for a token is a state, a place in each array around it, and what it
//           wrote: some 250 bytes. All else that is tried on the way is given back (Scratch). What
//           was kept stays until the row and its forks are gone. Limits::row_bytes bounds it.
// Errors    by Work: RESOURCE_EXHAUSTED.
// Threads   forks share it; its lock lets them live in different threads.
#ifndef MASKD_GRAMMAR_CORE_UNIQUE_ITEMS_ROW_MEMORY_H_
#define MASKD_GRAMMAR_CORE_UNIQUE_ITEMS_ROW_MEMORY_H_

#include <cassert>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/row_state.h"
#include "grammar_core/base/work.h"
#include "grammar_core/derivatives/first_classes.h"
#include "grammar_core/mask/token_mask.h"
#include "grammar_core/terms/term.h"
#include "grammar_core/unique_items/distinct_arrays.h"

namespace maskd {

class Automaton;

// What one row and its forks know beside their automaton.
class RowMemory {
 public:
  using State = RowStateId;
  // Whether a state is one of a row, and not of the automaton.
  [[nodiscard]] static bool IsOwn(State state) {
    return state.value() >= kFirstOwn && state.value() < kFailedTerm.value();
  }
  // A state of the automaton, or what stands for one (kFailedTerm), as a row's state; and back.
  [[nodiscard]] static State Of(TermId state) { return State(state.value()); }
  [[nodiscard]] static TermId TermOf(State state) {
    assert(!IsOwn(state) && "an own state is no state of the automaton");
    return TermId(state.value());
  }

  // One way to read the text so far: a state of the automaton, and a place in each array around it.
  struct Way {
    TermId term = kNothingTerm;
    absl::InlinedVector<DistinctArrays::Id, 2> arrays = {};  // the outermost first
  };
  using Ways = absl::InlinedVector<Way, 1>;

  // `automaton` must outlive this.
  explicit RowMemory(Automaton* automaton) : automaton_(automaton) {}
  RowMemory(const RowMemory&) = delete;
  RowMemory& operator=(const RowMemory&) = delete;
  ~RowMemory();

  // What those of this process hold, as of their last steps.
  static std::int64_t LiveBytes();

  // What this knows, for rows that go on in `automaton`, which adopts from this one's: each of
  // `states` becomes what it is there. Other states of this row's own are not taken along. The lock
  // must be held.
  std::shared_ptr<RowMemory> CopyTo(Automaton* automaton, std::span<State> states) const;

  // To be held around each call; around constant ones only while another thread has the memory.
  [[nodiscard]] std::unique_lock<std::recursive_mutex> Lock() { return std::unique_lock(mutex_); }

  // As long as it lives, states that are made are for a while: at its end they are void, and so is
  // what was remembered for them. It holds the memory's lock.
  class Scratch {
   public:
    // Nothing, where `memory` is null.
    explicit Scratch(RowMemory* memory);
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch();
    // Ends it and keeps `state`, which gets a new id.
    State Keep(State state);

   private:
    RowMemory* const memory_;
    std::unique_lock<std::recursive_mutex> lock_;
    const DistinctArrays::Mark mark_;
    const std::size_t states_;
    bool over_;
  };

  // For row_step.h, which takes a row further: the ways to read the text behind `byte`, some of
  // which may lead to repetitions only; and the state of ways, kNothingTerm of none.
  Ways WaysBehind(State state, unsigned char byte, Work& work);
  State StateOf(Ways ways);
  // The same, and no state that is there already: for who goes on once and keeps none.
  State NewStateOf(Ways ways);
  // That which takes what either does. `term` is a state of the automaton.
  State Union(State state, TermId term);

  // `state` as if items could be equal, as a state of the automaton.
  [[nodiscard]] TermId Shared(State state) const;
  // Whether there is more than one way to read the text.
  [[nodiscard]] bool IsAmbiguous(State state) const;
  // Equal for states that take the same and are alike.
  [[nodiscard]] Hash128 KeyOf(State state) const;

  // The mask that was made last for an own state with `key`, or null.
  [[nodiscard]] MaskRef KnownMask(const Hash128& key) const {
    return last_mask_.key == key ? last_mask_.mask : nullptr;
  }
  void KeepMask(const Hash128& key, MaskRef mask) { last_mask_ = {key, std::move(mask)}; }

  // For FindRepeated(): of any way of `state`, see DistinctArrays; the classes of bytes that it may
  // take; whether what follows is certainly the inside of a string.
  [[nodiscard]] bool MayRepeat(State state) const;
  [[nodiscard]] bool MayRepeatBehind(State state, unsigned char byte) const;
  [[nodiscard]] bool MayBeginAnother(State state, absl::string_view bytes) const;
  [[nodiscard]] FirstClasses::Set FirstOf(State state, Work& work) const;
  [[nodiscard]] bool InString(State state) const;
  [[nodiscard]] Automaton& automaton() const { return *automaton_; }

  // Where there is one way, within one array, whose item is a string: see ItemEnds. The pointers
  // live until the row takes something.
  struct InItem {
    TermId term;
    DistinctArrays::Id array;
    const DistinctArrays* arrays;
  };
  [[nodiscard]] std::optional<InItem> InItemString(State state) const;

  // For RowStates: see there.
  [[nodiscard]] std::vector<std::string> TakenRests(State state) const;
  [[nodiscard]] std::string BegunText(State state) const;

  // For DistinctSearch. The ways behind `byte` are added to `next`. Whether one may repeat, there
  // and behind a character more (see DistinctArrays), and is within a string. Its key. The number
  // that is being written there, empty where none is.
  void StepWay(const Way& way, unsigned char byte, Ways* next, Work& work);
  [[nodiscard]] bool MayRepeat(const Way& way) const;
  [[nodiscard]] bool MayRepeatInString(const Way& way, unsigned char byte) const;
  [[nodiscard]] bool InString(const Way& way) const;
  [[nodiscard]] Hash128 KeyOf(const Way& way) const;
  [[nodiscard]] std::string NumberAt(const Way& way) const;
  // What searches have found, by the keys of ways.
  [[nodiscard]] absl::flat_hash_map<Hash128, bool>& known_ends() { return known_ends_; }

  // What the row has written, roughly: bounded by Limits::row_bytes, so it is the same wherever the
  // row has moved.
  [[nodiscard]] std::int64_t held_bytes() const;
  // What that takes of the heap, room for more included.
  [[nodiscard]] std::int64_t heap_bytes() const;

 private:
  // Own states have the numbers from here on; no store has so many terms.
  static constexpr std::uint32_t kFirstOwn = 0x80000000;

  struct OwnState {
    std::optional<Hash128> key;  // nothing of NewStateOf()
    TermId shared;
    Ways ways;
  };
  // A mask that was asked for last.
  struct LastMask {
    Hash128 key;
    MaskRef mask;
  };

  [[nodiscard]] const OwnState& At(State state) const {
    assert(IsOwn(state) && IndexOf(state) < states_.size() && "a state of another row, or void");
    return states_[IndexOf(state)];
  }
  // Of own states, and of the own state at an index.
  [[nodiscard]] static std::size_t IndexOf(State state) { return state.value() - kFirstOwn; }
  [[nodiscard]] static State OwnAt(std::size_t index) {
    return State(kFirstOwn + static_cast<std::uint32_t>(index));
  }
  [[nodiscard]] Ways WaysOf(State state) const;
  // The state of ways that are within no array, if it is one of the automaton.
  [[nodiscard]] static std::optional<State> OutsideOfArrays(const Ways& ways);
  // A new own state; `key` for who may look for it again.
  State AddOwn(Ways ways, std::optional<Hash128> key);
  [[nodiscard]] Hash128 KeyOf(const Ways& ways) const;
  template <typename Is>
  [[nodiscard]] bool AnyArray(State state, Is is) const;
  // Makes one of ways that are within the same arrays.
  void Merge(Ways* ways) const;
  bool WithinLimits(Work& work) const;
  // Counts what this holds by now for LiveBytes().
  void Count(std::int64_t heap_bytes);

  Automaton* const automaton_;
  std::recursive_mutex mutex_;
  DistinctArrays arrays_;
  std::vector<OwnState> states_;
  LastMask last_mask_;
  std::int64_t counted_bytes_ = 0;
  // While there is a Scratch: how many, and states by their keys; some may be void.
  int scratches_ = 0;
  absl::flat_hash_map<Hash128, State> interned_;
  absl::flat_hash_map<Hash128, bool> known_ends_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_UNIQUE_ITEMS_ROW_MEMORY_H_
