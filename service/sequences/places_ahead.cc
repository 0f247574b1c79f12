// What a stream's rows wait for next is known when a step has been answered: the masks behind the
// places they stand at. They are given to the queue, and taken away again when the next step
// begins.
//
// Invariant  places_ has each place of this step once; looks_ counts how often one was given away
//            without being finished, and kMaxLooks stands for finished.
// Cost       a look-up a row; nothing where no look ahead is wanted.
#include "service/sequences/places_ahead.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

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
  if (looking_ == nullptr) return;
  // The queue's thread may still be at the next place: it looks at `over` before each one.
  looking_->over = true;
  const auto finished = static_cast<std::size_t>(looking_->finished);
  for (std::size_t i = 0; i < std::min(finished, looking_->places.size()); ++i)
    looks_[looking_->places[i].key()].count = kMaxLooks;
  looking_.reset();
}

void PlacesAhead::Note(const Matcher& matcher, const SequencePosition& position) {
  if (!queue_->looks_ahead() || position.state != SequencePosition::State::kMasked ||
      position.text_tokens < 0) {
    return;
  }
  const std::optional<PrefetchPlace::Key> key = matcher.PrefetchKey(position.place);
  if (!key.has_value()) return;
  // All at once: most are of rows that have gone.
  if (looks_.size() >= kMaxPlaces) looks_.clear();
  Looks& looks = looks_[*key];
  if (looks.count < kMaxLooks && std::exchange(looks.step, step_) != step_) {
    ++looks.count;
    places_.push_back(matcher.PrefetchAt(position.place));
  }
}

void PlacesAhead::LookAhead() {
  if (places_.empty()) return;
  looking_ = std::make_shared<PlacesToLookAhead>();
  looking_->places = std::exchange(places_, {});
  queue_->LookAhead(looking_);
}

}  // namespace maskd::service
