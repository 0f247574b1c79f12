// A row is kept as the request that would open it where it stands now: its grammar and all tokens
// that it has taken. A step is booked with its reply, in the order in which a server does it:
// closes, forks, opens, then what each row has taken, of which the reply has the last word.
//
// Invariant  a reply that cannot be true books nothing: what was changed before it showed is put
//            back.
// Cost       linear in the rows and tokens of the step; a fork copies its parent's tokens.
#include "client/cpp/failover/row_ledger.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "client/cpp/base/errors.h"
#include "client/cpp/base/wire_status.h"

namespace maskd::client {
namespace {

// The rows that were refused something, or those that were answered.
absl::flat_hash_set<RowId> RowsOf(std::span<const RowResult> replies, bool refused) {
  absl::flat_hash_set<RowId> rows;
  for (const RowResult& row : replies)
    if ((row.state == v1::ROW_STATE_REFUSED) == refused) rows.insert(row.row);
  return rows;
}

// The rows that must be there before a step: those that it moves, forks or describes, and those
// whose ids it takes.
absl::flat_hash_set<RowId> RowsNeededBy(const v1::Step& step) {
  absl::flat_hash_set<RowId> rows(step.close().begin(), step.close().end());
  rows.insert(step.snapshot().begin(), step.snapshot().end());
  for (const v1::OpenRow& open : step.open()) rows.insert(open.row());
  for (const v1::ForkRow& fork : step.fork()) rows.insert({fork.parent(), fork.child()});
  for (const v1::RowUpdate& update : step.rows())
    if (update.rollback() > 0 || !update.tokens().empty()) rows.insert(update.row());
  return rows;
}

absl::Status CannotGoOn(RowId row, absl::string_view why) {
  return absl::UnavailableError(absl::StrCat("row ", row, " cannot go on here: ", why));
}

// With the server's own words, reason, and time to come again.
absl::Status RefusedHere(const RowResult& reply) {
  return WithDetailsOf(reply.error, CannotGoOn(reply.row, reply.error.message()));
}

// Whether a row was refused for load: the server had no room for its grammar, and may later.
bool IsForLoad(const RowResult& reply) {
  return (reply.state == v1::ROW_STATE_FAILED || reply.state == v1::ROW_STATE_REFUSED) &&
         ErrorRetryAfter(reply.error).has_value();
}

// Whether a row of `before` tokens, which says for the first time where it stands, was opened with
// one that is refused: it stands before that, and has taken nothing else.
bool RefusesOpening(const RowResult& reply, std::size_t before) {
  return !reply.error.ok() && reply.refused_token.has_value() &&
         reply.refused_token->index == reply.token_count && reply.token_count < before;
}

// Whether the row's masks, and nothing else, were refused: they would not have fitted.
bool LacksRoom(const RowResult& reply) {
  return absl::IsResourceExhausted(reply.error) && ErrorPlace(reply.error) == "positions";
}

// Whether an update of a row of `before` tokens was refused as a whole, its rollback included.
bool RefusesAll(const RowResult& reply, std::size_t before) {
  return !reply.error.ok() && reply.token_count == before && !LacksRoom(reply) &&
         !absl::StartsWith(ErrorPlace(reply.error), "tokens[");
}

// Whether a row says where it stands: with masks, or with an error in their place.
bool SaysItsPlace(const RowResult& reply) {
  const bool is_used = reply.state == v1::ROW_STATE_FREE || reply.state == v1::ROW_STATE_ACTIVE ||
                       reply.state == v1::ROW_STATE_FINISHED;
  return !reply.masks.empty() || (is_used && !reply.error.ok());
}

}  // namespace

void RowLedger::Remember(const std::string& grammar_id, const v1::Grammar& grammar) {
  grammars_[grammar_id] = grammar;
}

void RowLedger::WriteTexts(v1::Step* step) const {
  for (v1::OpenRow& open : *step->mutable_open()) WriteText(&open);
}

void RowLedger::WriteText(v1::OpenRow* open) const {
  const auto text = grammars_.find(open->grammar_id());
  if (text != grammars_.end()) *open->mutable_grammar() = text->second;
}

std::vector<RowId> RowLedger::GiveUp(const v1::Step& step) {
  for (const RowId row : step.close()) rows_.erase(row);
  std::vector<RowId> rows;
  for (const v1::OpenRow& open : step.open()) rows.push_back(open.row());
  for (const v1::RowUpdate& update : step.rows()) rows.push_back(update.row());
  for (const v1::ForkRow& fork : step.fork()) rows.push_back(fork.child());
  rows.insert(rows.end(), step.snapshot().begin(), step.snapshot().end());
  for (const auto& [id, row] : rows_)
    if (row.is_late) rows.push_back(id);
  std::vector<RowId> once;
  absl::flat_hash_set<RowId> seen;
  for (const RowId row : rows) {
    if (seen.insert(row).second) once.push_back(row);
    rows_.erase(row);
    given_up_.insert(row);
  }
  return once;
}

void RowLedger::DropCloses(v1::Step* step) {
  if (given_up_.empty()) return;
  auto& closes = *step->mutable_close();
  const auto kept = std::remove_if(closes.begin(), closes.end(),
                                   [this](RowId row) { return given_up_.erase(row) > 0; });
  closes.erase(kept, closes.end());
  for (const v1::OpenRow& open : step->open()) given_up_.erase(open.row());
  for (const v1::ForkRow& fork : step->fork()) given_up_.erase(fork.child());
}

absl::Status RowLedger::Apply(const v1::Step& step, std::span<const RowResult> replies) {
  RowsBefore before;  // the rows that the step opens or closes, as they were
  ApplyCloses(step, &before);
  ApplyForks(step, replies, &before);
  ApplyOpens(step, replies, &before);
  absl::StatusOr<std::vector<Place>> places = PlacesOf(step, replies);
  if (!places.ok()) {
    for (auto& [id, row] : before) Put(id, std::move(row), nullptr);
    return places.status();
  }
  for (const Place& place : *places) MoveTo(place);
  return absl::OkStatus();
}

void RowLedger::Put(RowId id, std::optional<Row> row, RowsBefore* before) {
  const auto found = rows_.find(id);
  if (before != nullptr) {
    before->try_emplace(
        id, found == rows_.end() ? std::nullopt : std::optional(std::move(found->second)));
  }
  if (row.has_value())
    rows_.insert_or_assign(id, *std::move(row));
  else if (found != rows_.end())
    rows_.erase(found);
}

void RowLedger::ApplyCloses(const v1::Step& step, RowsBefore* before) {
  for (const RowId row : step.close()) Put(row, std::nullopt, before);
}

void RowLedger::ApplyForks(const v1::Step& step, std::span<const RowResult> replies,
                           RowsBefore* before) {
  if (step.fork().empty()) return;
  const absl::flat_hash_set<RowId> refused = RowsOf(replies, true);
  for (const v1::ForkRow& fork : step.fork()) {
    const auto parent = rows_.find(fork.parent());
    if (parent == rows_.end() || refused.contains(fork.child())) continue;
    Row child = parent->second;
    child.open.set_row(fork.child());
    for (const RowResult& reply : replies) {
      if (reply.row != fork.parent() || parent->second.is_used) continue;
      auto& tokens = *child.open.mutable_tokens();
      if (!RefusesOpening(reply, static_cast<std::size_t>(tokens.size()))) continue;
      tokens.Truncate(static_cast<int>(reply.token_count));
    }
    Put(fork.child(), std::move(child), before);
  }
}

void RowLedger::ApplyOpens(const v1::Step& step, std::span<const RowResult> replies,
                           RowsBefore* before) {
  if (step.open().empty()) return;
  const absl::flat_hash_set<RowId> answered = RowsOf(replies, false);
  for (const v1::OpenRow& open : step.open()) {
    if (rows_.contains(open.row()) || !answered.contains(open.row())) continue;
    Row row;
    row.open = open;
    if (open.has_remaining_tokens())
      row.token_limit = std::int64_t{open.tokens_size()} + open.remaining_tokens();
    Put(open.row(), std::move(row), before);
  }
}

absl::StatusOr<std::vector<RowLedger::Place>> RowLedger::PlacesOf(
    const v1::Step& step, std::span<const RowResult> replies) {
  absl::flat_hash_map<RowId, const v1::RowUpdate*> updates;
  for (const v1::RowUpdate& update : step.rows()) updates.try_emplace(update.row(), &update);
  absl::flat_hash_set<RowId> answered;
  std::vector<Place> places;
  places.reserve(replies.size());
  for (const RowResult& answer : replies) {
    const auto row = rows_.find(answer.row);
    if (row == rows_.end()) continue;
    if (answer.state == v1::ROW_STATE_REFUSED) {
      if (row->second.is_late) return RefusedHere(answer);
      continue;
    }
    if (row->second.is_late && IsForLoad(answer)) return RefusedHere(answer);
    if (!answered.insert(answer.row).second)
      return absl::InternalError(absl::StrCat("the server answers row ", answer.row, " twice"));
    if (absl::Status same = CheckGrammar(row->second, answer); !same.ok()) return same;
    const auto update = updates.find(answer.row);
    const auto place =
        PlaceOf(update == updates.end() ? nullptr : update->second, answer, &row->second);
    if (!place.ok()) return place.status();
    places.push_back(*place);
  }
  return places;
}

absl::StatusOr<RowLedger::Place> RowLedger::PlaceOf(const v1::RowUpdate* update,
                                                    const RowResult& reply, Row* row) {
  const auto before = static_cast<std::size_t>(row->open.tokens_size());
  Place place = {row, &reply, before, nullptr};
  if (!SaysItsPlace(reply)) {
    // Of a row that compiles an update says at most how many tokens are left.
    const bool is_bounded = reply.state == v1::ROW_STATE_COMPILING && reply.error.ok();
    if (is_bounded) place.update = update;
    return place;
  }
  const bool of_opening = !row->is_used && RefusesOpening(reply, before);
  const bool moves = update != nullptr && !of_opening && !RefusesAll(reply, before);
  if (moves) {
    place.update = update;
    place.kept = before - std::min<std::size_t>(before, update->rollback());
  }
  const std::size_t most =
      place.kept + (moves ? static_cast<std::size_t>(update->tokens_size()) : 0);
  const std::size_t least = reply.error.ok() || LacksRoom(reply) ? most : moves ? place.kept : 0;
  if (reply.token_count < least || reply.token_count > most) {
    return absl::InternalError(absl::StrCat("the server says that row ", reply.row, " has taken ",
                                            reply.token_count, " tokens, not ", least, " to ",
                                            most));
  }
  return place;
}

absl::Status RowLedger::CheckGrammar(const Row& row, const RowResult& reply) const {
  if (row.grammar_id.empty() || reply.grammar_id.empty() || row.format != format_ ||
      row.grammar_id == reply.grammar_id) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "row ", reply.row, " has grammar ", reply.grammar_id, " here, its own is ", row.grammar_id));
}

