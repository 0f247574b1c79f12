#include "grammar_core/frontend/json/json_tree.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <climits>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace maskd {
namespace {

// Where the pointers into the text with this root begin.
std::string PlaceOfRoot(const json_internal::Tree& tree, JsonId root) {
  if (root == 0) return "";
  const auto text = std::find_if(tree.texts.begin(), tree.texts.end(),
                                 [&](const auto& known) { return known.root == root; });
  assert(text != tree.texts.end());
  return absl::StrCat(text->name, "#");
}

// Few keys have what is escaped.
void AppendEscaped(absl::string_view key, std::string* pointer) {
  if (key.find_first_of("~/") == absl::string_view::npos)
    pointer->append(key.data(), key.size());
  else
    pointer->append(absl::StrReplaceAll(key, {{"~", "~0"}, {"/", "~1"}}));
}

}  // namespace

std::string json_internal::PointerOf(const Tree& tree, JsonId id, std::size_t max_bytes) {
  assert(id < tree.nodes.size());
  constexpr std::size_t kUsualDepth = 16;
  absl::InlinedVector<JsonId, kUsualDepth> path;
  for (; tree.nodes[id].parent != kNoNode; id = tree.nodes[id].parent) path.push_back(id);
  std::string pointer = PlaceOfRoot(tree, id);
  for (; !path.empty(); path.pop_back()) {
    const Node& node = tree.nodes[path.back()];
    const bool member = tree.nodes[node.parent].type == JsonType::kObject;
    const std::size_t before = pointer.size();
    pointer.push_back('/');
    if (member)
      AppendEscaped(node.key, &pointer);
    else
      absl::StrAppend(&pointer, node.index);
    if (pointer.size() <= max_bytes) continue;
    pointer.resize(before);
    break;
  }
  return pointer;
}

JsonId json_internal::FindMember(const Tree& tree, JsonId id, absl::string_view key) {
  const Node& object = tree.nodes[id];
  assert(object.type == JsonType::kObject && "only objects have members");
  if (object.size > kFewMembers) {
    const auto found = tree.by_key.find({id, key});
    return found == tree.by_key.end() ? kNoNode : found->second;
  }
  JsonId member = id + 1;
  for (std::uint32_t i = 0; i < object.size; ++i, member = tree.nodes[member].end)
    if (tree.nodes[member].key == key) return member;
  return kNoNode;
}

// Eight bytes at a time: the lowest byte of `odd` with its highest bit set is the first of the word
// that is not plain. Those above it may be plain.
std::size_t CountPlain(absl::string_view text) {
  static_assert(std::endian::native == std::endian::little, "the first byte must be the lowest");
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x80 * kOnes;
  const auto below = [](std::uint64_t word, std::uint64_t bound) {
    return (word - bound * kOnes) & ~word;
  };
  std::size_t at = 0;
  for (std::uint64_t word = 0; at + sizeof(word) <= text.size(); at += sizeof(word)) {
    std::memcpy(&word, text.data() + at, sizeof(word));
    const std::uint64_t odd =
        word | below(word, ' ') | below(word ^ ('"' * kOnes), 1) | below(word ^ ('\\' * kOnes), 1);
    if ((odd & kHigh) != 0)
      return at + static_cast<std::size_t>(std::countr_zero(odd & kHigh)) / CHAR_BIT;
  }
  const auto is_plain = [](char c) { return c >= ' ' && c != '"' && c != '\\'; };
  while (at < text.size() && is_plain(text[at])) ++at;
  return at;
}

}  // namespace maskd
