// What a row's text says as an answer to a chat request, told as it becomes certain.
//
// Tokens   one entry for each token of the row, so that a rollback counts the same: one of its
//          reasoning gate, or after its end, says nothing.
// Said     what a reply has told. A rollback past it is told as a cut.
// Memory   that of all is counted as it grows and goes.
// Threads  one thread at a time; copies are independent. LiveBytes(): any.
#ifndef MASKD_SERVICE_SEQUENCES_ROW_ANSWER_H_
#define MASKD_SERVICE_SEQUENCES_ROW_ANSWER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

#include "grammar_core/compile/compiled_grammar.h"
#include "grammar_core/frontend/chat/answer_plan.h"
#include "grammar_core/frontend/chat/answer_reader.h"
#include "service/sequences/stream_types.h"

namespace maskd::service {

// How answers of `grammar` are read. Errors: FAILED_PRECONDITION for another kind than "chat", at
// `place`, and those of AnswerPlan::Make().
absl::StatusOr<std::shared_ptr<const AnswerPlan>> AnswerPlanOf(
    const CompiledGrammar& grammar, absl::string_view place = "want_answer");

// Those of a stream's rows: one a grammar while a row needs it.
class AnswerPlans {
 public:
  // The plan of a grammar that a row of this stream has, or a new one.
  absl::StatusOr<std::shared_ptr<const AnswerPlan>> Of(const CompiledGrammar& grammar,
                                                       absl::string_view place);

 private:
  absl::flat_hash_map<std::string, std::weak_ptr<const AnswerPlan>> plans_;  // by the grammar's id
};

// The answer of one row, and how much of it was said.
class RowAnswer {
 public:
  // What a token is to the answer.
  enum class Role : std::uint8_t { kText, kEnd, kNone };

  // Nothing read and nothing said.
  RowAnswer(std::shared_ptr<const AnswerPlan> plan, AnswerReader::Rest rest)
      : reader_(std::move(plan), rest) {
    Measure();
  }

  // What all of them hold, themselves included.
  static std::int64_t LiveBytes();

  // Reads the row's next token, which has this role.
  void Take(TokenId token, Role role);
  // Takes back the last `count` tokens, which were taken.
  void Rollback(std::size_t count);

  // What the next reply has to tell, at most so many bytes of it, and that it has.
  [[nodiscard]] AnswerDelta Unsaid() const;
  [[nodiscard]] std::int64_t UnsaidBytes() const;
  void SetSaid();
  // That nothing has been said: for a copy.
  void SetUnsaid();

 private:
  // A share of LiveBytes(); a copy has another share.
  class Held {
   public:
    Held() = default;
    // Counts as many bytes once more.
    Held(const Held& other) { Set(other.bytes_); }
    Held& operator=(const Held& other) {
      Set(other.bytes_);
      return *this;
    }
    // What it counts from now on; at its end nothing.
    ~Held() { Set(0); }
    void Set(std::int64_t bytes);

   private:
    std::int64_t bytes_ = 0;
  };

  void Measure();

  AnswerReader reader_;
  Held held_;
  MessageSize kept_;             // of what was said, and not taken back since
  std::size_t kept_tokens_ = 0;  // at that place
  // Something that was said was taken back, or nothing has been said, to this client at least.
  bool is_cut_ = true;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_SEQUENCES_ROW_ANSWER_H_
