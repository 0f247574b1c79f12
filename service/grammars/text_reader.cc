// Two tables of ids, a young and an old one: the young one that is full takes the old one's place,
// and what is asked for there becomes young again. So the texts used last are known, without a list
// of their order.
//
// Who wakes whom  a thread that has read a text wakes all who wait for it.
// May block       Get(), until its text was read.
// Invariant       who waits holds what the thread reads: nobody leaves before it is done.
#include "service/grammars/text_reader.h"

#include <limits>

#include "cache/single_flight.h"
#include "cpu/thread_priority.h"
#include "grammar_core/base/memory_reserve.h"

namespace maskd::service {

// Whoever brings a text waits for it, so no more wait than there are threads of calls.
TextReader::TextReader(int thread_count) {
  if (thread_count == 0) return;
  threads_.emplace(thread_count, std::numeric_limits<std::size_t>::max(),
                   cache::WorkPool::WaitingChanged(), kLongWorkNiceness);
}

absl::StatusOr<TextReader::Text> TextReader::Get(const std::string& hash, const Read& read,
                                                 const cache::WorkPool::Turn& turn) {
  std::shared_ptr<Reading> reading;
  bool is_first = true;
  const bool is_here = turn.is_short || !threads_.has_value();
  {
    const MutexLock lock(&mutex_);
    if (std::string id = Find(hash); !id.empty()) {
      Keep(hash, id);
      return Text{std::move(id), std::nullopt};
    }
    if (!is_here) {
      std::shared_ptr<Reading>& at = reading_[hash];
      is_first = at == nullptr;
      if (is_first) at = std::make_shared<Reading>();
      reading = at;
    }
  }
  if (is_here) {
    absl::StatusOr<Text> text = read();
    const MutexLock lock(&mutex_);
    if (text.ok()) Keep(hash, text->id);
    return text;
  }
  if (is_first) {
    const absl::Status begun = OrOutOfMemory([&] {
      threads_->Submit([this, hash, reading, &read] { Land(hash, reading, OrOutOfMemory(read)); },
                       turn);
      return absl::OkStatus();
    });
    if (!begun.ok()) Land(hash, reading, begun);
  }
  return Await(reading.get(), is_first);
}

absl::StatusOr<TextReader::Text> TextReader::Await(Reading* reading, bool is_first) {
  const MutexLock lock(&mutex_);
  while (!reading->done) reading->landed.Wait(&mutex_);
  if (!reading->text.ok()) return cache::OwnCopy(reading->text.status());
  Text text{reading->text->id, std::nullopt};
  if (is_first) text.parsed.swap(reading->text->parsed);
  return text;
}

void TextReader::Land(const std::string& hash, const std::shared_ptr<Reading>& reading,
                      absl::StatusOr<Text> text) {
  const MutexLock lock(&mutex_);
  if (text.ok()) Keep(hash, text->id);
  reading->text = std::move(text);
  reading->done = true;
  reading_.erase(hash);
  reading->landed.NotifyAll();
}

bool TextReader::Knows(const std::string& hash) const {
  const MutexLock lock(&mutex_);
  return !Find(hash).empty() || reading_.contains(hash);
}

std::size_t TextReader::reading() const {
  const MutexLock lock(&mutex_);
  return reading_.size();
}

std::string TextReader::Find(const std::string& hash) const {
  for (const Ids* ids : {&young_, &old_})
    if (const auto found = ids->find(hash); found != ids->end()) return found->second;
  return "";
}

void TextReader::Keep(const std::string& hash, const std::string& id) {
  if (!young_.emplace(hash, id).second || young_.size() <= kMaxKnown) return;
  old_ = std::move(young_);
  young_ = Ids();
}

}  // namespace maskd::service
