// Reads a JSON text into a Tree with one loop over its bytes and a stack of open brackets.
//
// We do not use the JSON library of the other rooms here: it makes doubles of numbers (1e400 is an
// error, -0 becomes 0) and gives no line and column.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_JSON_READER_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_JSON_READER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "grammar_core/frontend/json/json_tree.h"

namespace maskd::json_internal {

// For one text; its state is where it stands and what is open.
class Reader {
 public:
  // Reads the last of `tree->texts` into `*tree`, at most `max_depth` brackets deep.
  Reader(std::int64_t max_depth, Tree* tree)
      : max_depth_(max_depth), tree_(tree), text_(tree->texts.back().source) {}

  // Has Read() leave objects unread that are `known`, which must outlive it.
  void LeaveUnread(const KnownObjects& known) { known_ = &known; }

  // Appends the text's nodes. After an error the tree holds a part and is of no use.
  absl::Status Read();

 private:
  bool ReadDocument();
  bool ReadValue();
  bool ReadWord();
  bool ReadNumber();
  bool ReadString(absl::string_view* out);
  bool ReadEscapes(std::size_t first, absl::string_view* out);
  bool ReadEscape(std::string* out);
  bool ReadUnicodeEscape(std::string* out);
  bool ReadHex(std::uint32_t* out);
  bool CheckCharacter();
  bool ReadKey(absl::string_view* out);
  void NoteMember(JsonId object, absl::string_view key);
  bool Open(JsonType type);
  [[nodiscard]] bool IsAtKnownPath() const;
  // Steps over the object that begins here, if it is known.
  bool SkipKnown();
  bool ToNextValue();
  bool ToNextElement(const Node& open);
  bool Expect(char c, const char* what) {
    if (!Has(c)) return Fail(SyntaxError(at_, what));
    ++at_;
    return true;
  }

  JsonId AddNode(JsonType type);
  // Mostly there is none.
  void SkipSpace() {
    if (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) <= ' ') SkipSomeSpace();
  }
  void SkipSomeSpace();
  void SkipDigits();
  [[nodiscard]] bool Has(char c) const { return at_ < text_.size() && text_[at_] == c; }
  // False, as what fails returns; Read() gives `error`.
  bool Fail(absl::Status error);
  [[nodiscard]] absl::Status SyntaxError(std::size_t at, absl::string_view message) const;

  const std::int64_t max_depth_;
  Tree* const tree_;
  const absl::string_view text_;
  const KnownObjects* known_ = nullptr;
  std::size_t at_ = 0;
  absl::string_view key_;
  absl::Status error_;
  std::vector<JsonId> open_;
};

}  // namespace maskd::json_internal

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_JSON_READER_H_
