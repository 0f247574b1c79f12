// A check says how far an input goes and what may follow there. Tokens are taken one by one by a
// row, as a stream would; a text is matched by bytes, since it may be cut into tokens in many ways.
// The mask where a text stops is that of a row that was led there by the longest tokens, if any row
// can be.
//
// Bounds of the whole text (max_characters, max_tokens) are looked at last: they may end it sooner
// than the grammar does, never later.
//
// Invariant  what is refused is the first byte, or the first token, after which no text exists.
// Cost       a walk of the text; with a bound of characters some searches more, by halves.
#include "service/sequences/checker.h"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/marker_table.h"
#include "service/base/errors.h"
#include "service/sequences/row_answer.h"
#include "service/sequences/sequence.h"

namespace maskd::service {
namespace {

// Moves `matcher` over `text` by the longest ordinary tokens. False where none fits, or where other
// ones would: a marker's token is refused where its spelling is data.
absl::StatusOr<bool> AdvanceByText(const LoadedTokenizer& tokenizer, absl::string_view text,
                                   Matcher* matcher) {
  while (!text.empty()) {
    const TokenId token = tokenizer.LongestPrefix(text);
    if (token < 0) return false;
    if (absl::Status taken = matcher->Accept(token); !taken.ok())
      return absl::IsInvalidArgument(taken) ? absl::StatusOr<bool>(false) : taken;
    text.remove_prefix(tokenizer.vocabulary().TokenBytes(token).size());
  }
  return true;
}

// The same; a marker is its token where that may stand.
absl::StatusOr<bool> Advance(const LoadedTokenizer& tokenizer, absl::string_view text,
                             Matcher* matcher) {
  if (!matcher->names_tokens()) return AdvanceByText(tokenizer, text, matcher);
  for (const MarkerTable::Piece& piece : tokenizer.space()->markers().Cut(text)) {
    if (piece.marker != MarkerTable::kNone && matcher->Accept(piece.marker).ok()) continue;
    absl::StatusOr<bool> moved = AdvanceByText(tokenizer, piece.text, matcher);
    if (!moved.ok() || !*moved) return moved;
  }
  return true;
}

// The mask after `taken`, which the grammar accepts; null where tokens do not lead there.
absl::StatusOr<MaskRef> MaskAfter(const cache::GrammarPtr& grammar,
                                  const LoadedTokenizer& tokenizer, absl::string_view taken) {
  Matcher matcher(grammar);
  absl::StatusOr<bool> reached = Advance(tokenizer, taken, &matcher);
  if (!reached.ok()) return reached.status();
  return *reached ? matcher.Mask() : absl::StatusOr<MaskRef>(nullptr);
}

// Where the row stands: what may come next, and whether the text may end there.
absl::Status Describe(const Sequence& row, CheckOutcome* outcome) {
  std::vector<SequencePosition> positions;
  if (absl::Status filled = row.FillPositions({}, &positions); !filled.ok()) return filled;
  outcome->allowed = positions.front().mask;
  outcome->may_end = positions.front().may_end;
  return absl::OkStatus();
}

// The text is refused from there on, where nothing was wrong with it but its length.
void EndAt(std::size_t byte_offset, bool may_end, absl::string_view text, CheckOutcome* outcome) {
  outcome->accepted = false;
  outcome->may_end = may_end;
  outcome->byte_offset = static_cast<std::int64_t>(byte_offset);
  outcome->refused = std::string(text.substr(byte_offset, 1));
  outcome->rule = RulePlace();  // no rule of the source says it
}

// What the grammar takes of a text, up to where nothing that follows has a complete text within its
// characters.
absl::Status HoldToMaxCharacters(const Matcher& matcher, absl::string_view text,
                                 CheckOutcome* outcome) {
  const auto most = matcher.grammar().source().options.max_characters;
  if (!most.has_value()) return absl::OkStatus();
  const absl::string_view taken = text.substr(0, static_cast<std::size_t>(outcome->byte_offset));
  const auto within = matcher.MatchWithinCharacters(taken, static_cast<int>(*most));
  if (!within.ok()) return within.status();
  const auto bytes = static_cast<std::size_t>(within->matched_bytes);
  if (bytes == taken.size()) return absl::OkStatus();
  EndAt(bytes, within->may_end, text, outcome);
  outcome->allowed = nullptr;
  return absl::OkStatus();
}

// A text that the grammar takes, with more tokens than it may have however it is cut: up to where
// it has that many.
void HoldToMaxTokens(const Matcher& matcher, absl::string_view text, CheckOutcome* outcome) {
  const std::optional<int> most = matcher.grammar().source().options.max_tokens;
  if (!most.has_value() || !outcome->accepted) return;
  const std::size_t bytes = matcher.BytesOfTokens(text, *most);
  if (bytes < text.size()) EndAt(bytes, false, text, outcome);
}

// Reads what was taken back as an answer, where that can be.
template <typename Read>
absl::Status ReadBack(const CompiledGrammar& grammar, const Read& read, CheckOutcome* outcome) {
  if (grammar.source().kind != "chat") return absl::OkStatus();
  absl::StatusOr<std::shared_ptr<const AnswerPlan>> plan = AnswerPlanOf(grammar);
  if (absl::IsUnimplemented(plan.status())) return absl::OkStatus();
  if (!plan.ok()) return plan.status();
  AnswerReader reader(*std::move(plan));
  read(&reader);
  // A text that may end there is read as one that does; else its last part stays open.
  if (outcome->may_end) reader.End();
  outcome->message = reader.message();
  return absl::OkStatus();
}

// `text_tokens` becomes the number of tokens taken before the end.
absl::StatusOr<CheckOutcome> WalkTokens(const cache::GrammarPtr& grammar,
                                        const std::vector<TokenId>& tokens,
                                        std::size_t* text_tokens) {
  const Vocabulary& vocabulary = grammar->tokenizer().vocabulary();
  Sequence row(grammar, {});
  CheckOutcome outcome;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] < 0 || tokens[i] >= vocabulary.size())
      return TokenOutOfRange(absl::StrCat("tokens.ids[", i, "]"), tokens[i], vocabulary.size());
    const absl::Status taken = row.Take(tokens[i]);
    if (absl::IsInvalidArgument(taken)) {
      outcome.token_index = static_cast<int>(i);
      outcome.refused = std::string(vocabulary.TokenBytes(tokens[i]));
      if (absl::Status described = Describe(row, &outcome); !described.ok()) return described;
      return outcome;
    }
    if (!taken.ok()) return taken;
    *text_tokens += row.finished() ? 0 : 1;
    if (!vocabulary.IsSpecial(tokens[i]) && !row.finished())
      outcome.byte_offset += static_cast<std::int64_t>(vocabulary.TokenBytes(tokens[i]).size());
  }
  if (absl::Status described = Describe(row, &outcome); !described.ok()) return described;
  outcome.allowed = nullptr;
  outcome.accepted = true;
  outcome.finished = row.finished();
  return outcome;
}

