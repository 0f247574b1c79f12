// One loop over the bytes and a stack of open brackets. A value is a node in the order of the text;
// when a bracket closes its node gets the index behind its last child. Strings without escapes are
// views of the source; the tree makes and keeps the others.
//
// Invariant  a parent stands before its children; the open brackets are the ancestors of what is
//            read.
// Cost       linear; keys that occur twice are looked for among the members before, or in a hash
//            table where those are many.
// Bounds     max_depth brackets; fewer than kNoNode bytes.
// Source     RFC 8259, and of its leave to refuse: no key twice, no lone surrogates.
#include "grammar_core/frontend/json/json_reader.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/frontend/json/bracket_end.h"

namespace maskd::json_internal {
namespace {

struct Word {
  absl::string_view text;
  JsonType type;
};

constexpr std::array kWords = {
    Word{"null", JsonType::kNull},
    Word{"false", JsonType::kFalse},
    Word{"true", JsonType::kTrue},
};

constexpr bool IsHighSurrogate(std::uint32_t c) { return c >= 0xD800 && c < 0xDC00; }
constexpr bool IsLowSurrogate(std::uint32_t c) { return c >= 0xDC00 && c < 0xE000; }

}  // namespace

absl::Status Reader::SyntaxError(std::size_t at, absl::string_view message) const {
  const absl::string_view before = text_.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return InvalidAt(absl::StrCat(line, ":", at - line_start + 1), message);
}

bool Reader::Fail(absl::Status error) {
  error_ = std::move(error);
  return false;
}

absl::Status Reader::Read() {
  if (text_.size() >= kNoNode) return LimitExceeded("", "source_bytes", kNoNode, text_.size());
  // Schemas have a value in 8 to 12 bytes: none of the nodes is moved as they become more.
  constexpr std::size_t kBytesOfANode = 8;
  if (tree_->nodes.empty() && known_ == nullptr) tree_->nodes.reserve(text_.size() / kBytesOfANode);
  SkipSpace();
  if (at_ == text_.size()) return SyntaxError(at_, "the text is empty, a JSON value is expected");
  if (!ReadDocument()) return error_;
  SkipSpace();
  return at_ == text_.size() ? absl::OkStatus()
                             : SyntaxError(at_, "nothing may follow the JSON value");
}

bool Reader::ReadDocument() {
  assert(open_.empty());
  do {
    SkipSpace();
    if (!ReadValue()) return false;
    if (!ToNextValue()) return false;
  } while (!open_.empty());
  return true;
}

JsonId Reader::AddNode(JsonType type) {
  const auto id = static_cast<JsonId>(tree_->nodes.size());
  assert(open_.empty() || open_.back() < id);
  const JsonId parent = open_.empty() ? kNoNode : open_.back();
  const std::uint32_t index = parent == kNoNode ? 0 : tree_->nodes[parent].size++;
  tree_->nodes.push_back(
      {.type = type, .end = id + 1, .parent = parent, .index = index, .key = key_});
  return id;
}

bool Reader::ReadValue() {
  if (at_ == text_.size()) return Fail(SyntaxError(at_, "the text ends where a value is expected"));
  const char c = text_[at_];
  if (c == '{')
    return (known_ != nullptr && IsAtKnownPath() && SkipKnown()) || Open(JsonType::kObject);
  if (c == '[') return Open(JsonType::kArray);
  if (c == '-' || absl::ascii_isdigit(c)) return ReadNumber();
  if (c != '"') return ReadWord();
  const JsonId id = AddNode(JsonType::kString);
  return ReadString(&tree_->nodes[id].text);
}

bool Reader::IsAtKnownPath() const {
  return absl::c_any_of(known_->paths, [&](const std::vector<absl::string_view>& path) {
    if (path.size() != open_.size() || path.back() != key_) return false;
    for (std::size_t i = 1; i < open_.size(); ++i) {
      const Node& node = tree_->nodes[open_[i]];
      const bool is_member = tree_->nodes[node.parent].type == JsonType::kObject;
      if (is_member != !path[i - 1].empty() || node.key != path[i - 1]) return false;
    }
    return tree_->nodes[open_.back()].type == JsonType::kObject;
  });
}

bool Reader::SkipKnown() {
  const auto found = FindBracketEnd(text_.substr(at_));
  const auto depth = static_cast<std::int64_t>(open_.size());
  if (!found.has_value() || depth + found->depth > max_depth_) return false;
  const absl::string_view object = text_.substr(at_, found->bytes);
  SharedText known = known_->find(object);
  if (known.is_null()) return false;
  const JsonId id = AddNode(JsonType::kUnread);
  tree_->nodes[id].text = object;
  tree_->known.emplace_back(id, std::move(known));
  at_ += object.size();
  return true;
}

bool Reader::Open(JsonType type) {
  const auto depth = static_cast<std::int64_t>(open_.size()) + 1;
  if (depth > max_depth_)
    return Fail(LimitExceeded(ErrorPlace(SyntaxError(at_, "")), "source_depth", max_depth_, depth));
  const JsonId id = AddNode(type);
  tree_->nodes[id].text = text_.substr(at_);
  open_.push_back(id);
  ++at_;
  return true;
}

// Stands after a scalar or an opening bracket: closes what ends here, then moves to the next value.
bool Reader::ToNextValue() {
  SkipSpace();
  for (; !open_.empty(); open_.pop_back()) {
    Node& open = tree_->nodes[open_.back()];
    if (!Has(open.type == JsonType::kObject ? '}' : ']')) return ToNextElement(open);
    open.end = static_cast<JsonId>(tree_->nodes.size());
    ++at_;
    open.text.remove_suffix(text_.size() - at_);
    SkipSpace();
  }
  return true;
}

bool Reader::ToNextElement(const Node& open) {
  assert(open.type == JsonType::kObject || open.type == JsonType::kArray);
  const bool object = open.type == JsonType::kObject;
  if (open.size > 0) {
    if (!Expect(',', object ? "',' or '}' is expected" : "',' or ']' is expected")) return false;
    SkipSpace();
  }
  key_ = absl::string_view();
  return !object || ReadKey(&key_);
}

bool Reader::ReadKey(absl::string_view* out) {
  if (!Has('"')) return Fail(SyntaxError(at_, "a key in double quotes is expected"));
  if (!ReadString(out)) return false;
  SkipSpace();
  if (!Expect(':', "':' is expected")) return false;
  assert(!open_.empty());
  const JsonId object = open_.back();
  // No longer than twice the text, as a key's escapes are.
  constexpr std::size_t kAnyBytes = std::numeric_limits<std::size_t>::max() / 2;
  const std::uint32_t members = tree_->nodes[object].size;
  if (members == 0) return true;
  if (const JsonId first = FindMember(*tree_, object, *out); first != kNoNode)
    return Fail(InvalidAt(PointerOf(*tree_, first, kAnyBytes), "the key occurs twice"));
  if (members >= kFewMembers) NoteMember(object, *out);
  return true;
}

// The member is about to be read. What an object has before it has many is noted with the first of
// those.
void Reader::NoteMember(JsonId object, absl::string_view key) {
  const std::uint32_t size = tree_->nodes[object].size;
  assert(size >= kFewMembers);
  const auto next = static_cast<JsonId>(tree_->nodes.size());
  JsonId member = object + 1;
  if (size == kFewMembers)
    for (; member != next; member = tree_->nodes[member].end)
      tree_->by_key[{object, tree_->nodes[member].key}] = member;
  tree_->by_key[{object, key}] = next;
}

bool Reader::ReadWord() {
  for (const Word& word : kWords) {
    if (text_.substr(at_, word.text.size()) != word.text) continue;
    AddNode(word.type);
    at_ += word.text.size();
    return true;
  }
  return Fail(SyntaxError(at_, "a JSON value is expected"));
}

void Reader::SkipSomeSpace() {
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return;
  }
}

