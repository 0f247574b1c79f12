#include "grammar_core/tokenizer/character_map.h"

#include "grammar_core/base/utf8.h"

namespace maskd {
namespace {

constexpr std::size_t kUnitBytes = 4;
constexpr unsigned kAsciiEnd = 0x80;

std::uint32_t WordAt(absl::string_view bytes) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < kUnitBytes; ++i)
    word |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return word;
}

// A unit says whether a string ends here, its byte (a leaf's has the highest bit set, and is no
// byte), where its children are.
bool EndsString(std::uint32_t unit) { return (unit >> 8 & 1) != 0; }
std::uint32_t Label(std::uint32_t unit) { return unit & (1U << 31 | 0xFFU); }
std::uint32_t Offset(std::uint32_t unit) { return (unit >> 10) << ((unit & 1U << 9) >> 6); }

}  // namespace

std::shared_ptr<const CharacterMap> CharacterMap::Create(absl::string_view precompiled) {
  if (precompiled.size() < kUnitBytes) return nullptr;
  const std::size_t trie_bytes = WordAt(precompiled);
  precompiled.remove_prefix(kUnitBytes);
  if (trie_bytes > precompiled.size() || trie_bytes == 0 || trie_bytes % kUnitBytes != 0)
    return nullptr;
  auto made = std::make_shared<CharacterMap>();
  made->units_.reserve(trie_bytes / kUnitBytes);
  for (std::size_t at = 0; at < trie_bytes; at += kUnitBytes)
    made->units_.push_back(WordAt(precompiled.substr(at)));
  return made;
}

std::optional<CharacterMap::Node> CharacterMap::Child(Node parent, unsigned char byte) const {
  const Node child = parent ^ Offset(units_[parent]) ^ byte;
  if (child >= units_.size() || Label(units_[child]) != byte) return std::nullopt;
  return child;
}

bool CharacterMap::MayReplace(absl::string_view text, bool ascii_follows) const {
  Node node = 0;
  for (const char c : text) {
    const std::optional<Node> child = Child(node, static_cast<unsigned char>(c));
    if (!child.has_value()) return false;
    if (EndsString(units_[*child])) return true;
    node = *child;
  }
  for (unsigned byte = 0; ascii_follows && byte < kAsciiEnd; ++byte)
    if (Child(node, static_cast<unsigned char>(byte)).has_value()) return true;
  return !ascii_follows;
}

std::size_t CharacterMap::UnchangedBytes(absl::string_view text, bool ascii_follows) const {
  std::size_t at = 0;
  while (at < text.size() && !MayReplace(text.substr(at), ascii_follows) &&
         DecodeUtf8(text, &at).has_value()) {
  }
  return at;
}

}  // namespace maskd
