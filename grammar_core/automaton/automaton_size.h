// How much an automaton holds, and how much it may: for the line of automatons that a grammar has
// (generations.h), and for who reports it.
//
// Threads  any number at once.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_AUTOMATON_SIZE_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_AUTOMATON_SIZE_H_

#include <cstdint>
#include <vector>

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/base/held_bytes.h"

namespace maskd {

// A view of one automaton, made where it is asked: it holds a reference alone.
class AutomatonSize {
 public:
  // `automaton` must outlive this.
  explicit AutomatonSize(Automaton& automaton) : automaton_(automaton) {}

  // Says that it is full.
  void Retire() const { automaton_.Retire(); }
  // Sets what it may hold.
  void set_full_bytes(std::int64_t full_bytes) const;

  // Terms made so far, of characters too. No lock.
  [[nodiscard]] std::int64_t terms() const { return automaton_.store_.size(); }
  // How much of what it may hold is left: 1 for all, 0 for nothing.
  [[nodiscard]] double room() const;
  // As of the last mask that was made, or up to a few states later: terms, transitions and tables;
  // and the masks that it keeps alive, of which others may be owners too. No lock.
  [[nodiscard]] std::int64_t held_bytes() const {
    return automaton_.held_bytes_.load(std::memory_order_relaxed);
  }
  // The same by kind, as of now: they add up to it.
  [[nodiscard]] std::vector<HeldPart> parts() const;
  // Of masks that this automaton keeps alive, those shared with others included.
  [[nodiscard]] std::int64_t mask_bytes() const {
    return automaton_.mask_bytes_.load(std::memory_order_relaxed);
  }

 private:
  Automaton& automaton_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_AUTOMATON_AUTOMATON_SIZE_H_
