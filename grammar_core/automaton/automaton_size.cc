#include "grammar_core/automaton/automaton_size.h"

#include "grammar_core/base/mutex.h"

namespace maskd {

void AutomatonSize::set_full_bytes(std::int64_t full_bytes) const {
  const MutexLock lock(&automaton_.mutex_);
  automaton_.full_bytes_ = full_bytes;
  automaton_.NoteGrowth(automaton_.derivative_.held_bytes());
}

std::vector<HeldPart> AutomatonSize::parts() const {
  const MutexLock lock(&automaton_.mutex_);
  std::vector<HeldPart> parts = automaton_.derivative_.parts();
  parts.push_back({"the automaton itself", automaton_.own_bytes()});
  parts.push_back({"what keeps masks", automaton_.mask_keeper_bytes_});
  return parts;
}

double AutomatonSize::room() const {
  const MutexLock lock(&automaton_.mutex_);
  return automaton_.derivative_.room();
}

}  // namespace maskd
