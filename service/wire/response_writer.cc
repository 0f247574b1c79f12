// The types of the core and of the session become messages. This is the whole reply for calls that
// are no steps, and for rows of a step the part that reply_writer.cc does not write itself: both
// use the same functions for a row, so there is one place that says what a field holds.
//
// Invariant  every text that goes out is valid UTF-8; bytes that are none are replaced.
//            Fields of type `bytes` are left as they are: a token may end within a character.
// Errors     none. What is written was made by this server, so what does not hold is a bug.
// Threads    no state; called on the thread that has the step or the call. Nothing waits.
// Cost       a copy of each mask, list and text into its message. A row that most steps have is
//            written by reply_writer.cc instead; a field that changes here changes there as well.
#include "service/wire/response_writer.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "cache/load_error.h"
#include "grammar_core/base/error.h"
#include "grammar_core/compile/grammar_format.h"
#include "service/base/errors.h"

namespace maskd::service {
namespace {

// Tokens at most that a refused text or token is shown instead of.
constexpr int kAllowedSample = 16;

// A big-endian machine would have to turn each word; there is no code for that.
static_assert(std::endian::native == std::endian::little,
              "dense masks are sent as the words lie in memory");

// What ToGrpcStatus() says of a call, said of a row: same reason, same place, same hint when to
// come again. So a client needs one reading of errors for both.
void WriteRowError(const absl::Status& error, const Rare<RefusedToken>& token, v1::RowError* out) {
  out->set_code(static_cast<int>(error.code()));
  out->set_reason(WireReason(error));
  out->set_message(ValidUtf8(error.message()));
  out->set_place(ValidUtf8(ErrorPlace(error)));
  if (const std::optional<std::int64_t> retry = cache::RetryAfterMs(error); retry.has_value())
    out->set_retry_after_ms(static_cast<std::uint32_t>(*retry));
  if (token.has_value()) {
    out->mutable_token()->set_index(static_cast<std::uint32_t>(token->index));
    out->mutable_token()->set_id(token->id);
    out->mutable_token()->set_text(token->text);
  }
}

void WriteDelta(const MaskDelta& delta, v1::MaskDelta* out) {
  out->set_base(static_cast<std::uint32_t>(delta.base));
  out->mutable_word_indices()->Assign(delta.word_indices.begin(), delta.word_indices.end());
  out->mutable_words()->Assign(delta.words.begin(), delta.words.end());
}

// The form was chosen with the server's copy of the client's dictionary (mask_dictionary.h). Here
// it is only written: another form would put the two copies apart.
void WriteMask(const TokenMask& mask, const MaskForm& form, int mask_words, v1::Position* out) {
  switch (form.kind) {
    case MaskForm::Kind::kDense:
      return WriteDense(mask, mask_words, out->mutable_dense());
    case MaskForm::Kind::kSameAs:
      return out->set_same_as(static_cast<std::uint32_t>(form.slot));
    case MaskForm::Kind::kAllowedIds:
      return out->mutable_allowed_ids()->mutable_ids()->Assign(form.ids->begin(), form.ids->end());
    case MaskForm::Kind::kForbiddenIds:
      return out->mutable_forbidden_ids()->mutable_ids()->Assign(form.ids->begin(),
                                                                 form.ids->end());
    case MaskForm::Kind::kDelta:
      return WriteDelta(*form.delta, out->mutable_delta());
  }
}

void WriteBias(const LogitBias& bias, v1::LogitBias* out) {
  out->set_id(bias.id);
  out->set_bias(bias.bias);
}

// A full or invalid position has no mask, so it takes no slot and carries no temperature.
void WritePosition(const Position& position, int mask_words, v1::Position* out) {
  if (position.state == Position::State::kFull) return out->set_full(true);
  if (position.state == Position::State::kInvalid) return out->set_invalid(true);
  WriteMask(*position.mask, position.form, mask_words, out);
  if (position.form.put.has_value())
    out->set_dictionary_slot(static_cast<std::uint32_t>(*position.form.put));
  if (position.temperature.has_value()) out->set_temperature(*position.temperature);
  for (const LogitBias& bias : position.biases) {
    // As reply_writer.cc: a bias of a forbidden token says nothing.
    if (position.mask->Allows(bias.id)) WriteBias(bias, out->add_biases());
  }
}

// The certain tokens stand in both lists. An engine may append those unasked; the longer list is
// only to be sent as drafts, since what follows may change its last tokens.
void WriteForced(const ForcedTokens& forced, v1::RowReply* out) {
  out->set_forced_bytes(forced.bytes);
  const auto certain = forced.tokens.begin() + forced.certain_tokens;
  out->mutable_forced_tokens()->Assign(forced.tokens.begin(), certain);
  out->mutable_forced_draft()->Assign(forced.tokens.begin(), forced.tokens.end());
}

// For snapshots: the gate as it was asked for. The row that is opened from it takes its tokens
// again and so comes to the same place of the reasoning.
void WriteGate(const GateRequest& gate, v1::ReasoningGate* out) {
  out->mutable_end_tokens()->Assign(gate.end_tokens.begin(), gate.end_tokens.end());
  out->set_style(gate.style);
  out->mutable_prompt_tail()->Assign(gate.prompt_tail.begin(), gate.prompt_tail.end());
  if (gate.max_tokens.has_value())
    out->set_max_tokens(static_cast<std::uint32_t>(*gate.max_tokens));
  out->set_constrain_inside(gate.constrain_inside);
}

// The cut is written first in meaning: the client takes its answer back to it, then appends. A cut
// that is there and all 0 means "from the start", which absent does not.
void WriteAnswer(const AnswerDelta& delta, v1::AnswerDelta* out) {
  if (delta.cut.has_value()) {
    v1::AnswerSize* const cut = out->mutable_cut();
    cut->set_reasoning_content(delta.cut->reasoning);
    cut->set_content(delta.cut->content);
    cut->set_tool_calls(static_cast<std::uint32_t>(delta.cut->calls));
    cut->set_id(static_cast<std::uint32_t>(delta.cut->id));
    cut->set_arguments(delta.cut->arguments);
  }
  out->set_reasoning_content(delta.reasoning);
  out->set_content(delta.content);
  for (const AnswerDelta::Call& call : delta.calls) {
    v1::ToolCallDelta* const more = out->add_tool_calls();
    more->set_index(static_cast<std::uint32_t>(call.index));
    more->set_id(call.id);
    more->set_name(call.name);
    more->set_arguments(call.arguments);
  }
}

// Whole texts for Check, which are strings on the wire; a stream's deltas are bytes.
void WriteMessage(const ChatMessage& message, v1::ChatMessage* out) {
  out->set_reasoning_content(ValidUtf8(message.reasoning));
  out->set_content(ValidUtf8(message.content));
  for (const ChatCall& call : message.calls) {
    v1::ChatToolCall* const wire = out->add_tool_calls();
    wire->set_id(ValidUtf8(call.id));
    wire->set_name(call.name);
    wire->set_arguments(ValidUtf8(call.arguments));
  }
}

// A sample, for people who ask why a text was refused: the whole mask may be the vocabulary.
void WriteAllowed(const TokenMask& mask, const Vocabulary& vocabulary, v1::CheckStop* out) {
  out->set_allowed_count(mask.CountAllowed());
  mask.VisitAllowedWhile([&](TokenId id) {
    v1::AllowedToken* token = out->add_allowed_sample();
    token->set_id(id);
    token->set_text(std::string(vocabulary.TokenBytes(id)));
    return out->allowed_sample_size() < kAllowedSample;
  });
}

// Full and dense come first and always: every client must read them, so a mask can be sent whatever
// the client has offered.
void WriteForms(const FormTerms& forms, v1::Welcome* out) {
  out->add_row_forms(v1::ROW_FORM_FULL);
  out->add_row_forms(v1::ROW_FORM_DENSE);
  const std::pair<bool, v1::RowForm> others[] = {
      {forms.same_as, v1::ROW_FORM_SAME_AS},
      {forms.allowed_ids, v1::ROW_FORM_ALLOWED_IDS},
      {forms.forbidden_ids, v1::ROW_FORM_FORBIDDEN_IDS},
      {forms.delta, v1::ROW_FORM_DELTA},
  };
  for (const auto& [used, form] : others)
    if (used) out->add_row_forms(form);
  out->set_dictionary_size(static_cast<std::uint32_t>(forms.dictionary_size));
}

}  // namespace

void WriteTokenizer(const LoadedTokenizer& tokenizer, v1::Tokenizer* out) {
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  out->set_name(tokenizer.name());
  out->set_hash(vocabulary.hash());
  out->set_vocab_size(vocabulary.size());
  out->set_mask_words(MaskWordCount(vocabulary.size()));
  out->mutable_stop_ids()->Assign(vocabulary.stop_ids().begin(), vocabulary.stop_ids().end());
  out->mutable_special_ids()->Assign(vocabulary.special_ids().begin(),
                                     vocabulary.special_ids().end());
  out->set_max_token_bytes(vocabulary.max_token_bytes());
}

// The caller has counted the page (CountReply()) before it is made here.
void WriteTokens(const Vocabulary& vocabulary, TokenId begin, TokenId end,
                 v1::ListTokensResponse* response) {
  for (TokenId id = begin; id < end; ++id) {
    v1::Token* const token = response->add_tokens();
    token->set_text(std::string(vocabulary.TokenBytes(id)));
    token->set_special(vocabulary.IsSpecial(id));
  }
  if (end < vocabulary.size()) response->set_next_id(end);
}

void WriteCosts(const GrammarCosts& costs, v1::GrammarCosts* out) {
  out->set_rules(costs.rules);
  out->set_ir_nodes(costs.ir_nodes);
  out->set_terms(costs.terms);
  out->set_held_bytes(costs.held_bytes);
  out->set_compile_us(costs.compile_us);
  out->set_first_mask_us(costs.first_mask_us);
}

void WriteWarning(const Diagnostic& warning, v1::Diagnostic* out) {
  out->set_place(ValidUtf8(warning.place));
  out->set_message(ValidUtf8(warning.message));
}

// Where the text was accepted there is no stop: absent means "nothing was refused".
void WriteCheck(const CheckOutcome& outcome, const Vocabulary& vocabulary, v1::CheckResponse* out) {
  out->set_accepted(outcome.accepted);
  out->set_may_end(outcome.may_end);
  out->set_finished(outcome.finished);
  if (outcome.message.has_value()) WriteMessage(*outcome.message, out->mutable_message());
  if (outcome.accepted) return;
  v1::CheckStop* stop = out->mutable_stop();
  stop->set_byte_offset(outcome.byte_offset);
  if (outcome.token_index >= 0) stop->set_token_index(outcome.token_index);
  stop->set_refused(outcome.refused);
  stop->set_rule_place(ValidUtf8(outcome.rule.place));
  stop->set_rule_begin(static_cast<std::int64_t>(outcome.rule.begin));
  stop->set_rule_end(static_cast<std::int64_t>(outcome.rule.end));
  if (outcome.allowed != nullptr) WriteAllowed(*outcome.allowed, vocabulary, stop);
}

// The terms are settled by now: what is not said here is not used on the stream, and a client may
// rely on that for the stream's whole life.
void WriteWelcome(const LoadedTokenizer& tokenizer, int mask_words, const StreamLimits& limits,
                  const FormTerms& forms, v1::Welcome* out) {
  out->set_protocol_version(kProtocolVersion);
  WriteTokenizer(tokenizer, out->mutable_tokenizer());
  out->set_mask_words(static_cast<std::uint32_t>(mask_words));
  WriteForms(forms, out);
  out->set_grammar_format(std::string(kGrammarFormat));
  v1::StreamLimits* wire = out->mutable_limits();
  wire->set_max_rows(static_cast<std::uint32_t>(limits.max_rows));
  wire->set_max_step_bytes(static_cast<std::uint64_t>(limits.max_step_bytes));
  wire->set_max_row_tokens(static_cast<std::uint32_t>(limits.max_row_tokens));
  wire->set_max_draft_tokens(static_cast<std::uint32_t>(limits.max_draft_tokens));
  wire->set_max_reply_bytes(static_cast<std::uint64_t>(limits.max_reply_bytes));
  wire->set_max_wait_for_compile_ms(static_cast<std::uint32_t>(limits.max_wait_ms));
}

// By name and not by number: the order of our own states may change, that of the wire may not.
v1::RowState WireState(RowState state) {
  switch (state) {
    case RowState::kCompiling:
      return v1::ROW_STATE_COMPILING;
    case RowState::kFree:
      return v1::ROW_STATE_FREE;
    case RowState::kActive:
      return v1::ROW_STATE_ACTIVE;
    case RowState::kFinished:
      return v1::ROW_STATE_FINISHED;
    case RowState::kFailed:
      return v1::ROW_STATE_FAILED;
    case RowState::kRefused:
      break;
  }
  return v1::ROW_STATE_REFUSED;
}

// What OpenRow needs to make the row anew, on this server or another. The grammar goes by its id; a
// server that does not have it answers NOT_FOUND, and the client sends the text. Biases and the
// temperature are the row's own, as they were asked for.
void WriteSnapshot(const RowSnapshot& snapshot, v1::OpenRow* out) {
  out->set_row(snapshot.row);
  out->set_grammar_id(snapshot.grammar_id);
  out->mutable_tokens()->Assign(snapshot.tokens.begin(), snapshot.tokens.end());
  const RowOptions& options = *snapshot.options;
  out->mutable_stop_ids()->Assign(options.stop_ids.begin(), options.stop_ids.end());
  out->set_min_tokens(static_cast<std::uint32_t>(options.min_tokens));
  out->set_want_answer(options.want_answer);
  out->set_observe(options.observe);
  if (snapshot.remaining_tokens.has_value())
    out->set_remaining_tokens(static_cast<std::uint32_t>(*snapshot.remaining_tokens));
  if (options.temperature.has_value()) out->set_temperature(*options.temperature);
  for (const LogitBias& bias : options.biases) WriteBias(bias, out->add_biases());
  if (options.gate.has_value()) WriteGate(*options.gate, out->mutable_reasoning());
}

// A field is set only where there is something to say. An error comes beside the state: a row that
// refused a token is still active and has its masks.
void WriteRow(const RowResult& row, int mask_words, v1::RowReply* out) {
  out->set_row(row.row);
  out->set_state(WireState(row.state));
  out->set_token_count(static_cast<std::uint32_t>(row.token_count));
  out->set_may_end(row.may_end);
  out->set_grammar_id(row.grammar_id);
  for (const Position& position : row.positions)
    WritePosition(position, mask_words, out->add_positions());
  if (row.accepted_drafts.has_value())
    out->set_accepted_drafts(static_cast<std::uint32_t>(*row.accepted_drafts));
  if (row.forced.has_value()) WriteForced(*row.forced, out);
  if (row.answer.has_value()) WriteAnswer(*row.answer, out->mutable_answer());
  if (!row.error.ok()) WriteRowError(row.error, row.refused_token, out->mutable_error());
}

// Zeros first: words behind the vocabulary are padding of the logits and allow nothing.
void WriteDense(const TokenMask& mask, int mask_words, std::string* out) {
  out->assign(static_cast<std::size_t>(mask_words) * sizeof(std::int32_t), '\0');
  mask.CopyTo(out->data());
}

}  // namespace maskd::service
