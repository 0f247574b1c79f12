// A row beside its matcher: tokens of reasoning, bounds that narrow what the grammar allows, and
// the count of all tokens. The matcher knows the grammar's text only; its own history goes on where
// the reasoning has ended.
//
// A position's mask is made in this order: the grammar's; less what leaves too few characters; less
// the stop ids below min_tokens; less what cannot end in the tokens left. Each may only take away,
// and none leaves nothing, but where the text is full and cannot end: that is a dead end, and an
// error.
//
// Invariant  a token is taken exactly if the mask of position 0 has it: CheckNarrowed() asks the
//            same functions as FillPositions(), and keeps the mask that was made last for it.
// Cost       without bounds one test more than the matcher's call; with them see closing.h and
//            character_masks.h.
#include "service/sequences/sequence.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "service/base/errors.h"

namespace maskd::service {
namespace {

using State = SequencePosition::State;

// The longest text that is looked for when room is left for it behind the reasoning.
constexpr int kMaxTextBytes = 4096;

SequencePosition FromMatcher(const DraftPosition& position) {
  switch (position.state) {
    case DraftPosition::State::kActive:
      return {.state = State::kMasked,
              .may_end = position.may_end,
              .mask = position.mask,
              .place = position.place};
    case DraftPosition::State::kFinished:
      return {.state = State::kFinished, .may_end = true};
    case DraftPosition::State::kInvalid:
      break;
  }
  return {};
}

bool BeginsInText(const ReasoningGate* gate) {
  return gate == nullptr || gate->ended(gate->start());
}

absl::Status Refused(TokenId token, absl::string_view why) {
  return ErrorAt(absl::StatusCode::kInvalidArgument, "", "TOKEN_REFUSED",
                 absl::StrCat("token ", token, " is refused: ", why));
}

}  // namespace

// The prompt's last tokens may hold the reasoning's end already: then the row begins in its text.
Sequence::Sequence(const cache::GrammarPtr& grammar, const SequenceOptions& options)
    : matcher_(grammar, options.stop_ids),
      gate_(options.gate),
      min_tokens_(options.min_tokens),
      max_tokens_(grammar->source().options.max_tokens),
      max_characters_(grammar->source().options.max_characters),
      history_(BeginsInText(gate_.get()) ? 0 : static_cast<TokenHistory::State>(gate_->start())),
      is_observed_(options.observe),
      closing_(options.closing == nullptr ? std::make_shared<ClosingMasks>() : options.closing) {
  if (BeginsInText(gate_.get())) text_begin_ = 0;
}

// Checks first and changes last, so a refused token leaves the row as it was.
absl::Status Sequence::Take(TokenId token) {
  if (is_observed_) return TakeObserved(token);
  if (reasoning()) return TakeReasoning(token);
  if (absl::Status checked = CheckNarrowed(token); !checked.ok()) return checked;
  if (absl::Status taken = matcher_.Accept(token); !taken.ok()) return taken;
  narrowed_.reset();
  // In the text the history has the characters so far where in reasoning it has the gate's place.
  const std::int64_t more = finished() ? 0 : CharactersOf(token);
  history_.Push(token, static_cast<TokenHistory::State>(characters() + more));
  return absl::OkStatus();
}

// No where no bound of tokens is near: then the grammar's own mask decides, and none is made for
// the check.
bool Sequence::narrows() const {
  const auto left = TokensLeft(text_tokens(), token_count());
  return min_tokens_ > 0 || left.value_or(ClosingMasks::kFrom + 1) <= ClosingMasks::kFrom;
}

std::optional<std::int64_t> Sequence::TokensLeft(int text_tokens, int token_count) const {
  std::optional<std::int64_t> left;
  if (token_limit_.has_value()) left = *token_limit_ - token_count;
  if (max_tokens_.has_value()) {
    // The stop id is no token of the text, so it has one more.
    const std::int64_t of_text = std::int64_t{*max_tokens_} + 1 - text_tokens;
    left = std::min(left.value_or(of_text), of_text);
  }
  return left;
}

// Refuses what the grammar would take and a narrowed mask does not allow.
absl::Status Sequence::CheckNarrowed(TokenId token) const {
  const int size = grammar().tokenizer().vocabulary().size();
  if (finished() || token < 0 || token >= size) return absl::OkStatus();
  if (absl::Status fits = CheckCharacters(token); !fits.ok() || !narrows()) return fits;
  // The error of the grammar itself comes first, as it tells more.
  const absl::StatusOr<MaskRef> whole = matcher_.Mask();
  if (!whole.ok() || !(*whole)->Allows(token)) return absl::OkStatus();  // Accept() says why
  const absl::StatusOr<MaskRef> narrowed = NarrowedMask();
  if (!narrowed.ok()) return narrowed.status();
  if ((*narrowed)->Allows(token)) return absl::OkStatus();
  return Refused(token, text_tokens() < min_tokens_
                            ? absl::StrCat("the text must have ", min_tokens_, " tokens")
                            : "the text cannot be complete in the tokens left");
}

absl::StatusOr<MaskRef> Sequence::NarrowedMask() const {
  // Held by the reply until the next step, so it is mostly there when its token comes.
  if (MaskRef known = narrowed_.lock(); known != nullptr) return known;
  std::vector<SequencePosition> positions;
  if (absl::Status filled = FillPositions({}, &positions); !filled.ok()) return filled;
  return positions[0].mask;
}

// Asks for the one token, without making a mask: with a bound of characters every token comes by
// here.
absl::Status Sequence::CheckCharacters(TokenId token) const {
  if (!max_characters_.has_value()) return absl::OkStatus();
  const std::int64_t left = *max_characters_ - characters();
  const absl::StatusOr<bool> fits =
      closing_->characters().Allows(matcher_.stepper(), matcher_.place(), token, left);
  if (!fits.ok()) return fits.status();
  if (*fits) return absl::OkStatus();
  return Refused(token, absl::StrCat("the text cannot be complete in the ", left,
                                     " characters that are left"));
}

std::int64_t Sequence::CharactersOf(TokenId token) const {
  if (!max_characters_.has_value()) return 0;
  return maskd::CharactersOf(grammar().tokenizer().vocabulary(), token);
}

void Sequence::SetRemaining(int tokens) {
  token_limit_ = std::int64_t{token_count()} + tokens;
  narrowed_.reset();
  PlanClosing();
}

// How much room the reasoning must leave; known once the matcher stands at the text's start.
void Sequence::PlanClosing() {
  // Once a row: the text's start does not move while the row is in its reasoning.
  if (!reasoning() || !token_limit_.has_value() || closing_tokens_ > 0) return;
  const auto text = matcher_.FewTokens(kMaxTextBytes);
  closing_tokens_ = gate_->end_size() + 1 + (text.ok() ? static_cast<int>(text->size()) : 0);
}

std::optional<int> Sequence::remaining() const {
  if (!token_limit_.has_value()) return std::nullopt;
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  return static_cast<int>(std::clamp<std::int64_t>(*token_limit_ - token_count(), 0, kMost));
}

bool Sequence::MustEndReasoning(int token_count) const {
  if (gate_->must_end(token_count)) return true;
  return token_limit_.has_value() && *token_limit_ - token_count <= closing_tokens_;
}

absl::Status Sequence::TakeReasoning(TokenId token) {
  const int size = grammar().tokenizer().vocabulary().size();
  if (token < 0 || token >= size) return TokenOutOfRange("", token, size);
  const std::optional<ReasoningGate::Place> next =
      NextPlace(static_cast<ReasoningGate::Place>(history_.state()), token_count(), token);
  if (!next.has_value()) return Refused(token, "the reasoning must end");
  const bool ended = gate_->ended(*next);
  history_.Push(token, ended ? 0 : static_cast<TokenHistory::State>(*next));
  if (ended) text_begin_ = token_count();
  return absl::OkStatus();
}

std::optional<ReasoningGate::Place> Sequence::NextPlace(ReasoningGate::Place place, int token_count,
                                                        TokenId token) const {
  const int size = grammar().tokenizer().vocabulary().size();
  if (token < 0 || token >= size) return std::nullopt;
  if (MustEndReasoning(token_count) && token != gate_->NextOfEnd(place)) return std::nullopt;
  return gate_->Next(place, token);
}

// A rollback may go back over the text's begin: the matcher gives back what is of the text, the
// history all of it, and the row is in its reasoning again.
absl::Status Sequence::Rollback(int count) {
  if (count < 0 || count > token_count()) {
    return ErrorAt(absl::StatusCode::kOutOfRange, "", "ROLLBACK_OUT_OF_RANGE",
                   absl::StrCat("cannot take back ", count, " of ", token_count(), " tokens"));
  }
  if (count == 0) return absl::OkStatus();  // so says each move, whose token asks for the mask
  const int in_text = reasoning() || is_observed_ ? 0 : std::min(count, text_tokens());
  narrowed_.reset();
  if (absl::Status back = matcher_.Rollback(in_text); !back.ok()) return back;
  history_.Pop(count);
  if (observed_end_.value_or(0) > token_count()) observed_end_.reset();
  if (text_begin_.value_or(0) > token_count()) text_begin_.reset();
  PlanClosing();
  return absl::OkStatus();
}

// At UNAVAILABLE the row is asked again, on a thread that may make masks and narrow them.
absl::Status Sequence::FillPositions(const Draft& draft, std::vector<SequencePosition>* positions,
                                     NewMasks new_masks, const FailedMasks* failed) const {
  positions->clear();
  if (is_observed_) return FillObserved(draft, positions);
  absl::Status filled = reasoning() ? FillMixed(draft, new_masks, positions)
                                    : FillText(draft, new_masks, failed, positions);
  const bool is_bounded = min_tokens_ > 0 || token_limit_.has_value() || max_tokens_.has_value() ||
                          max_characters_.has_value();
  if (!is_bounded || absl::IsUnavailable(filled)) return filled;
  const bool stood = !positions->empty() && positions->front().state != State::kInvalid;
  if (absl::Status narrowed = Narrow(draft, new_masks, positions); !narrowed.ok()) return narrowed;
  if (!reasoning() && !positions->empty()) narrowed_ = positions->front().mask;
  if (!stood || positions->front().state != State::kInvalid) return filled;
  return ErrorAt(absl::StatusCode::kResourceExhausted, "options.max_tokens", "LIMIT_EXCEEDED",
                 absl::StrCat("the text has its ", *max_tokens_, " tokens and cannot end"));
}

std::unique_ptr<const FailedMasks> Sequence::MakeMasks(const Draft& draft) const {
  if (is_observed_ || reasoning() || finished()) return nullptr;
  FailedMasks masks;
  masks.error = matcher_.MaskDraft(draft, &masks.made);
  return masks.error.ok() ? nullptr : std::make_unique<const FailedMasks>(std::move(masks));
}

absl::Status Sequence::FillText(const Draft& draft, NewMasks new_masks, const FailedMasks* failed,
                                std::vector<SequencePosition>* positions) const {
  if (failed != nullptr) {
    AddDraft(draft, failed->made, positions);
    return failed->error;
  }
  if (draft.tokens.empty()) {
    absl::StatusOr<MaskRef> mask = matcher_.Mask(new_masks);
    if (!mask.ok()) {
      positions->emplace_back();
      return mask.status();
    }
    const bool finished = matcher_.finished();
    positions->push_back({finished ? State::kFinished : State::kMasked,
                          finished || matcher_.may_end(), *std::move(mask), text_tokens(),
                          token_count(), characters(), matcher_.place()});
    return absl::OkStatus();
  }
  DraftMasks masks;
  absl::Status filled = matcher_.MaskDraft(draft, &masks, new_masks);
  AddDraft(draft, masks, positions);
  return filled;
}

void Sequence::AddDraft(const Draft& draft, const DraftMasks& masks,
                        std::vector<SequencePosition>* positions) const {
  for (const DraftPosition& position : masks.positions) positions->push_back(FromMatcher(position));
  for (std::size_t i = 0; i < positions->size(); ++i) {
    SequencePosition& position = (*positions)[i];
    if (i == 0) {
      position.text_tokens = text_tokens();
      position.token_count = token_count();
      position.characters = characters();
    } else {
      CountBehind((*positions)[PositionBefore(draft, i - 1)], draft.tokens[i - 1], &position);
    }
  }
}

// A draft that begins in the reasoning: its positions there are the gate's; those behind an end are
// the matcher's, which stands at the start of the text, as a draft of their own.
struct Sequence::Walk {
  // Where a position stands.
  struct Node {
    ReasoningGate::Place place = 0;  // in the reasoning
    int text_position = -1;          // in the text: which position of `text` it is
  };
  absl::InlinedVector<Node, 8> nodes;
  std::vector<TokenId> text_tokens;
  std::vector<int> text_parents;