// Nothing where the token's text is no fault of it: what is bounded is tokens, or the grammar names
// another one.
RulePlace PlaceOfRefusal(const cache::GrammarPtr& grammar, std::span<const TokenId> tokens,
                         absl::string_view refused) {
  std::string text;
  for (const TokenId token : tokens)
    absl::StrAppend(&text, grammar->tokenizer().vocabulary().TokenBytes(token));
  const std::size_t before = text.size();
  absl::StrAppend(&text, refused);
  const absl::StatusOr<Matcher::TextMatch> match = Matcher(grammar).MatchText(text);
  const auto matched = match.ok() ? static_cast<std::size_t>(match->matched_bytes) : before;
  if (matched == text.size() || matched < before) return {};
  return RulePlaceBehind(grammar, absl::string_view(text).substr(0, matched));
}

}  // namespace

absl::StatusOr<CheckOutcome> CheckTokens(const cache::GrammarPtr& grammar,
                                         const std::vector<TokenId>& tokens) {
  std::size_t text_tokens = 0;
  absl::StatusOr<CheckOutcome> outcome = WalkTokens(grammar, tokens, &text_tokens);
  if (!outcome.ok()) return outcome;
  if (!outcome->accepted) {
    const auto taken = std::span(tokens).first(static_cast<std::size_t>(outcome->token_index));
    outcome->rule = PlaceOfRefusal(grammar, taken, outcome->refused);
  }
  const auto read = [&](AnswerReader* reader) {
    for (std::size_t i = 0; i < text_tokens; ++i) reader->ReadToken(tokens[i]);
  };
  if (absl::Status back = ReadBack(*grammar, read, &*outcome); !back.ok()) return back;
  return outcome;
}

absl::StatusOr<CheckOutcome> CheckText(const cache::GrammarPtr& grammar,
                                       const LoadedTokenizer& tokenizer, absl::string_view text) {
  Matcher matcher(grammar);
  const absl::StatusOr<Matcher::TextMatch> match = matcher.MatchText(text);
  if (!match.ok()) return match.status();
  const auto matched = static_cast<std::size_t>(match->matched_bytes);
  CheckOutcome outcome;
  outcome.accepted = matched == text.size();
  outcome.may_end = match->may_end;
  outcome.byte_offset = match->matched_bytes;
  if (!outcome.accepted) {
    absl::StatusOr<MaskRef> allowed = MaskAfter(grammar, tokenizer, text.substr(0, matched));
    if (!allowed.ok()) return allowed.status();
    outcome.allowed = *std::move(allowed);
    outcome.refused = std::string(text.substr(matched, 1));
    outcome.rule = RulePlaceBehind(grammar, text.substr(0, matched));
  }
  if (absl::Status held = HoldToMaxCharacters(matcher, text, &outcome); !held.ok()) return held;
  HoldToMaxTokens(matcher, text, &outcome);
  const auto read = [&](AnswerReader* reader) {
    reader->ReadText(text.substr(0, static_cast<std::size_t>(outcome.byte_offset)));
  };
  if (absl::Status back = ReadBack(*grammar, read, &outcome); !back.ok()) return back;
  return outcome;
}

}  // namespace maskd::service
