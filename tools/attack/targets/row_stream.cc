// Rows over the wire. Tokens go twice, in runs: as drafts, whose masks say which are allowed, then
// to be taken. What the two answers say must be the same.
//
// Invariant  an answer lives until the stream's next step, so nothing of it is kept.
// Cost       two steps for a run of kRun tokens; runs of one token where the masks exceed the
//            budget.
#include "tools/attack/targets/row_stream.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"

#include "client/apply/applier.h"
#include "client/apply/make_applier.h"
#include "client/cpp/steps/target_rows.h"

namespace maskd::attack {
namespace {

using client::RowResult;
using client::Step;

constexpr absl::Duration kPatience = absl::Seconds(120);
constexpr std::size_t kRun = 128;

absl::Status Broken(absl::string_view what) { return absl::InternalError(what); }

// What becomes of `tokens` says the answer to the step that had them as drafts: how many are
// allowed, each by the mask before it. Errors: INTERNAL for masks that do not fit to that.
absl::StatusOr<std::size_t> CountAllowed(const RowResult& answer, std::span<const TokenId> tokens) {
  const std::size_t accepted = answer.accepted_drafts.value_or(0);
  if (answer.masks.size() != tokens.size() + 1 || accepted > tokens.size())
    return Broken(absl::StrCat(answer.masks.size(), " masks for ", tokens.size(), " drafts"));
  for (std::size_t i = 0; i <= accepted; ++i) {
    const client::MaskView& mask = answer.masks[i];
    if (mask.invalid()) return Broken(absl::StrCat("accepted draft ", i, " has no mask"));
    const MaskWords words = WordsOf(mask);
    if (IsAllZero(words)) return Broken("the mask is all zero");
    if (i == tokens.size()) break;
    const bool allowed = words.empty() || Allows(words, tokens[i]);
    if (allowed != (i < accepted)) {
      return Broken(absl::StrCat("token ", tokens[i], " is ", allowed ? "" : "not ",
                                 "allowed by its mask, as a draft it is otherwise"));
    }
  }
  return accepted;
}

}  // namespace

MaskWords WordsOf(const client::MaskView& mask) {
  if (mask.full()) return {};
  return {mask.words().begin(), mask.words().end()};
}

class RowStream::WireRow final : public Row {
 public:
  WireRow(RowStream* stream, client::RowId row) : stream_(stream), row_(row) {}
  ~WireRow() override { stream_->gone_.push_back(row_); }

  absl::StatusOr<MaskWords> Mask() override {
    const absl::StatusOr<const RowResult*> answer = Look();
    if (!answer.ok()) return answer.status();
    MaskWords words = WordsOf((*answer)->masks.front());
    if (IsAllZero(words)) return Broken("the mask is all zero");
    return words;
  }