void RowLedger::MoveTo(const Place& place) const {
  Row& row = *place.row;
  if (row.grammar_id.empty() && !place.reply->grammar_id.empty()) {
    row.grammar_id = std::string(place.reply->grammar_id);
    row.format = format_;
  }
  row.failed = place.reply->state == v1::ROW_STATE_FAILED;
  row.is_late = false;
  auto& tokens = *row.open.mutable_tokens();
  const bool is_used = SaysItsPlace(*place.reply);
  const auto count = is_used ? static_cast<int>(place.reply->token_count) : tokens.size();
  if (is_used) {
    row.is_used = true;
    tokens.Truncate(std::min(count, static_cast<int>(place.kept)));
  }
  if (place.update == nullptr) return;
  const auto begin = place.update->tokens().begin();
  tokens.Add(begin, begin + (count - tokens.size()));
  if (place.update->has_remaining_tokens())
    row.token_limit = std::int64_t{tokens.size()} + place.update->remaining_tokens();
}

absl::Status RowLedger::ApplyReplay(std::span<const RowResult> replies) {
  absl::flat_hash_map<RowId, const RowResult*> answers;
  for (const RowResult& reply : replies) answers.try_emplace(reply.row, &reply);
  for (const auto& [id, reply] : answers) {
    const auto row = rows_.find(id);
    if (row == rows_.end()) continue;
    if (absl::Status same = CheckGrammar(row->second, *reply); !same.ok()) return same;
  }
  for (auto& [id, row] : rows_) {
    if (row.is_late) continue;
    const auto found = answers.find(id);
    if (found == answers.end()) return CannotGoOn(id, "is not answered");
    const RowResult& reply = *found->second;
    if (IsForLoad(reply) && !row.failed) return RefusedHere(reply);
    const auto tokens = static_cast<std::size_t>(row.open.tokens_size());
    if (row.is_used && !row.failed && reply.state != v1::ROW_STATE_COMPILING) {
      const bool lacks_room = LacksRoom(reply);
      if (!reply.error.ok() && !lacks_room) return RefusedHere(reply);
      if (reply.masks.empty() && !lacks_room) return CannotGoOn(id, "has no mask");
      if (reply.token_count != tokens) return CannotGoOn(id, "has not taken its tokens");
    } else if (SaysItsPlace(reply)) {
      MoveTo({&row, &reply, tokens});
    }
  }
  return absl::OkStatus();
}

