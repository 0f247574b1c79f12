#include "service/places_ahead.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "grammar_core/rows/masked_automaton.h"

namespace maskd::service {
namespace {

// Places that a stream remembers to have looked behind.
constexpr std::size_t kMaxPlaces = 16'384;
// Times that a place is looked behind in vain: an engine whose steps come so fast computes nothing.
constexpr int kMaxLooks = 4;

}  // namespace

void PlacesAhead::BeginStep() {
  places_.clear();
  ++step_;
  if (looking_ == nullptr) {
    return;
  }
  looking_->over = true;
  const auto finished = static_cast<std::size_t>(looking_->finished);
  for (std::size_t i = 0; i < std::min(finished, looking_->places.size()); ++i) {
    const RowPlace& place = looking_->places[i];
    looks_[{place.automaton_serial, place.state}].count = kMaxLooks;
  }
  looking_.reset();
}

void PlacesAhead::Note(const cache::GrammarPtr& grammar,
                       const std::shared_ptr<MaskedAutomaton>& automaton,
                       const SequencePosition& position) {
  if (!queue_->looks_ahead() || position.state != SequencePosition::State::kMasked ||
      position.text_tokens < 0 || RowStates::IsOwn(position.place)) {
    return;  // of what a row has written only it knows
  }
  if (looks_.size() >= kMaxPlaces) {
    looks_.clear();
  }
  Looks& looks = looks_[{automaton->serial(), position.place}];
  if (looks.count < kMaxLooks && std::exchange(looks.step, step_) != step_) {
    ++looks.count;
    places_.push_back({grammar, automaton, automaton->serial(), position.place});
  }
}

void PlacesAhead::LookAhead() {
  if (places_.empty()) {
    return;
  }
  looking_ = std::make_shared<PlacesToLookAhead>();
  looking_->places = std::exchange(places_, {});
  queue_->LookAhead(looking_);
}

}  // namespace maskd::service
