// The nodes of a JsonDocument, as its reader writes them and JsonValue looks at them.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_JSON_TREE_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_JSON_TREE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/shared_text.h"

namespace maskd {

// true and false are types of their own, as they are in schemas. kUnread is an object that was left
// unread, as it was known: so nobody takes it for one whose members can be looked at.
enum class JsonType : std::uint8_t {
  kNull,
  kFalse,
  kTrue,
  kNumber,
  kString,
  kArray,
  kObject,
  kUnread
};

using JsonId = std::uint32_t;

// Objects of a text that were read before, so that they may be left unread.
struct KnownObjects {
  // Where they stand: the keys from the root on; an empty one is any element of a list.
  const std::vector<std::vector<absl::string_view>>& paths;
  // What stands for such an object, given as it is in the text; null for one that must be read. It
  // may know only texts that were read as JSON objects, and no error found.
  absl::FunctionRef<SharedText(absl::string_view object)> find;
};

namespace json_internal {

inline constexpr JsonId kNoNode = 0xFFFFFFFF;

// In the order of the text: a subtree is the nodes from it up to `end`.
struct Node {
  JsonType type;
  // One past the last node of the subtree.
  JsonId end = 0;
  JsonId parent = kNoNode;
  // Position among its siblings.
  std::uint32_t index = 0;
  // Children of an array or object.
  std::uint32_t size = 0;
  // The key, where the parent is an object.
  absl::string_view key = {};
  // A string's characters or a number's spelling; of an array or object, read or not, all of it, as
  // it stands in the source.
  absl::string_view text = {};
};

// Deques, so that the nodes' views stay good as texts are added.
struct Tree {
  // A text that was read, with the name of its document and its root.
  struct Text {
    std::string source;
    std::string name;
    JsonId root;
  };
  std::deque<Text> texts;
  std::deque<std::string> unescaped;
  std::vector<Node> nodes;
  // The members of objects that have many: those of others are looked through.
  absl::flat_hash_map<std::pair<JsonId, absl::string_view>, JsonId> by_key;
  // What stands for objects that are unread, in the order of their nodes.
  std::vector<std::pair<JsonId, SharedText>> known;
};

// Members of an object that is looked through, at most.
inline constexpr std::uint32_t kFewMembers = 8;

// The member named `key` of the object `id`, which may still be read, or kNoNode.
JsonId FindMember(const Tree& tree, JsonId id, absl::string_view key);

// The JSON Pointer of node `id`, or of the innermost node around it whose pointer fits.
std::string PointerOf(const Tree& tree, JsonId id, std::size_t max_bytes);

}  // namespace json_internal

// How many bytes `text` begins with that a JSON string spells as they are: ASCII, but no control
// character, quote or backslash.
std::size_t CountPlain(absl::string_view text);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_JSON_TREE_H_
