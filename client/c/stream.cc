// Streams for programs in C. A handle holds a stream of one server or one that moves between
// servers, and With() calls whichever is there. The calls "each" and "masks" do several steps of a
// plain loop at once, for languages whose calls into C are dear.
//
// Invariant  exactly one of the two streams of a handle is there.
// Cost       one choice between the two for each call.
// Threads    one thread at a time for each stream, as in C++.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "client/c/handles.h"
#include "client/c/json.h"
#include "local/local_engines.h"

namespace maskd::client {
namespace {

// The first version of the options.
constexpr std::size_t kLeastOptions = offsetof(maskd_stream_options, shared_memory);

std::string TextOf(const char* text) { return text == nullptr ? "" : text; }

absl::Duration Milliseconds(std::int32_t value, absl::Duration otherwise) {
  return value == 0 ? otherwise : absl::Milliseconds(value);
}

StreamOptions ReadOptions(const maskd_stream_options& from, std::int64_t timeout_ms) {
  StreamOptions options{.tokenizer = TextOf(from.tokenizer),
                        .tokenizer_hash = TextOf(from.tokenizer_hash),
                        .logits_width = from.logits_width,
                        .short_forms = from.dense_only == 0,
                        .want_temperature = from.want_temperature != 0,
                        .want_bias = from.want_bias != 0,
                        .read_ahead = from.read_ahead != 0,
                        .shared_memory = from.shared_memory != 0,
                        .open_timeout = absl::Milliseconds(timeout_ms)};
  options.write_timeout = Milliseconds(from.submit_timeout_ms, options.write_timeout);
  if (from.dictionary_size != 0) options.dictionary_size = from.dictionary_size;
  return options;
}

// Calls `use` with the one of the two streams that there is.
template <typename Use>
auto With(const maskd_stream& stream, const Use& use) {
  return stream.any_server == nullptr ? use(*stream.one_server) : use(*stream.any_server);
}

const v1::Welcome& WelcomeOf(const maskd_stream& stream) {
  return stream.any_server == nullptr ? stream.one_server->welcome() : stream.any_server->welcome();
}

absl::Status OpenStream(const maskd_client* client, const maskd_stream_options& from,
                        std::int64_t timeout_ms, maskd_stream** stream) {
  if (absl::Status status = NotNull(client, "client"); !status.ok()) return status;
  if (absl::Status status = NotNull(stream, "stream"); !status.ok()) return status;
  auto opened = client->client->OpenStream(ReadOptions(from, timeout_ms));
  if (!opened.ok()) return opened.status();
  std::string welcome = ToJson((*opened)->welcome());
  *stream = new maskd_stream{*std::move(opened), nullptr, std::move(welcome)};
  return absl::OkStatus();
}

absl::Status OpenStreamWith(const maskd_client* client, const maskd_stream_options* options,
                            std::int64_t timeout_ms, maskd_stream** stream) {
  if (absl::Status status = NotNull(options, "options"); !status.ok()) return status;
  const auto read = ReadStruct(options, kLeastOptions, "options");
  return read.ok() ? OpenStream(client, *read, timeout_ms, stream) : read.status();
}

absl::Status OpenFailover(const char* const* addresses, std::int64_t address_count,
                          const maskd_stream_options* options, std::int64_t timeout_ms,
                          maskd_stream** stream) {
  if (absl::Status status = NotNull(options, "options"); !status.ok()) return status;
  if (absl::Status status = NotNull(stream, "stream"); !status.ok()) return status;
  const auto read = ReadStruct(options, kLeastOptions, "options");
  if (!read.ok()) return read.status();
  std::span<const char* const> given;
  absl::Status status = ReadSpan(addresses, address_count, "addresses", given);
  if (!status.ok()) return status;
  local::Enable();
  FailoverStream::Options to;
  for (const char* const address : given) {
    if (absl::Status named = NotNull(address, "addresses"); !named.ok()) return named;
    to.addresses.emplace_back(address);
  }
  to.in_order = read->in_order != 0;
  to.stream = ReadOptions(*read, timeout_ms);
  to.step_timeout = Milliseconds(read->step_timeout_ms, to.step_timeout);
  to.give_up_after = Milliseconds(read->give_up_after_ms, to.give_up_after);
  to.compile_timeout = Milliseconds(read->compile_timeout_ms, to.compile_timeout);
  auto opened = FailoverStream::Open(std::move(to));
  if (!opened.ok()) return opened.status();
  std::string welcome = ToJson((*opened)->welcome());
  *stream = new maskd_stream{nullptr, *std::move(opened), std::move(welcome)};
  return absl::OkStatus();
}

absl::Status Remember(maskd_stream* stream, const char* grammar_id, const char* grammar_json) {
  if (absl::Status status = NotNull(stream, "stream"); !status.ok()) return status;
  if (absl::Status status = NotNull(grammar_id, "grammar_id"); !status.ok()) return status;
  if (stream->any_server == nullptr)
    return absl::FailedPreconditionError("stream: is of one server, it does not move");
  v1::Grammar grammar;
  absl::Status status = FromJson(grammar_json, grammar, "grammar_json");
  if (status.ok()) stream->any_server->Remember(grammar_id, grammar);
  return status;
}

absl::Status Submit(maskd_stream* stream, maskd_step* step, std::uint64_t* number) {
  if (absl::Status status = NotNull(stream, "stream"); !status.ok()) return status;
  if (absl::Status status = NotNull(step, "step"); !status.ok()) return status;
  const auto submitted = With(*stream, [step](auto& to) { return to.Submit(step->step); });
  if (!submitted.ok()) return submitted.status();
  if (number != nullptr) *number = *submitted;
  return absl::OkStatus();
}

absl::Status SubmitEach(maskd_stream* stream, maskd_step* step, const std::uint64_t* rows,
                        const std::int32_t* tokens, std::int64_t count, std::uint64_t* number) {
  if (absl::Status status = NotNull(step, "step"); !status.ok()) return status;
  step->step.Clear();
  if (absl::Status status = TakeEach(step, rows, tokens, count); !status.ok()) return status;
  return Submit(stream, step, number);
}

absl::Status Collect(maskd_stream* stream, std::int64_t timeout_ms, maskd_result* result) {
  if (absl::Status status = NotNull(stream, "stream"); !status.ok()) return status;
  if (absl::Status status = NotNull(result, "result"); !status.ok()) return status;
  result->strings.clear();
  result->calls.clear();
  return With(*stream, [&](auto& from) {
    return from.Collect(absl::Milliseconds(timeout_ms), result->result);
  });
}

// Whether the row is one that an engine need not look at: it goes on, and has a mask.
bool Stands(const RowResult& row) {
  return (row.state == v1::ROW_STATE_ACTIVE || row.state == v1::ROW_STATE_FINISHED) &&
         row.error.ok() && !row.masks.empty();
}

// Collects; where every row of the answer stands and each of `order` has an answer, `copy` writes
// their masks.
template <typename Copy>
absl::Status CollectWhole(maskd_stream* stream, std::int64_t timeout_ms, maskd_result* result,
                          const std::uint64_t* order, std::int64_t count, const std::int32_t* words,
                          std::int32_t* is_whole, const Copy& copy) {
  if (absl::Status status = NotNull(is_whole, "is_whole"); !status.ok()) return status;
  *is_whole = 0;
  std::span<const std::uint64_t> rows;
  if (absl::Status status = ReadSpan(order, count, "rows", rows); !status.ok()) return status;
  absl::Status given = rows.empty() ? absl::OkStatus() : NotNull(words, "words");
  if (!given.ok()) return given;
  if (absl::Status status = Collect(stream, timeout_ms, result); !status.ok()) return status;
  if (!std::ranges::all_of(result->result.rows(), Stands)) return absl::OkStatus();
  absl::Status status = copy(rows);
  *is_whole = status.ok() ? 1 : 0;
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

absl::Status CollectMasks(maskd_stream* stream, std::int64_t timeout_ms, maskd_result* result,
                          const std::uint64_t* order, std::int64_t count, const MaskBuffer& masks,
                          std::int32_t* is_whole) {
  return CollectWhole(
      stream, timeout_ms, result, order, count, masks.words, is_whole,
      [&](std::span<const std::uint64_t> rows) { return result->result.CopyMasks(rows, masks); });
}

absl::Status CollectPositions(maskd_stream* stream, std::int64_t timeout_ms, maskd_result* result,
                              const std::uint64_t* order, std::int64_t count,
                              std::int64_t positions, const MaskBuffer& masks, std::int32_t* known,
                              std::int32_t* is_whole) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (positions < 0 || positions > kMost)
    return absl::InvalidArgumentError(absl::StrCat("positions: ", positions, " are no count"));
  if (count > 0) {
    if (absl::Status status = NotNull(known, "known"); !status.ok()) return status;
  }
  return CollectWhole(stream, timeout_ms, result, order, count, masks.words, is_whole,
                      [&](std::span<const std::uint64_t> rows) {
                        return result->result.CopyChains(rows, static_cast<int>(positions), masks,
                                                         {known, rows.size()});
                      });
}

absl::Status CloseStream(maskd_stream* stream, std::int64_t timeout_ms) {
  if (absl::Status status = NotNull(stream, "stream"); !status.ok()) return status;
  return With(*stream, [&](auto& each) { return each.Close(absl::Milliseconds(timeout_ms)); });
}

}  // namespace
}  // namespace maskd::client

