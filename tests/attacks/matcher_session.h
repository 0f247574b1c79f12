// A matcher as the attack set drives one: texts cut into tokens, each looked up in its mask before
// it is taken, and the operations of `steps`.
//
// Errors   a refusal is INVALID_ARGUMENT; INTERNAL is a broken promise: an all-zero mask, a token
//          that its mask allows and Accept() refuses, or the other way round.
// Threads  one thread.
#ifndef MASKD_TESTS_ATTACKS_MATCHER_SESSION_H_
#define MASKD_TESTS_ATTACKS_MATCHER_SESSION_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include <nlohmann/json.hpp>

#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/text_splitter.h"

namespace maskd {

struct AttackResult;

class MatcherSession {
 public:
  // `splitter` is of the grammar's vocabulary and must outlive this.
  MatcherSession(std::shared_ptr<const CompiledGrammar> grammar, const TextSplitter* splitter);

  // Takes all of `text`, then an end.
  absl::Status TakeWhole(absl::string_view text);

  // Runs the operations in order; faults go into `result`.
  void RunSteps(const nlohmann::json& steps, AttackResult* result);

  // Whether, at the first four tokens, no special token but an end is allowed.
  absl::Status CheckSpecialTokens();

 private:
  // One token through its mask. Any number, for ids that no token has.
  absl::Status TakeToken(std::int64_t token);
  // All of `text`, or nothing of it.
  absl::Status TakeText(absl::string_view text);
  absl::Status TakeEnd();
  // The mask, which must allow a token while the text goes on.
  absl::Status LookAtMask();
  absl::Status ForkAndCompare(int count);
  // A tree of draft tokens, given by each one's first child and next sibling.
  absl::Status MaskDraft(const nlohmann::json& step) const;

  // What became of one operation. UNIMPLEMENTED: there is no such operation.
  absl::Status RunStep(const nlohmann::json& step);

  Matcher matcher_;
  const TextSplitter* const splitter_;
  MaskRef last_mask_;  // of the last operation that looked at one
};

}  // namespace maskd

#endif  // MASKD_TESTS_ATTACKS_MATCHER_SESSION_H_