  // Adds a token behind a position of the text; gives its own position there.
  int AddText(TokenId token, int position_before) {
    text_tokens.push_back(token);
    text_parents.push_back(position_before - 1);
    return static_cast<int>(text_tokens.size());
  }
};

absl::Status Sequence::FillMixed(const Draft& draft, NewMasks new_masks,
                                 std::vector<SequencePosition>* positions) const {
  if (absl::Status checked = CheckDraft(draft); !checked.ok()) return checked;
  Walk walk;
  walk.nodes.resize(draft.tokens.size() + 1);
  positions->resize(draft.tokens.size() + 1);
  walk.nodes[0].place = static_cast<ReasoningGate::Place>(history_.state());
  FillReasoning(walk.nodes[0].place, token_count(), &(*positions)[0]);
  for (std::size_t i = 0; i < draft.tokens.size(); ++i)
    StepInReasoning(draft.tokens[i], PositionBefore(draft, i), i + 1, &walk, positions);
  DraftMasks masks;
  absl::Status filled =
      matcher_.MaskDraft({walk.text_tokens, walk.text_parents}, &masks, new_masks);
  for (std::size_t i = 0; i < positions->size(); ++i) {
    if (walk.nodes[i].text_position < 0) continue;
    SequencePosition& position = (*positions)[i];
    const SequencePosition counted =
        std::exchange(position, FromMatcher(masks.positions[walk.nodes[i].text_position]));
    position.text_tokens = counted.text_tokens;
    position.token_count = counted.token_count;
    position.characters = counted.characters;
  }
  return filled;
}

void Sequence::StepInReasoning(TokenId token, std::size_t before, std::size_t at, Walk* walk,
                               std::vector<SequencePosition>* positions) const {
  const Walk::Node& from = walk->nodes[before];
  const SequencePosition& position = (*positions)[before];
  if (from.text_position >= 0) {
    walk->nodes[at].text_position = walk->AddText(token, from.text_position);
    CountBehind(position, token, &(*positions)[at]);
    return;
  }
  if (position.state == State::kInvalid) return;
  const int tokens_before = position.token_count;
  const auto next = NextPlace(from.place, tokens_before, token);
  if (!next.has_value()) return;
  if (gate_->ended(*next)) {
    walk->nodes[at].text_position = 0;
    (*positions)[at].text_tokens = 0;
    (*positions)[at].token_count = tokens_before + 1;
    return;
  }
  walk->nodes[at].place = *next;
  FillReasoning(*next, tokens_before + 1, &(*positions)[at]);
}

void Sequence::FillReasoning(ReasoningGate::Place place, int token_count,
                             SequencePosition* position) const {
  position->state = State::kFree;
  position->token_count = token_count;
  if (!MustEndReasoning(token_count)) return;
  TokenMask mask(grammar().tokenizer().vocabulary().size());
  // One token: the end is forced, whatever the model would say.
  mask.Allow(gate_->NextOfEnd(place));
  position->state = State::kMasked;
  position->mask = std::make_shared<const TokenMask>(std::move(mask));
}

// A token that is none is of a draft that is refused.
void Sequence::CountBehind(const SequencePosition& before, TokenId token,
                           SequencePosition* position) const {
  const bool is_token = token >= 0 && token < grammar().tokenizer().vocabulary().size();
  position->text_tokens = before.text_tokens + 1;
  position->token_count = before.token_count + 1;
  position->characters = before.characters + (is_token ? CharactersOf(token) : 0);
}

absl::Status Sequence::Narrow(const Draft& draft, NewMasks new_masks,
                              std::vector<SequencePosition>* positions) const {
  for (std::size_t i = 0; i < positions->size(); ++i) {
    SequencePosition& position = (*positions)[i];
    if (i > 0 && position.state != State::kInvalid) {
      const SequencePosition& before = (*positions)[PositionBefore(draft, i - 1)];
      const bool allowed = before.mask == nullptr || before.mask->Allows(draft.tokens[i - 1]);
      // A draft token that the narrowed mask takes away has no position, nor what comes after it.
      if (before.state == State::kInvalid || !allowed) position = {};
    }
    if (position.state != State::kMasked || position.text_tokens < 0) continue;
    if (absl::Status narrowed = NarrowOne(new_masks, &position); !narrowed.ok()) {
      std::fill(positions->begin() + static_cast<std::ptrdiff_t>(i), positions->end(),
                SequencePosition());
      return narrowed;
    }
  }
  return absl::OkStatus();
}

absl::Status Sequence::NarrowOne(NewMasks new_masks, SequencePosition* position) const {
  const bool is_full = max_tokens_.has_value() && position->text_tokens >= *max_tokens_;
  if (is_full && !position->may_end) {
    *position = {};
    return absl::OkStatus();
  }
  if (max_characters_.has_value()) {
    absl::StatusOr<MaskRef> mask =
        closing_->characters().Narrow(matcher_.stepper(), position->place, position->mask,
                                      *max_characters_ - position->characters, new_masks);
    if (!mask.ok()) return mask.status();
    position->mask = *std::move(mask);
  }
  if (!is_full) HoldMinimum(position);
  const auto left = TokensLeft(position->text_tokens, position->token_count);
  if (left.value_or(ClosingMasks::kFrom + 1) > ClosingMasks::kFrom) return absl::OkStatus();
  MaskRef mask = closing_->Narrow(matcher_.stepper(), position->place, position->mask,
                                  static_cast<int>(*left), new_masks);
  if (mask == nullptr) return NotMadeYet();
  position->mask = std::move(mask);
  return absl::OkStatus();
}

void Sequence::HoldMinimum(SequencePosition* position) const {
  if (!position->may_end || position->text_tokens >= min_tokens_) return;
  // Where nothing but the end can come, min_tokens is not kept: a row is never stuck by it.
  if (MaskRef open = WithoutStops(*position->mask); open != nullptr) {
    position->mask = std::move(open);
    position->may_end = false;
  }
}

MaskRef Sequence::WithoutStops(TokenMask mask) const {
  for (const TokenId id : matcher_.stop_ids()) mask.Forbid(id);
  return mask.empty() ? nullptr : std::make_shared<const TokenMask>(std::move(mask));
}

bool Sequence::IsStop(TokenId token) const {
  return std::ranges::binary_search(matcher_.stop_ids(), token);
}

absl::StatusOr<ForcedTokens> Sequence::FindForced(int max_bytes) const {
  ForcedTokens forced;
  if (is_observed_) return forced;
  if (!reasoning()) return matcher_.FindForcedTokens(max_bytes);
  if (!MustEndReasoning(token_count())) return forced;
  forced.tokens = gate_->Rest(static_cast<ReasoningGate::Place>(history_.state()));
  forced.certain_tokens = static_cast<int>(forced.tokens.size());
  for (const TokenId token : forced.tokens)
    absl::StrAppend(&forced.bytes, grammar().tokenizer().vocabulary().TokenBytes(token));
  return forced;
}

}  // namespace maskd::service
