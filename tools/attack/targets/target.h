// What a grammar case is run against: the library in this process, or a server.
//
// Errors   a refusal is the target's own status; INTERNAL is a broken promise, of the target or of
//          its masks: an all-zero mask, a token that its mask allows and that is refused, or the
//          other way round.
// Threads  one thread.
// Ownership  grammars and rows live no longer than their target.
#ifndef MASKD_TOOLS_ATTACK_TARGETS_TARGET_H_
#define MASKD_TOOLS_ATTACK_TARGETS_TARGET_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/text_splitter.h"

namespace maskd::attack {

// The vocabulary that masks speak of, as far as cases need it.
struct Tokens {
  TextSplitter splitter;
  std::int64_t size = 0;
  std::vector<TokenId> stop_ids;
  std::vector<TokenId> special_ids;  // the stop ids among them
};

// The words of a mask; empty: nothing is masked, the text has ended.
using MaskWords = std::vector<std::int32_t>;

// Whether the token's bit is 1. Requires a mask that is not empty, and a token of its vocabulary.
bool Allows(const MaskWords& mask, TokenId token);
// Whether a mask that is not empty has no bit.
bool IsAllZero(const MaskWords& mask);

// A mask written into memory that is not as it should be.
struct Misfit {
  std::int64_t more_words = 0;  // than the mask has
  std::int64_t row = 0;         // of a buffer of one row
};

// One row of a grammar, by the target's own calls.
class Row {
 public:
  virtual ~Row() = default;

  // The mask where the row stands.
  virtual absl::StatusOr<MaskWords> Mask() = 0;
  // Takes tokens of the vocabulary, each looked up in its mask. `*taken` is how many were taken,
  // whatever becomes of the rest.
  virtual absl::Status Take(std::span<const TokenId> tokens, std::int64_t* taken) = 0;
  // Takes a number that is no token of the vocabulary: always an error.
  virtual absl::Status TakeNoToken(std::int64_t token) = 0;
  virtual absl::Status Rollback(std::int64_t count) = 0;
  // Tokens taken, those after the end included.
  virtual std::int64_t token_count() = 0;
  virtual absl::StatusOr<std::unique_ptr<Row>> Fork() = 0;
  // Masks of a tree of draft tokens, by their parents.
  virtual absl::Status MaskDraft(std::span<const TokenId> tokens, std::span<const int> parents) = 0;
  // Has the mask written to a buffer of one row. INTERNAL: what does not belong to it was written.
  virtual absl::Status Write(const Misfit& misfit) = 0;
};

// What Compile() gave; rows are opened on it.
class Grammar {
 public:
  virtual ~Grammar() = default;
  virtual absl::StatusOr<std::unique_ptr<Row>> Open() = 0;
};

// Implemented twice: in this process, and over a connection.
class Target {
 public:
  virtual ~Target() = default;

  [[nodiscard]] virtual const Tokens& tokens() const = 0;
  // A kind that the target does not know: UNIMPLEMENTED, as `format`'s place says.
  virtual absl::StatusOr<std::unique_ptr<Grammar>> Compile(const std::string& format,
                                                           std::string payload) = 0;
  // The stable reason of a refusal; empty where it has none.
  [[nodiscard]] virtual std::string ReasonOf(const absl::Status& refusal) const = 0;
  // What is kept of earlier cases within some bound, in bytes: masks, grammars.
  virtual std::int64_t CachedBytes() = 0;
  // Lets go of what no case uses any more.
  virtual void EndCase() = 0;
};

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_TARGETS_TARGET_H_
