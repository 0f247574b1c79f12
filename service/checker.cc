#include "service/checker.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/base/error.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/completion/fewest_tokens.h"
#include "grammar_core/completion/shortest_path.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/marker_table.h"
#include "service/errors.h"
#include "service/row_answer.h"
#include "service/sequence.h"

namespace maskd::service {
namespace {

// Moves `matcher` over `text` by the longest ordinary tokens. False where none fits, or, in a
// grammar that names tokens, where other ones would.
absl::StatusOr<bool> AdvanceByText(const LoadedTokenizer& tokenizer, absl::string_view text,
                                   Matcher* matcher) {
  while (!text.empty()) {
    const TokenId token = tokenizer.LongestPrefix(text);
    if (token < 0) {
      return false;
    }
    if (absl::Status taken = matcher->Accept(token); !taken.ok()) {
      const bool names_tokens = matcher->stepper().states().names_tokens();
      return absl::IsInvalidArgument(taken) && names_tokens ? absl::StatusOr<bool>(false) : taken;
    }
    text.remove_prefix(tokenizer.vocabulary().TokenBytes(token).size());
  }
  return true;
}

// The same; a marker is its token where that may stand.
absl::StatusOr<bool> Advance(const LoadedTokenizer& tokenizer, absl::string_view text,
                             Matcher* matcher) {
  if (!matcher->stepper().states().names_tokens()) return AdvanceByText(tokenizer, text, matcher);
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
  if (!reached.ok()) {
    return reached.status();
  }
  return *reached ? matcher.Mask() : absl::StatusOr<MaskRef>(nullptr);
}

// Where the row stands: what may come next, and whether the text may end there.
absl::Status Describe(const Sequence& row, CheckOutcome* outcome) {
  std::vector<SequencePosition> positions;
  if (absl::Status filled = row.FillPositions({}, &positions); !filled.ok()) {
    return filled;
  }
  outcome->allowed = positions.front().mask;
  outcome->may_end = positions.front().may_end;
  return absl::OkStatus();
}

// What the grammar takes of a text, up to where nothing that follows has a complete text within its
// characters: what is refused stays refused, so the first such place is searched for by halves.
absl::Status HoldToMaxCharacters(const Matcher& matcher, absl::string_view text,
                                 CheckOutcome* outcome) {
  const CompiledGrammar& grammar = matcher.grammar();
  const auto most = grammar.source().options.max_characters;
  if (!most.has_value()) return absl::OkStatus();
  Budget budget = StepBudget(grammar.limits());
  Work work(budget);
  const RowStates& row = matcher.stepper().states();
  const RowStates::Scratch scratch(row);
  std::vector<RowStates::State> states = {matcher.place()};
  for (const char byte : text.substr(0, static_cast<std::size_t>(outcome->byte_offset))) {
    states.push_back(row.Take(states.back(), static_cast<unsigned char>(byte), work));
    if (!work.ok()) return work.error();
    if (states.back() == kNothingTerm) {
      return UnsupportedAt("options.max_characters", "a check of a text",
                           "of which a token that the grammar names is a part: check its tokens");
    }
  }
  const auto fits = [&](const RowStates::State& state) {
    const auto taken = static_cast<std::size_t>(&state - states.data());
    const std::uint32_t characters = CharactersIn(text.substr(0, taken));
    const auto left = static_cast<std::uint32_t>(*most) - characters;
    if (characters > static_cast<std::uint32_t>(*most) || !work.ok()) return false;
    const auto least = SmallestCompletion(row, grammar.tokenizer().vocabulary(), state, left, work);
    return least.ok() && *least <= left;
  };
  const auto end = std::partition_point(states.begin() + 1, states.end(), fits);
  if (!work.ok()) return work.error();
  if (end == states.end()) return absl::OkStatus();
  outcome->byte_offset = end - states.begin() - 1;
  outcome->accepted = false;
  outcome->may_end = row.MayEnd(*(end - 1));
  outcome->allowed = nullptr;
  outcome->refused = std::string(text.substr(static_cast<std::size_t>(outcome->byte_offset), 1));
  return absl::OkStatus();
}

// A text that the grammar takes, with more tokens than it may have however it is cut: up to where
// it has that many.
void HoldToMaxTokens(const CompiledGrammar& grammar, absl::string_view text,
                     CheckOutcome* outcome) {
  const std::optional<int> most = grammar.source().options.max_tokens;
  if (!most.has_value() || !outcome->accepted) return;
  const TokenSearch search = {nullptr, &grammar.tokenizer().index(), {}};
  const std::vector<TokenId> pieces = FewestPieces(search, text);
  if (std::ssize(pieces) <= *most) return;
  outcome->accepted = false;
  outcome->may_end = false;
  outcome->byte_offset = 0;
  for (int i = 0; i < *most; ++i) {
    outcome->byte_offset += std::ssize(grammar.tokenizer().vocabulary().TokenBytes(pieces[i]));
  }
  outcome->refused = std::string(text.substr(outcome->byte_offset, 1));
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
    if (tokens[i] < 0 || tokens[i] >= vocabulary.size()) {
      return TokenOutOfRange(absl::StrCat("tokens.ids[", i, "]"), tokens[i], vocabulary.size());
    }
    const absl::Status taken = row.Take(tokens[i]);
    if (absl::IsInvalidArgument(taken)) {
      outcome.token_index = static_cast<int>(i);
      outcome.refused = std::string(vocabulary.TokenBytes(tokens[i]));
      if (absl::Status described = Describe(row, &outcome); !described.ok()) {
        return described;
      }
      return outcome;
    }
    if (!taken.ok()) {
      return taken;
    }
    *text_tokens += row.finished() ? 0 : 1;
    if (!vocabulary.IsSpecial(tokens[i]) && !row.finished()) {
      outcome.byte_offset += static_cast<std::int64_t>(vocabulary.TokenBytes(tokens[i]).size());
    }
  }
  if (absl::Status described = Describe(row, &outcome); !described.ok()) {
    return described;
  }
  outcome.allowed = nullptr;
  outcome.accepted = true;
  outcome.finished = row.finished();
  return outcome;
}

}  // namespace

absl::StatusOr<CheckOutcome> CheckTokens(const cache::GrammarPtr& grammar,
                                         const std::vector<TokenId>& tokens) {
  std::size_t text_tokens = 0;
  absl::StatusOr<CheckOutcome> outcome = WalkTokens(grammar, tokens, &text_tokens);
  if (!outcome.ok()) return outcome;
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
  if (!match.ok()) {
    return match.status();
  }
  const auto matched = static_cast<std::size_t>(match->matched_bytes);
  CheckOutcome outcome;
  outcome.accepted = matched == text.size();
  outcome.may_end = match->may_end;
  outcome.byte_offset = match->matched_bytes;
  if (!outcome.accepted) {
    absl::StatusOr<MaskRef> allowed = MaskAfter(grammar, tokenizer, text.substr(0, matched));
    if (!allowed.ok()) {
      return allowed.status();
    }
    outcome.allowed = *std::move(allowed);
    outcome.refused = std::string(text.substr(matched, 1));
  }
  if (absl::Status held = HoldToMaxCharacters(matcher, text, &outcome); !held.ok()) {
    return held;
  }
  HoldToMaxTokens(*grammar, text, &outcome);
  const auto read = [&](AnswerReader* reader) {
    reader->ReadText(text.substr(0, static_cast<std::size_t>(outcome.byte_offset)));
  };
  if (absl::Status back = ReadBack(*grammar, read, &outcome); !back.ok()) return back;
  return outcome;
}

}  // namespace maskd::service
