// A JSON text (RFC 8259) read into a flat tree: for schemas, choice lists and other JSON sources.
//
// Layout   nodes lie in the order of the text, each followed by its whole subtree, so walks are
//          loops. Keys keep their order. Numbers keep their spelling, of any size. Strings are
//          UTF-8.
// Errors   INVALID_ARGUMENT: a syntax error, invalid UTF-8 or a lone surrogate at line:column (byte
//          column, from 1), a duplicate key at its JSON Pointer. RESOURCE_EXHAUSTED: source_depth.
// Ownership a JsonValue is a view: it lives as long as its document, which may be moved.
// Threads  immutable once read; only Add() changes it.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_JSON_DOCUMENT_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_JSON_DOCUMENT_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "grammar_core/base/limits.h"
#include "grammar_core/base/shared_text.h"
#include "grammar_core/frontend/json/json_tree.h"

namespace maskd {

// Three words, passed by value; it may be asked for its type before anything else.
class JsonValue {
 public:
  // Constant time, all of them.
  [[nodiscard]] JsonType type() const { return node().type; }
  [[nodiscard]] bool is_object() const { return type() == JsonType::kObject; }
  [[nodiscard]] bool is_array() const { return type() == JsonType::kArray; }
  [[nodiscard]] bool is_string() const { return type() == JsonType::kString; }
  [[nodiscard]] bool is_number() const { return type() == JsonType::kNumber; }
  [[nodiscard]] bool is_bool() const {
    return type() == JsonType::kTrue || type() == JsonType::kFalse;
  }

  // A string's characters (UTF-8) or a number's spelling; empty for other types.
  [[nodiscard]] absl::string_view text() const {
    return is_string() || is_number() ? node().text : absl::string_view();
  }
  // An array or object as it stands in the source; empty for other types.
  [[nodiscard]] absl::string_view source() const {
    return is_object() || is_array() ? node().text : absl::string_view();
  }
  // An object that ParseAround() left unread: it is none by its type, and has no members.
  [[nodiscard]] bool is_unread() const { return type() == JsonType::kUnread; }
  // What stands for it; of no other value.
  [[nodiscard]] const SharedText& known() const;
  // The key under which the value stands in its object, or empty.
  [[nodiscard]] absl::string_view key() const { return node().key; }
  // Children of an array or object, 0 for other types.
  [[nodiscard]] std::uint32_t size() const { return node().size; }

  // Position among its siblings, from 0.
  [[nodiscard]] std::uint32_t index() const { return node().index; }

  // The node's number: distinct in its document, ascending in the order of the text.
  [[nodiscard]] JsonId id() const { return id_; }
  [[nodiscard]] JsonValue at(JsonId id) const { return JsonValue(tree_, id); }
  [[nodiscard]] std::optional<JsonValue> parent() const;

  // The member of an object named `key`; nothing for other types. Constant time.
  [[nodiscard]] std::optional<JsonValue> Find(absl::string_view key) const;
  // The text of that member; empty where it is missing or no text.
  [[nodiscard]] absl::string_view FindText(absl::string_view key) const;
  // The element of an array or the member of an object at `index`; linear in `index`.
  [[nodiscard]] std::optional<JsonValue> Nth(std::uint32_t index) const;

  // The JSON Pointer of the value in its document.
  [[nodiscard]] std::string Pointer() const;
  // The same in at most so many bytes, or the pointer of the innermost value around it that fits.
  [[nodiscard]] std::string PointerWithin(std::size_t max_bytes) const;
  // Appends the value as text: no white space, keys in their order, numbers as spelled. Nothing in
  // it may be unread.
  void AppendCompact(std::string* out) const;
  [[nodiscard]] std::string Compact() const;

  // Children in their order: for (JsonValue child : value.children()).
  class Children;
  [[nodiscard]] Children children() const;

  // One past the last node of the subtree.
  [[nodiscard]] JsonId subtree_end() const { return node().end; }

 private:
  friend class JsonDocument;
  JsonValue(const json_internal::Tree* tree, JsonId id) : tree_(tree), id_(id) {}
  [[nodiscard]] const json_internal::Node& node() const {
    assert(id_ < tree_->nodes.size());
    return tree_->nodes[id_];
  }

  const json_internal::Tree* tree_;
  JsonId id_;
};

// For range loops alone; constant time a step.
class JsonValue::Children {
 public:
  // Steps over a child's whole subtree.
  class Iterator {
   public:
    // What a range loop needs, no more: forwards, by value.
    explicit Iterator(JsonValue value) : value_(value) {}
    JsonValue operator*() const { return value_; }
    Iterator& operator++() {
      value_.id_ = value_.node().end;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return value_.id_ != other.value_.id_; }

   private:
    JsonValue value_;
  };

  // Any other value than an array or object has no children.
  explicit Children(JsonValue parent) : parent_(parent) {}
  [[nodiscard]] Iterator begin() const { return Iterator(parent_.at(parent_.id() + 1)); }
  [[nodiscard]] Iterator end() const { return Iterator(parent_.at(parent_.subtree_end())); }

 private:
  JsonValue parent_;
};

// Here, as Children is complete only now.
inline JsonValue::Children JsonValue::children() const { return Children(*this); }

// Owns its texts and nodes. Moving it leaves values good; they point to the tree.
class JsonDocument {
 public:
  // Reads all of `text`, which is copied.
  static absl::StatusOr<JsonDocument> Parse(absl::string_view text, const Limits& limits);
  // The same errors; but known objects are unread, unless the limits forbid what is in them.
  static absl::StatusOr<JsonDocument> ParseAround(const KnownObjects& known, absl::string_view text,
                                                  const Limits& limits);
  // Whether any object is unread.
  [[nodiscard]] bool has_unread() const { return !tree_->known.empty(); }

  // The root of the text that was parsed.
  [[nodiscard]] JsonValue root() const { return JsonValue(tree_.get(), 0); }

  // Reads another text, named `name`, into the same document; its root. Pointers into it begin with
  // "NAME#", places of its syntax errors with "NAME:".
  absl::StatusOr<JsonValue> Add(absl::string_view text, absl::string_view name,
                                const Limits& limits);

 private:
  static absl::StatusOr<JsonDocument> Read(const KnownObjects* known, absl::string_view text,
                                           const Limits& limits);
  explicit JsonDocument(std::unique_ptr<json_internal::Tree> tree) : tree_(std::move(tree)) {}

  // On the heap, so that views stay good when the document moves.
  std::unique_ptr<json_internal::Tree> tree_;
};

// Appends `utf8` as a JSON string, quotes included, escaping only what must be.
void AppendJsonString(absl::string_view utf8, std::string* out);
// The same by itself.
std::string JsonString(absl::string_view utf8);

// A JSON array of `items`, each of which is JSON, and one of texts.
std::string JsonList(absl::Span<const std::string> items, absl::string_view comma = ",");
std::string JsonTextList(absl::Span<const std::string> texts, absl::string_view comma = ",");

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_JSON_DOCUMENT_H_
