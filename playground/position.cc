// The masks along a text, and its shortest ending, by one stream each.
//
// Masks    one step opens two rows. The first stands before the window and has the window's tokens
//          as drafts, so its answer holds the mask of every place. The second stands at the place
//          asked for and says what is forced there.
// Ending   a row that is opened with `remaining_tokens` allows only tokens that leave room for an
//          ending. Walking along allowed tokens ends in time exactly when there is an ending in so
//          many, so the fewest is found by halves: log2(kMostEnding) walks.
// Cost     one step of kWindow drafts a place; a walk is a step a token of the ending.
#include "playground/position.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <span>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace maskd::playground {
namespace {

using Tokens = std::vector<client::TokenId>;
using Span = std::span<const client::TokenId>;

constexpr absl::Duration kCompileWait = absl::Seconds(5);
constexpr absl::Duration kReplyTimeout = absl::Seconds(10);
constexpr client::RowId kAlong = 1;
constexpr client::RowId kHere = 2;

const std::string& TextOf(const Vocabulary& vocabulary, client::TokenId id) {
  return vocabulary.tokens[static_cast<std::size_t>(id)].text();
}

bool IsAllowed(const client::MaskView& mask, std::size_t id) {
  if (mask.full()) return true;
  if (mask.invalid()) return false;
  const auto word = static_cast<std::uint32_t>(mask.words()[id / 32]);
  return ((word >> (id % 32)) & 1) != 0;
}

std::int64_t CountAllowed(const client::MaskView& mask, std::size_t vocab_size) {
  if (mask.full()) return static_cast<std::int64_t>(vocab_size);
  if (mask.invalid()) return 0;
  std::int64_t count = 0;
  for (const std::int32_t word : mask.words())
    count += std::popcount(static_cast<std::uint32_t>(word));
  return count;
}

// The mask in the form that it came in, as it is on the wire.
MaskFigures FiguresOf(const client::MaskView& mask, std::size_t vocab_size) {
  using Form = client::MaskView::Form;
  v1::Position position;
  const auto ids = mask.ids();
  MaskFigures figures;
  switch (mask.form()) {
    case Form::kFull:
      figures.form = "full";
      position.set_full(true);
      break;
    case Form::kInvalid:
      figures.form = "invalid";
      position.set_invalid(true);
      break;
    case Form::kDense:
      figures.form = "dense";
      position.set_dense(std::string(4 * mask.words().size(), '\0'));
      break;
    case Form::kAllowedIds:
      figures.form = "allowed_ids";
      position.mutable_allowed_ids()->mutable_ids()->Assign(ids.begin(), ids.end());
      break;
    case Form::kForbiddenIds:
      figures.form = "forbidden_ids";
      position.mutable_forbidden_ids()->mutable_ids()->Assign(ids.begin(), ids.end());
      break;
  }
  figures.bytes = position.ByteSizeLong();
  figures.allowed = CountAllowed(mask, vocab_size);
  return figures;
}

// One step, and the answer to `row` in it.
absl::StatusOr<const client::RowResult*> Ask(client::MaskStream& stream, client::Step& step,
                                             client::RowId row, client::StepResult& result) {
  if (auto submitted = stream.Submit(step); !submitted.ok()) return submitted.status();
  absl::Status collected = stream.Collect(kReplyTimeout, result);
  if (!collected.ok()) return collected;
  const client::RowResult* const answer = result.Find(row);
  if (answer == nullptr) return absl::InternalError("the server did not answer the row");
  if (!answer->error.ok()) return answer->error;
  if (answer->masks.empty()) return absl::DeadlineExceededError("the grammar still compiles");
  return answer;
}

absl::StatusOr<v1::CheckResponse> Check(const client::Client& client,
                                        const PositionQuestion& question) {
  if (question.text.size() > kMostText) {
    return absl::InvalidArgumentError(
        absl::StrCat("text: has ", question.text.size(), " bytes, at most ", kMostText));
  }
  v1::CheckRequest request;
  request.set_tokenizer(question.tokenizer);
  request.set_grammar_id(question.grammar_id);
  request.set_raw_text(question.text);
  return client.Check(request);
}

absl::StatusOr<Tokens> Split(const Vocabulary& vocabulary, absl::string_view text) {
  std::optional<Tokens> tokens = vocabulary.splitter.Longest(text);
  if (tokens.has_value()) return *std::move(tokens);
  return absl::InvalidArgumentError("text: has bytes that no token of the vocabulary spells");
}

// Whether it is two or more characters of white space: vocabularies have hundreds of those, and
// they would hide all others.
bool IsBlankRun(absl::string_view text) {
  return text.size() > 1 && text.find_first_not_of(" \t\r\n") == absl::string_view::npos;
}

// What is forced, then by id: a vocabulary's first pieces are its most frequent. Blank runs last.
// The mask and the forced token are the server's word: an id that is no token is not looked up.
void AddLikely(const Vocabulary& vocabulary, const client::RowResult& row, std::int64_t limit,
               std::vector<NamedToken>* likely) {
  const client::MaskView& mask = row.masks.front();
  const auto most = static_cast<std::size_t>(std::clamp<std::int64_t>(limit, 0, kMostShown));
  const client::TokenId forced = row.forced_draft.empty() ? -1 : row.forced_draft.front();
  const bool is_forced = forced >= 0 && forced < std::ssize(vocabulary.tokens) &&
                         IsAllowed(mask, static_cast<std::size_t>(forced));
  if (is_forced && most > 0) likely->push_back({forced});
  for (const bool blank : {false, true}) {
    for (std::size_t id = 0; id < vocabulary.tokens.size() && likely->size() < most; ++id) {
      const auto token = static_cast<client::TokenId>(id);
      if (!IsAllowed(mask, id) || (is_forced && token == forced)) continue;
      if (IsBlankRun(vocabulary.tokens[id].text()) == blank) likely->push_back({token});
    }
  }
}

// The tokens that contain what is looked for, allowed ones first.
void AddFound(const Vocabulary& vocabulary, const client::MaskView& mask,
              const PositionQuestion& question, PositionAnswer* answer) {
  if (question.find.empty()) return;
  const auto most =
      static_cast<std::size_t>(std::clamp<std::int64_t>(question.limit, 0, kMostShown));
  for (const bool is_allowed : {true, false}) {
    for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
      if (IsAllowed(mask, id) != is_allowed) continue;
      if (!absl::StrContains(vocabulary.tokens[id].text(), question.find)) continue;
      ++answer->found_count;
      if (answer->found.size() >= most) continue;
      answer->found.push_back({static_cast<client::TokenId>(id), is_allowed});
    }
  }
}