void Reader::SkipDigits() {
  while (at_ < text_.size() && absl::ascii_isdigit(text_[at_])) ++at_;
}

bool Reader::ReadNumber() {
  const std::size_t first = at_;
  const auto digits = [&](absl::string_view what) {
    const std::size_t from = at_;
    SkipDigits();
    return at_ > from || Fail(SyntaxError(at_, what));
  };
  if (Has('-')) ++at_;
  const bool zero = Has('0');
  const std::size_t integer = at_;
  if (!digits("a digit is expected")) return false;
  if (zero && at_ > integer + 1) return Fail(SyntaxError(integer, "a number has no leading zeros"));
  if (Has('.')) {
    ++at_;
    if (!digits("a digit is expected after '.'")) return false;
  }
  if (Has('e') || Has('E')) {
    ++at_;
    if (Has('+') || Has('-')) ++at_;
    if (!digits("an exponent is expected")) return false;
  }
  tree_->nodes[AddNode(JsonType::kNumber)].text = text_.substr(first, at_ - first);
  return true;
}

bool Reader::CheckCharacter() {
  assert(at_ < text_.size());
  const auto c = static_cast<unsigned char>(text_[at_]);
  if (c < 0x20) return Fail(SyntaxError(at_, "a control character in a string must be escaped"));
  if (c < 0x80) {
    ++at_;
    return true;
  }
  return DecodeUtf8(text_, &at_).has_value() ||
         Fail(SyntaxError(at_, "the text is not valid UTF-8"));
}

