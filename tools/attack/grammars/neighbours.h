// The rule on plain rows of the same grammar: a row opened before a case's texts and steps, and one
// opened after them, have the masks that the first had before.
//
// Threads  one thread.
#ifndef MASKD_TOOLS_ATTACK_GRAMMARS_NEIGHBOURS_H_
#define MASKD_TOOLS_ATTACK_GRAMMARS_NEIGHBOURS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "tools/attack/targets/target.h"

namespace maskd::attack {

// Made before a case's texts, compared after them.
class Neighbours {
 public:
  // Opens a row and writes the beginning of `text` with it, as far as the grammar lets it; of an
  // empty one what its masks allow first. All of these must outlive this.
  Neighbours(Grammar* grammar, const Tokens* tokens, const std::string& text);

  // Takes the row back to its beginning and over the same tokens again, and a new row after it.
  // What has changed, one line each.
  std::vector<std::string> Compare();

 private:
  // What a row answers at one of its places.
  struct Answer {
    absl::StatusCode code = absl::StatusCode::kOk;
    MaskWords mask;
    bool operator==(const Answer&) const = default;
  };
  static Answer Ask(Row& row);
  void WalkFirst(const std::string& text);
  // What differs on the walk; empty: nothing.
  std::string WalkAgain(Row& row) const;

  Grammar* const grammar_;
  const Tokens* const tokens_;
  absl::StatusOr<std::unique_ptr<Row>> row_;
  std::string first_fault_;  // of the first walk
  std::vector<TokenId> walk_;
  std::vector<Answer> answers_;  // one more than tokens of the walk
};

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_GRAMMARS_NEIGHBOURS_H_
