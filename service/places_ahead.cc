#include "service/places_ahead.h"

#include <cstddef>

#include "grammar_core/automaton/automaton.h"

namespace maskd::service {
namespace {

// Places that a stream remembers to have looked behind.
constexpr std::size_t kMaxPlaces = 16'384;

}  // namespace

void PlacesAhead::BeginStep() {
  if (step_over_ != nullptr) {
    *step_over_ = true;
  }
  places_.clear();
}

// A grammar may have the address of one that is gone, and then a place of it is left out: no more
// than a mask made later.
void PlacesAhead::Note(const cache::GrammarPtr& grammar, const SequencePosition& position) {
  if (!queue_->looks_ahead() || position.state != SequencePosition::State::kMasked ||
      position.text_tokens < 0 || grammar->automaton().remembers()) {
    return;
  }
  if (looked_ahead_.size() >= kMaxPlaces) {
    looked_ahead_.clear();
  }
  if (looked_ahead_.insert({grammar.get(), position.place}).second) {
    places_.push_back({grammar, position.place});
  }
}

void PlacesAhead::LookAhead() {
  if (places_.empty()) {
    return;
  }
  step_over_ = std::make_shared<std::atomic<bool>>(false);
  queue_->LookAhead(std::exchange(places_, {}), step_over_);
}

}  // namespace maskd::service