// The step that asks for the masks which are not known, and for the place.
client::Step MasksStep(const PositionQuestion& question, const PositionAnswer& answer) {
  const Span tokens = answer.tokens;
  const auto place = [](std::int64_t index) { return static_cast<std::size_t>(index); };
  client::Step step;
  step.Open(kAlong, question.grammar_id, {.tokens = tokens.subspan(0, place(answer.first_figures))})
      .Draft(kAlong,
             tokens.subspan(place(answer.first_figures), place(answer.last - answer.first_figures)))
      .Open(kHere, question.grammar_id, {.tokens = tokens.subspan(0, place(answer.at))})
      .WantForced(kHere)
      .WaitForCompile(kCompileWait);
  return step;
}

absl::Status AskOn(client::MaskStream& stream, client::Step step, const Vocabulary& vocabulary,
                   const PositionQuestion& question, PositionAnswer* answer) {
  client::StepResult result;
  const auto here = Ask(stream, step, kHere, result);
  if (!here.ok()) return here.status();
  const client::MaskView& mask = (*here)->masks.front();
  const std::size_t vocab_size = vocabulary.tokens.size();
  answer->here = FiguresOf(mask, vocab_size);
  answer->at_may_end = (*here)->may_end;
  answer->forced = std::string((*here)->forced_bytes);
  AddLikely(vocabulary, **here, question.limit, &answer->likely);
  AddFound(vocabulary, mask, question, answer);
  const client::RowResult* const along = result.Find(kAlong);
  if (along == nullptr) return absl::InternalError("the server did not answer the row");
  if (!along->error.ok()) return along->error;
  for (const client::MaskView& each : along->masks)
    answer->figures.push_back(FiguresOf(each, vocab_size));
  return absl::OkStatus();
}

// Asks for the masks. A stream that was used before may have ended meanwhile: another is tried.
absl::Status AskForMasks(Streams& streams, const Vocabulary& vocabulary,
                         const PositionQuestion& question, PositionAnswer* answer) {
  for (;;) {
    auto taken = streams.Take(question.tokenizer, vocabulary);
    if (!taken.ok()) return taken.status();
    client::Step step = MasksStep(question, *answer);
    if (taken->was_used) step.Close(kAlong).Close(kHere);
    PositionAnswer filled = *answer;
    absl::Status asked = AskOn(*taken->stream, std::move(step), vocabulary, question, &filled);
    if (asked.ok()) {
      *answer = std::move(filled);
      streams.Give(question.tokenizer, std::move(taken->stream));
    }
    if (asked.ok() || !taken->was_used) return asked;
  }
}

