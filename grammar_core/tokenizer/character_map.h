// What a SentencePiece model normalises before it cuts a text: strings and what each is replaced
// by, of which only the strings matter here.
//
// Layout   a double-array trie, as the library darts-clone writes it: each node is a word of 32
//          bits, its children are found by xor of an offset and their byte. It is walked with
//          bounds checked, so any words are safe.
// Source   NormalizerSpec.precompiled_charsmap: the size of the trie in bytes (a word, the least
//          significant byte first), the trie, the texts that replace.
// Threads  immutable.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_CHARACTER_MAP_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_CHARACTER_MAP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"

namespace maskd {

// Holds a copy of the trie alone, some hundred KiB; the replacing texts are not kept.
class CharacterMap {
 public:
  // Null where the sizes do not fit.
  static std::shared_ptr<const CharacterMap> Create(absl::string_view precompiled);

  // How much of `text`, which is UTF-8, stays as it is whatever follows; where `ascii_follows`,
  // whatever of ASCII.
  [[nodiscard]] std::size_t UnchangedBytes(absl::string_view text, bool ascii_follows) const;

 private:
  using Node = std::uint32_t;

  [[nodiscard]] std::optional<Node> Child(Node parent, unsigned char byte) const;
  // Whether what begins at the start of `text` is replaced, or may be with what follows.
  [[nodiscard]] bool MayReplace(absl::string_view text, bool ascii_follows) const;

  std::vector<std::uint32_t> units_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_CHARACTER_MAP_H_
