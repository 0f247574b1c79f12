// A row as the attack set drives one: texts cut into the longest tokens of the vocabulary, and the
// operations of `steps`.
//
// Errors   as Row's. After a refused operation the row must stand where it stood: its mask and its
//          count of tokens are compared.
// Threads  one thread.
#ifndef MASKD_TOOLS_ATTACK_GRAMMARS_ROW_STEPS_H_
#define MASKD_TOOLS_ATTACK_GRAMMARS_ROW_STEPS_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include <nlohmann/json.hpp>

#include "tools/attack/cases/case_result.h"
#include "tools/attack/targets/target.h"

namespace maskd::attack {

// For one row and one case.
class RowSteps {
 public:
  // Both must outlive this.
  RowSteps(Row* row, const Tokens* tokens) : row_(row), tokens_(tokens) {}

  // Takes all of `text`, then an end.
  absl::Status TakeWhole(absl::string_view text);

  // Runs the operations in order; what is wrong goes into `result`.
  void Run(const nlohmann::json& steps, CaseResult* result);

  // Whether, at the first four tokens, no special token but an end is allowed.
  absl::Status CheckSpecialTokens();

 private:
  // Where the row stands.
  struct Place {
    MaskWords mask;
    std::int64_t token_count = 0;
    bool operator==(const Place&) const = default;
  };
  // Nothing where the mask cannot be had.
  std::optional<Place> Look();

  // Any number, for ids that no token has.
  absl::Status TakeToken(std::int64_t token);
  // All of `text`, or nothing of it.
  absl::Status TakeText(absl::string_view text);
  absl::Status TakeEnd();
  absl::Status LookAtMask(bool must_have_a_bit);
  absl::Status ForkAndCompare(int count);
  // A tree of draft tokens, given by each one's first child and next sibling.
  absl::Status MaskDraft(const nlohmann::json& step);

  // What became of one operation. UNIMPLEMENTED: there is no such operation.
  absl::Status RunOne(const nlohmann::json& step);
  void JudgeOne(const nlohmann::json& step, CaseResult* result);

  Row* const row_;
  const Tokens* const tokens_;
  std::optional<Place> before_;  // the last operation that moves a row
};

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_GRAMMARS_ROW_STEPS_H_