// The window around the place, and the first of its places whose mask is not known.
void ChooseWindow(const Vocabulary& vocabulary, const PositionQuestion& question,
                  PositionAnswer* answer) {
  const auto count = static_cast<std::int64_t>(answer->tokens.size());
  answer->at = std::clamp<std::int64_t>(question.at.value_or(count), 0, count);
  answer->first = std::max<std::int64_t>(
      0, std::min<std::int64_t>(answer->at, count - kWindow / 2) - kWindow / 2);
  answer->last = std::min<std::int64_t>(answer->first + kWindow, count);
  answer->first_figures = answer->first;
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < answer->last && question.known.has_value(); ++i) {
    if (offset > *question.known) break;
    if (i > answer->first) answer->first_figures = i;
    offset += std::ssize(TextOf(vocabulary, answer->tokens[static_cast<std::size_t>(i)]));
  }
}

// Walks on along allowed tokens, with `room` tokens left, the stop token among them. Nothing where
// the text does not end in them.
absl::StatusOr<std::optional<Tokens>> Walk(client::MaskStream& stream, const Vocabulary& vocabulary,
                                           const PositionQuestion& question, Span before,
                                           std::uint32_t room) {
  client::Step step;
  step.Open(kHere, question.grammar_id, {.tokens = before, .remaining_tokens = room})
      .WaitForCompile(kCompileWait);
  client::StepResult result;
  Tokens ending;
  for (;; --room) {
    const auto row = Ask(stream, step, kHere, result);
    if (!row.ok()) return row.status();
    const client::MaskView& mask = (*row)->masks.front();
    const bool is_end = (*row)->may_end || mask.full();
    std::size_t next = 0;
    while (next < vocabulary.tokens.size() && !IsAllowed(mask, next)) ++next;
    step.Clear();
    if (is_end || room <= 1 || next == vocabulary.tokens.size()) {
      step.Close(kHere);
      if (auto closed = stream.Submit(step); !closed.ok()) return closed.status();
      if (absl::Status last = stream.Collect(kReplyTimeout, result); !last.ok()) return last;
      return is_end ? std::optional<Tokens>(std::move(ending)) : std::nullopt;
    }
    ending.push_back(static_cast<client::TokenId>(next));
    step.Take(kHere, Span(&ending.back(), 1));
  }
}

}  // namespace

absl::StatusOr<PositionAnswer> DescribePlace(Streams& streams, const Vocabulary& vocabulary,
                                             const PositionQuestion& question) {
  const auto checked = Check(streams.client(), question);
  if (!checked.ok()) return checked.status();
  PositionAnswer answer;
  answer.accepted = checked->accepted();
  answer.may_end = checked->may_end();
  answer.byte_offset = answer.accepted ? question.text.size()
                                       : static_cast<std::size_t>(checked->stop().byte_offset());
  auto tokens = Split(vocabulary, absl::string_view(question.text).substr(0, answer.byte_offset));
  if (!tokens.ok()) return tokens.status();
  answer.tokens = *std::move(tokens);
  ChooseWindow(vocabulary, question, &answer);
  absl::Status asked = AskForMasks(streams, vocabulary, question, &answer);
  if (!asked.ok()) return asked;
  return answer;
}

absl::StatusOr<Tokens> ShortestEnding(Streams& streams, const Vocabulary& vocabulary,
                                      const PositionQuestion& question) {
  const auto checked = Check(streams.client(), question);
  if (!checked.ok()) return checked.status();
  if (!checked->accepted()) {
    return absl::InvalidArgumentError(absl::StrCat("text: the grammar refuses it at byte ",
                                                   checked->stop().byte_offset(),
                                                   "; it has no ending"));
  }
  const auto before = Split(vocabulary, question.text);
  if (!before.ok()) return before.status();
  auto stream = streams.client().OpenStream(
      {.tokenizer = question.tokenizer,
       .tokenizer_hash = vocabulary.tokenizer.hash(),
       .logits_width = static_cast<std::uint32_t>(vocabulary.tokens.size())});
  if (!stream.ok()) return stream.status();
  // Room that is too little, and an ending that needs no more than its own tokens and the stop.
  std::uint32_t too_little = 0;
  std::optional<Tokens> best;
  bool is_there = true;
  for (std::uint32_t room = kMostEnding + 1; is_there && room > too_little;) {
    auto ending = Walk(**stream, vocabulary, question, *before, room);
    if (!ending.ok()) return ending.status();
    if (ending->has_value())
      best = **std::move(ending);
    else if (best.has_value())
      too_little = room;
    is_there = best.has_value();
    if (is_there) room = (too_little + static_cast<std::uint32_t>(best->size()) + 1) / 2;
  }
  Streams::End(*std::move(stream));
  if (is_there) return *std::move(best);
  return absl::NotFoundError(absl::StrCat("no ending within ", kMostEnding, " tokens"));
}

}  // namespace maskd::playground
