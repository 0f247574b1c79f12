// What the rows of a decode step do in a benchmark: which grammar each follows, and its next token.
//
// Threads  one thread at a time.
#ifndef MASKD_BENCH_STEP_ROWS_H_
#define MASKD_BENCH_STEP_ROWS_H_

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include "grammar_core/tokenizer/loader.h"

namespace maskd::bench {

// The first allowed token at or after a random place, going round; -1 when there is none.
TokenId RandomAllowed(std::span<const std::int32_t> words, std::mt19937_64& random);

class StepRows {
 public:
  virtual ~StepRows() = default;

  // JSON Schemas; row i follows the one at i % size.
  [[nodiscard]] const std::vector<std::string>& schemas() const { return schemas_; }
  [[nodiscard]] std::size_t SchemaOf(int row) const {
    return static_cast<std::size_t>(row) % schemas_.size();
  }

  // The text that rows of that schema follow; empty where they take tokens at random.
  [[nodiscard]] virtual std::span<const TokenId> TextOf(std::size_t schema) const = 0;

  // Begins the row's text again.
  virtual void Start(int row) = 0;
  // The row's next token, and behind it drafts, `count` in all where the text is so long; none when
  // it has ended. The row has then taken the first of them. `mask` gives the words of the row's
  // mask, which are not made unless it is called.
  using MaskWords = absl::FunctionRef<std::span<const std::int32_t>()>;
  virtual std::span<const TokenId> Next(int row, MaskWords mask, int count) = 0;

 protected:
  std::vector<std::string> schemas_;
};

// The schemas of a folder; a row takes allowed tokens at random. Errors: NOT_FOUND.
absl::StatusOr<std::unique_ptr<StepRows>> RandomRows(const std::string& folder);

// Documents of MaskBench, see documents.h, in the tokens of `tokenizer`. A text's end is not taken.
absl::StatusOr<std::unique_ptr<StepRows>> DocumentRows(const std::string& cases,
                                                       const VocabularySource& tokenizer,
                                                       int documents);

}  // namespace maskd::bench

#endif  // MASKD_BENCH_STEP_ROWS_H_