  absl::Status Take(std::span<const TokenId> tokens, std::int64_t* taken) override {
    for (*taken = 0; *taken < std::ssize(tokens);) {
      const auto rest = tokens.subspan(static_cast<std::size_t>(*taken));
      std::size_t count = std::min(kRun, rest.size());
      absl::Status status = TakeRun(rest.first(count), taken);
      if (absl::IsResourceExhausted(status) && count > 1)  // the masks of a run in one budget
        status = TakeRun(rest.first(1), taken);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status TakeNoToken(std::int64_t token) override {
    if (token < std::numeric_limits<TokenId>::min() || token > std::numeric_limits<TokenId>::max())
      return absl::InvalidArgumentError("no TokenId");
    const auto id = static_cast<TokenId>(token);
    const absl::StatusOr<const RowResult*> answer = Run(Step().Take(row_, {&id, 1}));
    if (!answer.ok()) return answer.status();
    return (*answer)->error.ok() ? Broken(absl::StrCat("took token ", token)) : (*answer)->error;
  }

  absl::Status Rollback(std::int64_t count) override {
    if (count < 0 || count > std::numeric_limits<std::uint32_t>::max())
      return absl::OutOfRangeError("no uint32");
    Step step;
    step.Take(row_, {}).Rollback(row_, static_cast<std::uint32_t>(count));
    return ErrorOf(Run(step));
  }

  std::int64_t token_count() override {
    const absl::StatusOr<const RowResult*> answer = Run(Step().Take(row_, {}));
    return answer.ok() ? std::int64_t{(*answer)->token_count} : -1;
  }

  absl::StatusOr<std::unique_ptr<Row>> Fork() override {
    auto child = std::make_unique<WireRow>(stream_, stream_->next_row_++);
    Step step;
    step.Fork(row_, child->row_).Take(child->row_, {});
    const absl::Status forked = ErrorOf(stream_->Run(step, child->row_));
    if (!forked.ok()) return forked;
    return child;
  }

  absl::Status MaskDraft(std::span<const TokenId> tokens, std::span<const int> parents) override {
    return ErrorOf(Run(Step().Draft(row_, tokens, parents)));
  }

  absl::Status Write(const Misfit& misfit) override {
    const absl::StatusOr<const RowResult*> answer = Look();
    if (!answer.ok()) return answer.status();
    return misfit.row == 0 ? WriteWords(misfit.more_words) : WriteRow(misfit.row);
  }

 private:
  static absl::Status ErrorOf(const absl::StatusOr<const RowResult*>& answer) {
    return answer.ok() ? (*answer)->error : answer.status();
  }

  absl::StatusOr<const RowResult*> Run(Step& step) { return stream_->Run(step, row_); }

  // The row as it is, with a mask.
  absl::StatusOr<const RowResult*> Look() {
    const absl::StatusOr<const RowResult*> answer = Run(Step().Take(row_, {}));
    if (!answer.ok()) return answer;
    if (!(*answer)->error.ok()) return (*answer)->error;
    if ((*answer)->masks.empty()) return Broken("an answer without a mask");
    return answer;
  }

  absl::Status TakeRun(std::span<const TokenId> tokens, std::int64_t* taken) {
    absl::StatusOr<const RowResult*> answer = Run(Step().Draft(row_, tokens));
    if (absl::Status error = ErrorOf(answer); !error.ok()) return error;
    const std::uint32_t before = (*answer)->token_count;
    const absl::StatusOr<std::size_t> allowed = CountAllowed(**answer, tokens);
    if (!allowed.ok()) return allowed.status();
    answer = Run(Step().Take(row_, tokens));
    if (!answer.ok()) return answer.status();
    const std::size_t now = (*answer)->token_count - before;
    *taken += static_cast<std::int64_t>(now);
    if (now == *allowed) return (*answer)->error;
    return Broken(absl::StrCat("masks allow ", *allowed, " tokens of which the row takes ", now,
                               ": ", (*answer)->error.ToString()));
  }

  absl::Status WriteWords(std::int64_t more_words) {
    const std::int64_t words = std::max<std::int64_t>(
        0, std::int64_t{stream_->stream_->welcome().mask_words()} + more_words);
    constexpr std::int32_t kUntouched = 0x5A5A5A5A;
    std::vector<std::int32_t> memory(static_cast<std::size_t>(words) * 2, kUntouched);
    const client::MaskBuffer buffer = {memory.data(), 1, words};
    const absl::Status written = stream_->result_.CopyMasks({&row_, 1}, buffer);
    const auto begin =
        memory.begin() + (written.ok() ? words - std::max<std::int64_t>(0, more_words) : 0);
    const bool clean = std::all_of(begin, memory.begin() + words, [&](std::int32_t word) {
      return word == (written.ok() ? 0 : kUntouched);
    });
    const bool within = std::all_of(memory.begin() + words, memory.end(),
                                    [](std::int32_t word) { return word == kUntouched; });
    return clean && within ? written : Broken("words past the mask were written");
  }

  absl::Status WriteRow(std::int64_t logits_row) {
    const std::int64_t size = stream_->stream_->welcome().tokenizer().vocab_size();
    const client::MaskTarget target = {row_, 0, logits_row};
    std::vector<client::MaskRow> rows;
    const absl::Status found = client::TargetRows(stream_->result_, {&target, 1}, size, rows);
    if (!found.ok()) return found;
    const auto applier = client::MakeApplier("cpu");
    if (!applier.ok()) return Broken(applier.status().message());
    std::vector<float> logits(static_cast<std::size_t>(size), 1.0F);
    const absl::Status applied = (*applier)->Apply(
        {.vocab_size = size, .rows = rows},
        {.data = logits.data(), .row_count = 1, .width = size, .row_stride = size});
    const bool clean = std::ranges::all_of(logits, [](float logit) { return logit == 1.0F; });
    return applied.ok() || clean ? applied : Broken("a refused mask was applied");
  }

  RowStream* const stream_;
  const client::RowId row_;
};

absl::StatusOr<std::unique_ptr<RowStream>> RowStream::Open(const client::Client& client,
                                                           const std::string& tokenizer,
                                                           std::int64_t width) {
  auto stream = client.OpenStream({.tokenizer = tokenizer,
                                   .logits_width = static_cast<std::uint32_t>(width),
                                   .open_timeout = kPatience});
  if (!stream.ok()) return stream.status();
  return std::unique_ptr<RowStream>(new RowStream(*std::move(stream)));
}

absl::StatusOr<std::unique_ptr<Row>> RowStream::OpenRow(const std::string& grammar_id) {
  auto row = std::make_unique<WireRow>(this, next_row_);
  Step step;
  step.Open(next_row_, grammar_id).WaitForCompile(absl::Seconds(10));
  const absl::StatusOr<const RowResult*> answer = Run(step, next_row_++);
  if (!answer.ok()) return answer.status();
  if (!(*answer)->error.ok()) return (*answer)->error;
  return row;
}

absl::Status RowStream::Exchange(Step& step) {
  absl::Status status = stream_->Submit(step).status();
  if (status.ok()) status = stream_->Collect(kPatience, result_);
  has_ended_ = has_ended_ || !status.ok();
  return status;
}

absl::StatusOr<const RowResult*> RowStream::Run(Step& step, client::RowId row) {
  if (absl::Status status = Exchange(step); !status.ok()) return status;
  const RowResult* answer = result_.Find(row);
  for (const RowResult& each : result_.rows())
    if (answer == nullptr && each.row == row) answer = &each;  // a refused verb has no state
  return answer == nullptr ? absl::StatusOr<const RowResult*>(Broken("a row without an answer"))
                           : answer;
}

bool RowStream::CloseRows() {
  if (has_ended_) return false;
  Step step;
  for (const client::RowId row : gone_) step.Close(row);
  gone_.clear();
  return step.empty() || Exchange(step).ok();
}

}  // namespace maskd::attack