// A string without escapes is a piece of the source; one with escapes is unescaped into the tree.
bool Reader::ReadString(absl::string_view* out) {
  assert(Has('"'));
  const std::size_t first = ++at_;
  while (true) {
    at_ += CountPlain({text_.data() + at_, text_.size() - at_});
    if (at_ == text_.size() || text_[at_] == '"') break;
    if (text_[at_] == '\\') return ReadEscapes(first, out);
    if (!CheckCharacter()) return false;
  }
  *out = {text_.data() + first, at_ - first};
  return Expect('"', "the text ends inside a string");
}

bool Reader::ReadEscapes(std::size_t first, absl::string_view* out) {
  assert(Has('\\') && first <= at_);
  std::string text(text_.substr(first, at_ - first));
  while (at_ < text_.size() && !Has('"')) {
    if (Has('\\')) {
      if (!ReadEscape(&text)) return false;
      continue;
    }
    const std::size_t from = at_;
    at_ += CountPlain(text_.substr(at_));
    if (at_ == from)
      if (!CheckCharacter()) return false;
    text.append(text_.data() + from, at_ - from);
  }
  *out = tree_->unescaped.emplace_back(std::move(text));
  return Expect('"', "the text ends inside a string");
}

bool Reader::ReadEscape(std::string* out) {
  assert(Has('\\'));
  constexpr absl::string_view kLetters = "\"\\/bfnrt";
  constexpr absl::string_view kCharacters = "\"\\/\b\f\n\r\t";
  const std::size_t first = at_++;
  if (Has('u')) {
    at_ = first;
    return ReadUnicodeEscape(out);
  }
  const std::size_t which =
      at_ < text_.size() ? kLetters.find(text_[at_]) : absl::string_view::npos;
  if (which == absl::string_view::npos) return Fail(SyntaxError(first, "there is no such escape"));
  out->push_back(kCharacters[which]);
  ++at_;
  return true;
}

bool Reader::ReadUnicodeEscape(std::string* out) {
  const std::size_t first = at_;
  std::uint32_t code = 0;
  if (!ReadHex(&code)) return false;
  if (IsHighSurrogate(code)) {
    std::uint32_t low = 0;
    if (text_.substr(at_, 2) == "\\u") {
      if (!ReadHex(&low)) return false;
    }
    if (!IsLowSurrogate(low)) return Fail(SyntaxError(first, "a surrogate without its other half"));
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  } else if (IsLowSurrogate(code)) {
    return Fail(SyntaxError(first, "a surrogate without its other half"));
  }
  AppendUtf8(code, out);
  return true;
}

// Stands on the backslash of "\uXXXX".
bool Reader::ReadHex(std::uint32_t* out) {
  assert(text_.substr(at_, 2) == "\\u");
  const std::size_t first = at_;
  at_ += 2;
  std::uint32_t code = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    if (at_ >= text_.size() || !absl::ascii_isxdigit(text_[at_]))
      return Fail(SyntaxError(first, "\\u needs four hexadecimal digits"));
    const char c = absl::ascii_tolower(text_[at_]);
    code = code * 16 + static_cast<std::uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  *out = code;
  return true;
}

}  // namespace maskd::json_internal
