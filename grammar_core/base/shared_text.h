// A constant text with its hash, shared by all who have it: a long one is copied, hashed and
// compared once.
#ifndef MASKD_GRAMMAR_CORE_BASE_SHARED_TEXT_H_
#define MASKD_GRAMMAR_CORE_BASE_SHARED_TEXT_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"

namespace maskd {

// A view of a text, and its hash.
struct HashedText {
  absl::string_view text;
  std::size_t hash;

  explicit HashedText(absl::string_view its_text)
      : text(its_text), hash(absl::Hash<absl::string_view>()(its_text)) {}
  HashedText(absl::string_view its_text, std::size_t its_hash) : text(its_text), hash(its_hash) {}

  // The texts are looked at only where the hashes do not tell, and it is not the same one.
  bool operator==(const HashedText& other) const {
    return hash == other.hash && text.size() == other.text.size() &&
           (text.data() == other.text.data() || text == other.text);
  }
  template <typename H>
  friend H AbslHashValue(H state, const HashedText& text) {
    return H::combine(std::move(state), text.hash);
  }
};

// Never null but by default; a copy is the same text.
class SharedText {
 public:
  SharedText() = default;
  explicit SharedText(std::string text) {
    const std::size_t hash = HashedText(text).hash;
    held_ = std::make_shared<const Held>(Held{std::move(text), hash});
  }
  // For who knows the hash of `text`.
  SharedText(std::string text, std::size_t hash)
      : held_(std::make_shared<const Held>(Held{std::move(text), hash})) {}

  [[nodiscard]] bool is_null() const { return held_ == nullptr; }
  // Good for as long as any copy of this.
  [[nodiscard]] const std::string& text() const { return held_->text; }
  [[nodiscard]] HashedText hashed() const { return {held_->text, held_->hash}; }

 private:
  struct Held {
    std::string text;
    std::size_t hash;
  };
  std::shared_ptr<const Held> held_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_SHARED_TEXT_H_
