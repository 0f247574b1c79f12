// The parser's events build the tree, with a stack of the containers that are open. A subclass
// takes events for itself, or whole elements out of the tree as soon as they end: so large lists
// are never a tree.
//
// Invariant  only the innermost container grows, so pointers to those around it stay good.
// Cost       linear in the text; values that were taken out no longer count.
// Bounds     kVocabularyLimits.tokenizer_json_depth and tokenizer_json_values.
// Source     RFC 8259.
#include "grammar_core/tokenizer/formats/json_tree.h"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/tokenizer/source_file.h"

namespace maskd {
namespace {

constexpr int kNumberOverflow = 406;  // the parser's own number for it

// The parser's reason without the text it quotes, which may not be UTF-8.
std::string ParserReason(const nlohmann::detail::exception& error) {
  if (error.id == kNumberOverflow) return "a number is out of range";
  absl::string_view reason = error.what();
  const std::size_t dash = reason.find(" - ");
  reason.remove_prefix(dash == absl::string_view::npos ? reason.size() : dash + 3);
  reason = reason.substr(0, reason.find("; last read"));
  return reason.empty() ? "not JSON" : "not JSON: " + std::string(reason);
}

}  // namespace

absl::Status JsonTreeReader::Read(absl::string_view text) {
  text_ = text;
  nlohmann::json::sax_parse(text.begin(), text.end(), this);
  // To the parser a null byte between values is the end of the text.
  const std::size_t null_byte = text.find('\0');
  if (error_.ok() && null_byte != absl::string_view::npos)
    Fail(InvalidTokenizer(LineColumn(text, null_byte), "not JSON: a null byte"));
  return error_;
}

bool JsonTreeReader::key(string_t& name) {
  assert(!levels_.empty() && levels_.back().container->is_object());
  Level& level = levels_.back();
  level.key = std::move(name);
  return !level.container->contains(level.key) ||
         Fail(InvalidTokenizer(Here().str(), "appears twice"));
}

bool JsonTreeReader::parse_error(std::size_t position, const std::string& /*last_token*/,
                                 const nlohmann::detail::exception& error) {
  // The parser counts the bytes it has taken; the last of them is the wrong one.
  const std::size_t offset = position == 0 ? 0 : position - 1;
  return Fail(InvalidTokenizer(LineColumn(text_, offset), ParserReason(error)));
}

FieldPath JsonTreeReader::Here() const {
  FieldPath path;
  for (const Level& level : levels_) {
    // A list that is not the innermost holds its unfinished element already.
    const bool is_innermost = &level == &levels_.back();
    const auto index = static_cast<std::int64_t>(level.container->size()) - (is_innermost ? 0 : 1);
    path = level.container->is_array() ? path.Child(index) : path.Child(Shortened(level.key));
  }
  return path;
}

bool JsonTreeReader::Fail(absl::Status status) {
  error_.Update(std::move(status));
  return false;
}

bool JsonTreeReader::IsElementOf(absl::string_view name) const {
  constexpr std::size_t kRootListAndElement = 3;
  return levels_.size() == kRootListAndElement && levels_[0].key == name &&
         levels_[1].container->is_array();
}

JsonTreeReader::Json JsonTreeReader::TakeInnermost() {
  assert(!levels_.empty());
  Json taken = std::move(*levels_.back().container);
  *levels_.back().container = nullptr;
  value_count_ = levels_.back().values_before;
  levels_.pop_back();
  return taken;
}

JsonTreeReader::Json* JsonTreeReader::Add(Json value) {
  if (++value_count_ > kVocabularyLimits.tokenizer_json_values) {
    Fail(LimitExceeded(Here().str(), "tokenizer_json_values",
                       kVocabularyLimits.tokenizer_json_values, value_count_));
    return nullptr;
  }
  if (levels_.empty()) {
    tree_ = std::move(value);
    return &tree_;
  }
  Level& level = levels_.back();
  if (level.container->is_array()) {
    level.container->push_back(std::move(value));
    return &level.container->back();
  }
  Json& slot = (*level.container)[level.key];
  slot = std::move(value);
  return &slot;
}

bool JsonTreeReader::Open(Json empty) {
  const auto depth = static_cast<std::int64_t>(levels_.size()) + 1;
  if (depth > kVocabularyLimits.tokenizer_json_depth) {
    return Fail(LimitExceeded(Here().str(), "tokenizer_json_depth",
                              kVocabularyLimits.tokenizer_json_depth, depth));
  }
  const std::int64_t values_before = value_count_;
  Json* const container = Add(std::move(empty));
  if (container == nullptr) return false;
  levels_.push_back({container, "", values_before});
  return true;
}

bool JsonTreeReader::Close() {
  assert(!levels_.empty());
  levels_.pop_back();
  return true;
}

absl::StatusOr<nlohmann::json> ReadJsonFile(const std::string& path) {
  absl::StatusOr<SourceFile> file = SourceFile::Open(path);
  if (!file.ok()) return file.status();
  const absl::StatusOr<std::string> content =
      file->ReadWhole("vocabulary_beside_bytes", kVocabularyLimits.vocabulary_beside_bytes);
  if (!content.ok()) return content.status();
  JsonTreeReader reader;
  if (absl::Status read = reader.Read(*content); !read.ok()) return InFile(path, read);
  return std::move(reader.tree());
}

absl::string_view WithoutJsonLead(absl::string_view text) {
  absl::ConsumePrefix(&text, "\xEF\xBB\xBF");
  return absl::StripLeadingAsciiWhitespace(text);
}

const nlohmann::json* FindField(const nlohmann::json& value, absl::string_view name) {
  if (!value.is_object()) return nullptr;
  const auto field = value.find(std::string(name));
  return field == value.end() || field->is_null() ? nullptr : &*field;
}

std::string TextField(const nlohmann::json& value, absl::string_view name) {
  const nlohmann::json* field = FindField(value, name);
  return field != nullptr && field->is_string() ? field->get<std::string>() : "";
}

bool IsFieldTrue(const nlohmann::json& value, absl::string_view name) {
  const nlohmann::json* field = FindField(value, name);
  return field != nullptr && field->is_boolean() && field->get<bool>();
}

std::int64_t WholeNumber(const nlohmann::json& value) {
  constexpr std::uint64_t kMax = std::uint64_t{1} << 62;
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMax) return -1;
  return value.get<std::int64_t>();
}

}  // namespace maskd
