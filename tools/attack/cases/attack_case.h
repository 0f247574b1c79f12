// The attack set: inputs that must be refused or answered inside a budget, and what a right answer
// is.
//
// Source   attacks/README.md of the attack set: fields, rules, the operations of `steps`.
// Corrected  a case that contradicts docs/protocol is read in its corrected form: corrections.h.
// Threads  plain values.
#ifndef MASKD_TOOLS_ATTACK_CASES_ATTACK_CASE_H_
#define MASKD_TOOLS_ATTACK_CASES_ATTACK_CASE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace maskd::attack {

// One line of a family's file, read and corrected.
struct AttackCase {
  std::string id;
  std::string family;  // the name of its file
  std::string kind;    // group for tables
  std::string format;  // a front end's kind, or "service": no payload
  // A text expression (text_expression.h), unless the payload was given as it is.
  nlohmann::json recipe;
  std::string plain_payload;
  bool must_be_refused = false;
  bool may_be_refused = false;  // always, where it must be
  std::vector<std::string> accept;
  std::vector<std::string> reject;
  std::vector<std::string> codes;     // of the right refusal; empty: any that is not a failure
  nlohmann::json steps;               // null without any
  bool needs_special_tokens = false;  // no special token may be allowed at the first steps
  std::int64_t budget_ms = 0;
  std::int64_t budget_mib = 0;
  // Why the case is not run as it was written; empty: it is.
  std::string correction;

  // Whether the case is of a server: it has steps of the wire and no payload.
  [[nodiscard]] bool is_of_a_server() const { return format == "service"; }

  // Made again with each call: payloads have up to tens of megabytes.
  [[nodiscard]] absl::StatusOr<std::string> Payload() const;
};

// The cases of one family's file, in its order. Errors: NOT_FOUND, INVALID_ARGUMENT with the line.
absl::StatusOr<std::vector<AttackCase>> ReadAttackCases(const std::string& path);

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_CASES_ATTACK_CASE_H_
