#include "client/cpp/row_ledger.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"

#include "client/cpp/errors.h"

namespace maskd::client {
namespace {

// The rows that were refused something, or those that were answered.
absl::flat_hash_set<RowId> RowsOf(std::span<const RowResult> replies, bool refused) {
  absl::flat_hash_set<RowId> rows;
  for (const RowResult& row : replies) {
    if ((row.state == v1::ROW_STATE_REFUSED) == refused) rows.insert(row.row);
  }
  return rows;
}

// How many of an update's tokens the row took; nothing when the update was refused as a whole, its
// rollback included.
std::optional<int> TakenTokens(const v1::RowUpdate& update, const RowResult& reply, int before) {
  if (reply.error.ok()) return update.tokens_size();
  if (reply.refused_token.has_value()) return static_cast<int>(reply.refused_token->index);
  const int token_count = static_cast<int>(reply.token_count);
  const int taken = token_count - before + static_cast<int>(update.rollback());
  const bool is_whole =
      token_count == before && !absl::StartsWith(ErrorPlace(reply.error), "tokens[");
  if (is_whole || taken < 0 || taken > update.tokens_size()) return std::nullopt;
  return taken;
}

}  // namespace

void RowLedger::Remember(const std::string& grammar_id, const v1::Grammar& grammar) {
  grammars_[grammar_id] = grammar;
}

void RowLedger::Apply(const v1::Step& step, std::span<const RowResult> replies) {
  for (const RowId row : step.close()) rows_.erase(row);
  ApplyForks(step, replies);
  ApplyOpens(step, replies);
  absl::flat_hash_map<RowId, const v1::RowUpdate*> updates;
  for (const v1::RowUpdate& update : step.rows()) updates.try_emplace(update.row(), &update);
  for (const RowResult& answer : replies) {
    const auto row = rows_.find(answer.row);
    if (answer.state == v1::ROW_STATE_REFUSED || row == rows_.end()) continue;
    const auto update = updates.find(answer.row);
    ApplyReply(update == updates.end() ? nullptr : update->second, answer, &row->second);
  }
}

void RowLedger::ApplyForks(const v1::Step& step, std::span<const RowResult> replies) {
  const absl::flat_hash_set<RowId> refused = RowsOf(replies, true);
  for (const v1::ForkRow& fork : step.fork()) {
    const auto parent = rows_.find(fork.parent());
    if (parent == rows_.end() || refused.contains(fork.child())) continue;
    Row child = parent->second;
    child.open.set_row(fork.child());
    rows_.insert_or_assign(fork.child(), std::move(child));
  }
}

void RowLedger::ApplyOpens(const v1::Step& step, std::span<const RowResult> replies) {
  const absl::flat_hash_set<RowId> answered = RowsOf(replies, false);
  for (const v1::OpenRow& open : step.open()) {
    if (rows_.contains(open.row()) || !answered.contains(open.row())) continue;
    Row row;
    row.open = open;
    if (open.has_remaining_tokens()) {
      row.token_limit = std::int64_t{open.tokens_size()} + open.remaining_tokens();
    }
    rows_.emplace(open.row(), std::move(row));
  }
}

void RowLedger::ApplyReply(const v1::RowUpdate* update, const RowResult& reply, Row* row) {
  row->failed = reply.state == v1::ROW_STATE_FAILED;
  if (reply.masks.empty()) return;
  auto& tokens = *row->open.mutable_tokens();
  if (update == nullptr) {
    // A row that was opened with tokens has taken those before a refused one.
    tokens.Truncate(std::min(tokens.size(), static_cast<int>(reply.token_count)));
    return;
  }
  const std::optional<int> taken = TakenTokens(*update, reply, tokens.size());
  if (!taken.has_value()) return;
  tokens.Truncate(std::max(0, tokens.size() - static_cast<int>(update->rollback())));
  tokens.Add(update->tokens().begin(), update->tokens().begin() + *taken);
  if (update->has_remaining_tokens()) {
    row->token_limit = std::int64_t{tokens.size()} + update->remaining_tokens();
  }
}

bool RowLedger::IsFailed(RowId row) const {
  const auto found = rows_.find(row);
  return found != rows_.end() && found->second.failed;
}

void RowLedger::WriteOpens(v1::Step* step) const {
  for (const auto& [id, row] : rows_) {
    v1::OpenRow& open = *step->add_open();
    open = row.open;
    if (const auto text = grammars_.find(open.grammar_id()); text != grammars_.end()) {
      *open.mutable_grammar() = text->second;
    }
    if (row.token_limit.has_value()) {
      open.set_remaining_tokens(static_cast<std::uint32_t>(
          std::max<std::int64_t>(0, *row.token_limit - open.tokens_size())));
    }
  }
}

}  // namespace maskd::client
