// Texts through the masks of a server: each cut into tokens, each token looked up in its mask
// before it is sent, all texts of a grammar side by side as rows of one stream.
//
// Threads  one.
#ifndef MASKD_TOOLS_CLI_VECTORS_TEXT_RUNNER_H_
#define MASKD_TOOLS_CLI_VECTORS_TEXT_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "client/cpp/streams/mask_stream.h"
#include "grammar_core/tokenizer/text_splitter.h"
#include "maskd/v1/tokenizer_service.pb.h"
#include "tools/cli/connection.h"
#include "tools/cli/flags.h"

namespace maskd::cli {

// How a text is cut into tokens.
enum class Spelling { kLongest, kShortest, kRandom };

// Of one text. Where `error` is not OK the other fields mean nothing.
struct TextVerdict {
  // Every token was allowed, and the text may end after the last.
  bool accepted = false;
  // Bytes before the first token that was not allowed; all of them where the text may not end.
  std::size_t stopped_at = 0;
  // The server broke a promise or gave up: the verdict is no verdict.
  absl::Status error;
};

// `more`, a command's own, then --cut and --seed.
std::vector<Flag> WithTextRunnerFlags(std::vector<Flag> more);

// One stream; its grammars' rows are closed before Run() returns.
class TextRunner {
 public:
  // As the flags of WithTextRunnerFlags() say. Errors: usage errors, and those below.
  static absl::StatusOr<std::unique_ptr<TextRunner>> Open(const Connection& connection,
                                                          const Flags& flags);
  // Opens a stream. Errors: those of ListTokens() and OpenStream().
  static absl::StatusOr<std::unique_ptr<TextRunner>> Open(const Connection& connection,
                                                          Spelling spelling, std::uint64_t seed);

  // One verdict a text. Errors: the stream's end; a text that the vocabulary cannot spell.
  absl::StatusOr<std::vector<TextVerdict>> Run(absl::string_view grammar_id,
                                               std::span<const std::string> texts);

  // That of the stream, as the server's welcome says.
  [[nodiscard]] const v1::Tokenizer& tokenizer() const { return stream_->welcome().tokenizer(); }

 private:
  struct Row;
  TextRunner() = default;

  absl::StatusOr<std::vector<TokenId>> Spell(absl::string_view text);
  // As Run(), for as many texts as a stream has rows.
  absl::Status RunRows(absl::string_view grammar_id, std::vector<Row>& rows);
  // Looks at one row's answer: its verdict, or its next token into `next`.
  void Advance(const client::RowResult& answer, Row& row, client::Step& next) const;
  [[nodiscard]] bool Allows(const client::MaskView& mask, TokenId token) const;

  std::vector<v1::Token> tokens_;
  TextSplitter splitter_;
  std::unique_ptr<client::MaskStream> stream_;
  Spelling spelling_ = Spelling::kLongest;
  std::mt19937_64 random_;
};

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_VECTORS_TEXT_RUNNER_H_
