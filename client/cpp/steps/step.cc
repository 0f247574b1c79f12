#include "client/cpp/steps/step.h"

#include <algorithm>

namespace maskd::client {
namespace {

// Rows of earlier steps that are remembered at most.
constexpr std::size_t kMaxPlaces = 1 << 14;

}  // namespace

v1::OpenRow& Step::AddOpen(RowId row, const OpenOptions& options) {
  v1::OpenRow& open = *message_.mutable_step()->add_open();
  open.set_row(row);
  open.mutable_tokens()->Add(options.tokens.begin(), options.tokens.end());
  open.mutable_stop_ids()->Add(options.stop_ids.begin(), options.stop_ids.end());
  if (options.reasoning != nullptr) *open.mutable_reasoning() = *options.reasoning;
  open.set_min_tokens(options.min_tokens);
  open.set_want_answer(options.want_answer);
  open.set_observe(options.observe);
  if (options.remaining_tokens.has_value()) open.set_remaining_tokens(*options.remaining_tokens);
  if (options.temperature.has_value()) open.set_temperature(*options.temperature);
  for (const LogitBias& each : options.biases) {
    v1::LogitBias& bias = *open.add_biases();
    bias.set_id(each.id);
    bias.set_bias(each.bias);
  }
  return open;
}

Step& Step::Open(const v1::OpenRow& snapshot) {
  *message_.mutable_step()->add_open() = snapshot;
  return *this;
}

Step& Step::Open(RowId row, absl::string_view grammar_id, const OpenOptions& options) {
  AddOpen(row, options).set_grammar_id(std::string(grammar_id));
  return *this;
}

Step& Step::Open(RowId row, const v1::Grammar& grammar, const OpenOptions& options) {
  *AddOpen(row, options).mutable_grammar() = grammar;
  return *this;
}

v1::RowUpdate& Step::Update(RowId row) {
  v1::Step& step = *message_.mutable_step();
  const auto [found, added] = updates_.try_emplace(row, Place{use_, step.rows_size()});
  if (!added && found->second.use == use_) return *step.mutable_rows(found->second.index);
  found->second = {use_, step.rows_size()};
  v1::RowUpdate& update = *step.add_rows();
  update.set_row(row);
  return update;
}

Step& Step::Take(RowId row, std::span<const TokenId> tokens) {
  Update(row).mutable_tokens()->Add(tokens.begin(), tokens.end());
  return *this;
}

Step& Step::Rollback(RowId row, std::uint32_t token_count) {
  Update(row).set_rollback(token_count);
  return *this;
}

Step& Step::SetRemaining(RowId row, std::uint32_t token_count) {
  Update(row).set_remaining_tokens(token_count);
  return *this;
}

Step& Step::Draft(RowId row, std::span<const TokenId> drafts, std::span<const int> parents) {
  v1::Drafts& wire = *Update(row).mutable_drafts();
  wire.mutable_tokens()->Assign(drafts.begin(), drafts.end());
  wire.mutable_parents()->Assign(parents.begin(), parents.end());
  return *this;
}

Step& Step::WantForced(RowId row) {
  Update(row).set_want_forced(true);
  return *this;
}

Step& Step::Snapshot(RowId row) {
  message_.mutable_step()->add_snapshot(row);
  return *this;
}

Step& Step::Fork(RowId parent, RowId child) {
  v1::ForkRow& fork = *message_.mutable_step()->add_fork();
  fork.set_parent(parent);
  fork.set_child(child);
  return *this;
}

Step& Step::Close(RowId row) {
  message_.mutable_step()->add_close(row);
  return *this;
}

Step& Step::WaitForCompile(absl::Duration at_most) {
  const std::int64_t ms = std::clamp<std::int64_t>(absl::ToInt64Milliseconds(at_most), 0,
                                                   std::numeric_limits<std::uint32_t>::max());
  message_.mutable_step()->set_wait_for_compile_ms(static_cast<std::uint32_t>(ms));
  return *this;
}

void Step::Clear() {
  message_.mutable_step()->Clear();
  ++use_;
  if (updates_.size() > kMaxPlaces) updates_.clear();
}

bool Step::empty() const {
  const v1::Step& step = message_.step();
  return step.open().empty() && step.rows().empty() && step.fork().empty() &&
         step.close().empty() && step.snapshot().empty();
}

}  // namespace maskd::client
