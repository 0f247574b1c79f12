#include "tests/service/streams/session_model.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "grammar_core/matcher/matcher.h"

namespace maskd::service {
namespace {

using State = ModelPosition::State;
using Tokens = std::vector<TokenId>;

// The tokens behind the reasoning's end; nothing while there is none.
std::optional<Tokens> TextOf(const ModelRow& row, const Tokens& tokens) {
  if (!row.gate.has_value()) return tokens;
  const auto end = std::ranges::search(tokens, row.gate->end_tokens);
  if (end.empty()) return std::nullopt;
  return Tokens(end.end(), tokens.end());
}

// Where in `parents` (empty: a chain) token i hangs.
int ParentOf(const RowToMove& move, int i) {
  return move.draft_parents.empty() ? i - 1 : move.draft_parents[static_cast<std::size_t>(i)];
}

Tokens PathTo(const RowToMove& move, int i) {
  Tokens path;
  for (; i >= 0; i = ParentOf(move, i))
    path.insert(path.begin(), move.drafts[static_cast<std::size_t>(i)]);
  return path;
}

std::string CheckPosition(const ModelPosition& expected, const Position& position,
                          const TokenMask& read) {
  const bool full = expected.state == State::kFree || expected.state == State::kFinished;
  const auto state = full                                ? Position::State::kFull
                     : expected.state == State::kRefused ? Position::State::kInvalid
                                                         : Position::State::kMasked;
  if (position.state != state) return "a position's state";
  if (state != Position::State::kMasked) return "";
  if (read.empty()) return "a mask without any token";
  return read == *expected.mask ? "" : "a mask";
}

RowState StateOf(const ModelPosition& position) {
  if (position.state == State::kFree) return RowState::kFree;
  return position.state == State::kFinished ? RowState::kFinished : RowState::kActive;
}

}  // namespace

ModelPosition PositionOf(const ModelRow& row, const Tokens& tokens) {
  const int size = row.grammar->tokenizer().vocabulary().size();
  const std::optional<Tokens> text = TextOf(row, tokens);
  const auto reasoning = tokens.size() - (text.has_value() ? text->size() : 0);
  const bool known =
      std::all_of(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(reasoning),
                  [size](TokenId token) { return token >= 0 && token < size; });
  if (!known || !text.has_value()) return {known ? State::kFree : State::kRefused};
  Matcher matcher(row.grammar);
  for (const TokenId token : *text)
    if (!matcher.Accept(token).ok()) return {};
  if (matcher.finished()) return {State::kFinished};
  // A copy: the matcher's is the grammar's own, which lives on in the row.
  return {State::kMasked, std::make_shared<const TokenMask>(**matcher.Mask())};
}

std::optional<int> ApplyMove(const RowToMove& move, ModelRow* row) {
  if (move.rollback > static_cast<int>(row->tokens.size())) return std::nullopt;
  row->tokens.resize(row->tokens.size() - static_cast<std::size_t>(move.rollback));
  for (std::size_t i = 0; i < move.tokens.size(); ++i) {
    row->tokens.push_back(move.tokens[i]);
    if (PositionOf(*row, row->tokens).state != State::kRefused) continue;
    row->tokens.pop_back();
    return static_cast<int>(i);
  }
  return std::nullopt;
}

bool TakeOpening(ModelRow* row) {
  RowToMove opening;
  opening.tokens = std::exchange(row->tokens, {});
  return !ApplyMove(opening, row).has_value();
}

std::string CheckAnswer(const ModelRow& row, const RowToMove* move, bool drafts_looked_at,
                        const RowResult& answer, const std::vector<TokenMask>& read_masks) {
  const std::size_t drafts = drafts_looked_at ? move->drafts.size() : 0;
  if (answer.positions.size() != drafts + 1) return "the number of positions";
  if (answer.token_count != static_cast<int>(row.tokens.size())) return "token_count";
  const ModelPosition here = PositionOf(row, row.tokens);
  if (answer.state != StateOf(here)) return "state";
  for (std::size_t i = 0; i <= drafts; ++i) {
    Tokens tokens = row.tokens;
    const Tokens path = i == 0 ? Tokens() : PathTo(*move, static_cast<int>(i) - 1);
    const bool padded = std::ranges::find(path, -1) != path.end();
    tokens.insert(tokens.end(), path.begin(), path.end());
    const ModelPosition expected = padded ? ModelPosition() : PositionOf(row, tokens);
    const std::string wrong = CheckPosition(expected, answer.positions[i], read_masks[i]);
    if (!wrong.empty())
      return absl::StrCat(wrong, " (position ", i, ") after tokens ", absl::StrJoin(tokens, " "));
  }
  return "";
}

}  // namespace maskd::service
