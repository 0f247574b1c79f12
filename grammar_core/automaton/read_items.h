// The array items that are being read and must differ from those before them: each a progress of
// its array and the characters of it so far, kept or forgotten (see ObjectProgress).
//
// Layout   texts share their beginnings: one more character is one more node.
// Threads  the automaton's lock.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_READ_ITEMS_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_READ_ITEMS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace maskd {

class ReadItems {
 public:
  using Id = std::uint32_t;

  // Behind the opening quote.
  Id Begin(std::uint32_t progress) { return Intern({progress, kNoText}); }
  // One character further.
  Id Append(Id item, std::uint32_t character);
  // The same item, whatever its characters are.
  Id Forget(Id item) { return Intern({items_[item].progress, kForgotten}); }

  [[nodiscard]] std::uint32_t progress(Id item) const { return items_[item].progress; }
  // The characters so far; nothing where they are forgotten.
  [[nodiscard]] std::optional<std::u32string> Text(Id item) const;

  // Roughly.
  [[nodiscard]] std::int64_t held_bytes() const;

 private:
  // A text: that of `before` and one character more. Numbered from 1.
  struct Node {
    std::uint32_t before;
    std::uint32_t character;
  };
  static constexpr std::uint32_t kNoText = 0;
  static constexpr std::uint32_t kForgotten = 0xFFFFFFFF;

  struct Item {
    std::uint32_t progress;
    std::uint32_t text;
  };
  Id Intern(const Item& item);

  std::vector<Item> items_;
  std::vector<Node> nodes_;
  absl::flat_hash_map<std::pair<std::uint32_t, std::uint32_t>, Id> item_ids_;
  absl::flat_hash_map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> node_ids_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_AUTOMATON_READ_ITEMS_H_