using maskd::client::ToC;

extern "C" {

maskd_status* maskd_stream_open(const maskd_client* client, const char* tokenizer,
                                uint32_t logits_width, int64_t timeout_ms, maskd_stream** stream) {
  maskd_stream_options options = {};
  options.tokenizer = tokenizer;
  options.logits_width = logits_width;
  return ToC(maskd::client::OpenStream(client, options, timeout_ms, stream));
}

maskd_status* maskd_stream_open_with(const maskd_client* client,
                                     const maskd_stream_options* options, int64_t timeout_ms,
                                     maskd_stream** stream) {
  return ToC(maskd::client::OpenStreamWith(client, options, timeout_ms, stream));
}

maskd_status* maskd_stream_open_failover(const char* const* addresses, int64_t address_count,
                                         const maskd_stream_options* options, int64_t timeout_ms,
                                         maskd_stream** stream) {
  return ToC(maskd::client::OpenFailover(addresses, address_count, options, timeout_ms, stream));
}

maskd_status* maskd_stream_remember(maskd_stream* stream, const char* grammar_id,
                                    const char* grammar_json) {
  return ToC(maskd::client::Remember(stream, grammar_id, grammar_json));
}

int32_t maskd_stream_moves(const maskd_stream* stream) {
  const bool can = stream != nullptr && stream->any_server != nullptr;
  return can ? stream->any_server->moves() : 0;
}

void maskd_stream_free(maskd_stream* stream) { delete stream; }

const char* maskd_stream_welcome_json(const maskd_stream* stream) {
  return stream == nullptr ? "" : stream->welcome_json.c_str();
}

int64_t maskd_stream_mask_words(const maskd_stream* stream) {
  return stream == nullptr ? 0 : maskd::client::WelcomeOf(*stream).mask_words();
}

int32_t maskd_stream_uses_shared_memory(const maskd_stream* stream) {
  if (stream == nullptr) return 0;
  return maskd::client::With(*stream, [](const auto& each) { return each.uses_shared_memory(); });
}

const char* maskd_stream_transport(const maskd_stream* stream) {
  if (stream == nullptr) return "";
  return maskd::client::With(*stream, [](const auto& each) { return each.transport(); });
}

int32_t maskd_stream_in_flight(const maskd_stream* stream) {
  if (stream == nullptr) return 0;
  return maskd::client::With(*stream, [](const auto& each) { return each.in_flight(); });
}

int32_t maskd_stream_going_away(const maskd_stream* stream) {
  const bool stays = stream == nullptr || stream->one_server == nullptr;
  return !stays && stream->one_server->go_away().has_value();
}

maskd_status* maskd_stream_submit(maskd_stream* stream, maskd_step* step, uint64_t* number) {
  return ToC(maskd::client::Submit(stream, step, number));
}

maskd_status* maskd_stream_submit_each(maskd_stream* stream, maskd_step* step, const uint64_t* rows,
                                       const int32_t* tokens, int64_t count, uint64_t* number) {
  return ToC(maskd::client::SubmitEach(stream, step, rows, tokens, count, number));
}

maskd_status* maskd_stream_collect(maskd_stream* stream, int64_t timeout_ms, maskd_result* result) {
  return ToC(maskd::client::Collect(stream, timeout_ms, result));
}

maskd_status* maskd_stream_collect_masks(maskd_stream* stream, int64_t timeout_ms,
                                         maskd_result* result, const uint64_t* rows, int64_t count,
                                         int32_t* words, int64_t words_per_row, int32_t* is_whole) {
  return ToC(maskd::client::CollectMasks(
      stream, timeout_ms, result, rows, count,
      {.words = words, .row_count = count, .row_words = words_per_row}, is_whole));
}

maskd_status* maskd_stream_collect_positions(maskd_stream* stream, int64_t timeout_ms,
                                             maskd_result* result, const uint64_t* rows,
                                             int64_t count, int64_t positions, int32_t* words,
                                             int64_t word_rows, int64_t words_per_row,
                                             int32_t* known, int32_t* is_whole) {
  return ToC(maskd::client::CollectPositions(
      stream, timeout_ms, result, rows, count, positions,
      {.words = words, .row_count = word_rows, .row_words = words_per_row}, known, is_whole));
}

maskd_status* maskd_stream_close(maskd_stream* stream, int64_t timeout_ms) {
  return ToC(maskd::client::CloseStream(stream, timeout_ms));
}

}  // extern "C"
