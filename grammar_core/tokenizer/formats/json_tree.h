// JSON files of tokenizers as a tree, read without trust.
//
// Errors   INVALID_ARGUMENT at line:column for what is not JSON (RFC 8259, UTF-8), at the JSON
//          Pointer for a key that appears twice; RESOURCE_EXHAUSTED at the pointer past
//          kVocabularyLimits.tokenizer_json_depth levels or tokenizer_json_values values. No
//          exception, and no recursion over the text.
// Threads  one thread reads one text; trees are plain values.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_JSON_TREE_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_JSON_TREE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

#include "grammar_core/base/error.h"

namespace maskd {

// Builds the tree from the parser's events. A subclass takes the events it wants for itself.
class JsonTreeReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  using Json = nlohmann::json;

  // Reads all of `text`. To be called once.
  absl::Status Read(absl::string_view text);
  [[nodiscard]] Json& tree() { return tree_; }

  // The parser's events, for values: each adds one to the tree and is false, which ends the parse,
  // past a limit.
  bool null() override { return Add(nullptr) != nullptr; }
  bool boolean(bool value) override { return Add(value) != nullptr; }
  bool number_integer(number_integer_t value) override { return Add(value) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override { return Add(value) != nullptr; }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return Add(value) != nullptr;
  }
  bool string(string_t& value) override { return Add(std::move(value)) != nullptr; }
  bool binary(binary_t& /*value*/) override { return false; }  // not in JSON text
  bool start_object(std::size_t /*elements*/) override { return Open(Json::object()); }
  bool key(string_t& name) override;
  bool end_object() override { return Close(); }
  bool start_array(std::size_t /*elements*/) override { return Open(Json::array()); }
  bool end_array() override { return Close(); }
  bool parse_error(std::size_t position, const std::string& last_token,
                   const nlohmann::detail::exception& error) override;

 protected:
  // Where the next value will be.
  [[nodiscard]] FieldPath Here() const;
  // Ends the reading. False, for the parser.
  bool Fail(absl::Status status);
  // Whether the innermost open container is an element of the root's list `name`.
  [[nodiscard]] bool IsElementOf(absl::string_view name) const;
  // Closes the innermost open container and takes it out of the tree: a null stands in its place,
  // and neither it nor what is inside it counts any more.
  Json TakeInnermost();

 private:
  struct Level {
    Json* container;
    std::string key;
    std::int64_t values_before;  // counted before the container
  };

  Json* Add(Json value);
  bool Open(Json empty);
  bool Close();

  absl::string_view text_;
  Json tree_;
  std::vector<Level> levels_;
  std::int64_t value_count_ = 0;
  absl::Status error_;
};

// The tree of a file of at most kVocabularyLimits.vocabulary_beside_bytes. Errors start with the
// path.
absl::StatusOr<nlohmann::json> ReadJsonFile(const std::string& path);

// The text without a byte-order mark and white space in front.
absl::string_view WithoutJsonLead(absl::string_view text);

// The field `name` of an object; null where there is none, where it is null, or where `value` is no
// object.
const nlohmann::json* FindField(const nlohmann::json& value, absl::string_view name);

// The field's text; empty where it is not a string.
std::string TextField(const nlohmann::json& value, absl::string_view name);

// True where the field is `true`.
bool IsFieldTrue(const nlohmann::json& value, absl::string_view name);

// A whole number as an id; -1 where it is none, is negative, or is past 2^62.
std::int64_t WholeNumber(const nlohmann::json& value);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_JSON_TREE_H_
