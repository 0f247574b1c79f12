// All texts of a grammar are rows of one stream. At each step a row's next token is looked up in
// its mask; if it is allowed it is sent, else the text has its verdict there.
//
// Invariant  the bits of the stop ids say the same as may_end, or the verdict is an error.
// Cost       as many steps as the longest text has tokens.
// Bounds     as many rows at once as the server's welcome allows.
#include "tools/cli/vectors/text_runner.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "tools/cli/command.h"
#include "tools/cli/print.h"
#include "tools/cli/spelling.h"

namespace maskd::cli {
namespace {

constexpr absl::Duration kReplyTimeout = absl::Seconds(60);
constexpr int kBitsPerWord = 32;

// In the order of Spelling's values.
constexpr std::array<absl::string_view, 3> kSpellings = {"longest", "shortest", "random"};

}  // namespace

// One text on its way.
struct TextRunner::Row {
  std::vector<TokenId> tokens;
  std::size_t taken = 0;
  std::size_t taken_bytes = 0;
  bool done = false;
  TextVerdict verdict;
};

std::vector<Flag> WithTextRunnerFlags(std::vector<Flag> more) {
  const std::vector<Flag> flags = {
      {"cut", "longest|shortest|random", "how a text is cut into tokens", "longest"},
      {"seed", "NUMBER", "of random cuts", "1"},
  };
  more.insert(more.end(), flags.begin(), flags.end());
  return more;
}

absl::StatusOr<std::unique_ptr<TextRunner>> TextRunner::Open(const Connection& connection,
                                                             const Flags& flags) {
  const auto spelling = flags.GetChoice("cut", kSpellings);
  if (!spelling.ok()) return UsageError(spelling.status().message());
  const auto seed = flags.GetNumber("seed", 0, std::numeric_limits<std::int64_t>::max());
  if (!seed.ok()) return UsageError(seed.status().message());
  return Open(connection, static_cast<Spelling>(*spelling), static_cast<std::uint64_t>(*seed));
}

absl::StatusOr<std::unique_ptr<TextRunner>> TextRunner::Open(const Connection& connection,
                                                             Spelling spelling,
                                                             std::uint64_t seed) {
  std::unique_ptr<TextRunner> runner(new TextRunner());
  auto tokens = connection.client().ListTokens(connection.tokenizer());
  if (!tokens.ok()) return tokens.status();
  runner->tokens_ = *std::move(tokens);
  runner->splitter_ = SplitterOf(runner->tokens_);
  runner->spelling_ = spelling;
  runner->random_.seed(seed);
  auto stream = connection.client().OpenStream(
      {.tokenizer = connection.tokenizer(),
       .logits_width = static_cast<std::uint32_t>(runner->tokens_.size())});
  if (!stream.ok()) return stream.status();
  runner->stream_ = *std::move(stream);
  return runner;
}

absl::StatusOr<std::vector<TextVerdict>> TextRunner::Run(absl::string_view grammar_id,
                                                         std::span<const std::string> texts) {
  std::vector<TextVerdict> verdicts;
  const std::size_t most = stream_->welcome().limits().max_rows();
  while (!texts.empty()) {
    const std::size_t count = std::min(most, texts.size());
    std::vector<Row> rows(count);
    for (std::size_t i = 0; i < count; ++i) {
      auto tokens = Spell(texts[i]);
      if (!tokens.ok()) return tokens.status();
      rows[i].tokens = *std::move(tokens);
    }
    if (absl::Status ran = RunRows(grammar_id, rows); !ran.ok()) return ran;
    for (Row& row : rows) verdicts.push_back(std::move(row.verdict));
    texts = texts.subspan(count);
  }
  return verdicts;
}

absl::StatusOr<std::vector<TokenId>> TextRunner::Spell(absl::string_view text) {
  auto tokens = splitter_.Split(text, [this](std::size_t count) -> std::size_t {
    if (spelling_ == Spelling::kLongest) return 0;
    return spelling_ == Spelling::kShortest ? count - 1 : random_() % count;
  });
  if (tokens.has_value()) return *std::move(tokens);
  return absl::InvalidArgumentError(
      absl::StrCat("no tokens of ", tokenizer().name(), " spell ", Quoted(text)));
}

absl::Status TextRunner::RunRows(absl::string_view grammar_id, std::vector<Row>& rows) {
  client::Step step;
  for (std::size_t i = 0; i < rows.size(); ++i) step.Open(i, grammar_id);
  client::StepResult result;
  for (bool going_on = true; going_on;) {
    if (auto sent = stream_->Submit(step); !sent.ok()) return sent.status();
    if (absl::Status got = stream_->Collect(kReplyTimeout, result); !got.ok()) return got;
    step.Clear();
    for (const client::RowResult& answer : result.rows()) Advance(answer, rows[answer.row], step);
    going_on = !std::ranges::all_of(rows, &Row::done);
    if (going_on && step.empty()) return absl::InternalError("the server left out a row");
  }
  for (std::size_t i = 0; i < rows.size(); ++i) step.Close(i);
  if (auto sent = stream_->Submit(step); !sent.ok()) return sent.status();
  return stream_->Collect(kReplyTimeout, result);
}

void TextRunner::Advance(const client::RowResult& answer, Row& row, client::Step& next) const {
  row.verdict.stopped_at = row.taken_bytes;
  row.done = true;
  if (!answer.error.ok() || answer.masks.empty()) {
    row.verdict.error = answer.error.ok() ? absl::InternalError("no mask") : answer.error;
    return;
  }
  const client::MaskView& mask = answer.masks.front();
  const auto& stops = tokenizer().stop_ids();
  const bool stop_allowed =
      std::ranges::any_of(stops, [&](TokenId stop) { return Allows(mask, stop); });
  if (stop_allowed != answer.may_end) {
    row.verdict.error = absl::InternalError("the stop ids' bits say another thing than may_end");
    return;
  }
  if (row.taken == row.tokens.size()) {
    row.verdict.accepted = stop_allowed;
    return;
  }
  const TokenId& token = row.tokens[row.taken];
  if (!Allows(mask, token)) return;
  row.done = false;
  ++row.taken;
  row.taken_bytes += tokens_[static_cast<std::size_t>(token)].text().size();
  next.Take(answer.row, {&token, 1});
}

bool TextRunner::Allows(const client::MaskView& mask, TokenId token) const {
  if (mask.full()) return true;
  const auto word = static_cast<std::uint32_t>(mask.words()[token / kBitsPerWord]);
  return ((word >> (token % kBitsPerWord)) & 1U) != 0;
}

}  // namespace maskd::cli