void RowLedger::WriteOpens(v1::Step* replay, v1::Step* next) {
  const absl::flat_hash_set<RowId> needed = RowsNeededBy(*next);
  for (auto& [id, row] : rows_) {
    row.is_late = !row.is_used && !row.failed && !needed.contains(id);
    WriteOpen(row, row.is_late ? next : replay);
  }
}

bool RowLedger::IsSettled() const {
  return std::ranges::all_of(
      rows_, [](const auto& row) { return row.second.is_used || row.second.failed; });
}

std::vector<v1::CompileRequest> RowLedger::Grammars(const std::string& tokenizer) const {
  std::vector<v1::CompileRequest> grammars;
  absl::flat_hash_set<std::string> seen;
  for (const auto& [id, row] : rows_) {
    if (row.failed || (!row.grammar_id.empty() && !seen.insert(row.grammar_id).second)) continue;
    v1::CompileRequest& request = grammars.emplace_back();
    request.set_tokenizer(tokenizer);
    const auto text = grammars_.find(row.open.grammar_id());
    if (row.open.has_grammar())
      *request.mutable_grammar() = row.open.grammar();
    else if (text != grammars_.end())
      *request.mutable_grammar() = text->second;
    else
      request.set_grammar_id(row.open.grammar_id());
  }
  return grammars;
}

void RowLedger::WriteOpen(const Row& row, v1::Step* step) const {
  v1::OpenRow& open = *step->add_open();
  open = row.open;
  WriteText(&open);
  if (row.token_limit.has_value()) {
    open.set_remaining_tokens(static_cast<std::uint32_t>(
        std::max<std::int64_t>(0, *row.token_limit - open.tokens_size())));
  }
}

}  // namespace maskd::client
