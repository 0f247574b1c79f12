// The view's plain values become messages. Every text here is the server's own, or a name that the
// operator gave. Of what a caller of the other address wrote only a name of a certificate, which an
// authority signed, and one that a proxy says are in an answer, made valid UTF-8.
//
// Invariant  a reply is counted at its most before it is made.
// Cost       one page of streams or grammars for each call, whatever there is.
// Threads    any number of calls at once; nothing is kept between two.
#include "service/admin/admin_service.h"

#include <chrono>
#include <cstdint>

#include <unistd.h>

#include "grammar_core/base/memory_reserve.h"
#include "grammar_core/compile/compiled_grammar.h"
#include "grammar_core/mask/mask_store.h"
#include "memory/process_memory.h"
#include "service/base/errors.h"
#include "service/wire/status_map.h"

namespace maskd::service {
namespace {

std::int64_t Microseconds(Clock::Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

v1::StreamTransport TransportOf(const StreamFigures::Values& values) {
  if (!values.transport.has_value()) return v1::STREAM_TRANSPORT_UNSPECIFIED;
  return *values.transport == metrics::Transport::kGrpc ? v1::STREAM_TRANSPORT_GRPC
                                                        : v1::STREAM_TRANSPORT_SHARED_MEMORY;
}

void WriteRows(const RowTally& rows, v1::OpenStreamRows* out) {
  const auto count = [&](RowState state) { return rows[static_cast<std::size_t>(state)]; };
  out->set_compiling(count(RowState::kCompiling));
  out->set_free(count(RowState::kFree));
  out->set_active(count(RowState::kActive));
  out->set_finished(count(RowState::kFinished));
  out->set_failed(count(RowState::kFailed));
}

void WriteStream(const ListedStream& stream, v1::OpenStream* out) {
  const StreamFigures::Values& values = stream.values;
  out->set_id(stream.id);
  out->set_peer(ValidUtf8(stream.peer));
  out->set_identity(ValidUtf8(stream.who.identity));
  out->set_tenant(stream.who.tenant);
  out->set_transport(TransportOf(values));
  out->set_greeted(stream.has_place);
  out->set_age_us(Microseconds(stream.age));
  out->set_idle_us(Microseconds(stream.idle));
  if (stream.in_step.has_value()) out->set_in_step_us(Microseconds(*stream.in_step));
  WriteRows(values.rows, out->mutable_rows());
  out->set_tokens(values.tokens);
  out->set_steps(values.steps);
  out->set_step_us(Microseconds(values.step_time));
  out->set_received_bytes(values.received_bytes);
  out->set_sent_bytes(values.sent_bytes);
}

std::int64_t SourceBytes(const GrammarSource& source) {
  auto bytes = static_cast<std::int64_t>(source.text.size());
  for (const GrammarSource::Document& document : source.documents)
    bytes += static_cast<std::int64_t>(document.text.size());
  return bytes;
}

void WriteGrammar(const cache::LiveGrammars::Listed& listed, v1::HeldGrammar* out) {
  const CompiledGrammar& grammar = *listed.grammar;
  const GrammarCosts costs = grammar.costs();
  out->set_grammar_id(grammar.id());
  out->set_kind(grammar.source().kind);
  out->set_tokenizer_hash(grammar.tokenizer().vocabulary().hash());
  out->set_source_bytes(SourceBytes(grammar.source()));
  out->set_held_bytes(costs.held_bytes);
  out->set_mask_bytes(costs.mask_bytes);
  out->set_rows(listed.usage->rows);
  out->set_hits(listed.usage->hits);
  out->set_compile_us(costs.compile_us);
  out->set_renewals(costs.renewals);
}

v1::MemoryMark MarkOf(std::optional<memory::Mark> mark) {
  if (!mark.has_value()) return v1::MEMORY_MARK_UNSPECIFIED;
  switch (*mark) {
    case memory::Mark::kLow:
      return v1::MEMORY_MARK_LOW;
    case memory::Mark::kHigh:
      return v1::MEMORY_MARK_HIGH;
    case memory::Mark::kHeap:
      break;
  }
  return v1::MEMORY_MARK_HEAP;
}

void WriteMemory(const MemoryInUse& memory, v1::ServerMemory* out) {
  out->set_limit_bytes(memory.limit_bytes);
  out->set_resident_bytes(memory.resident_bytes);
  out->set_mark(MarkOf(memory.mark));
  for (const auto& [name, bytes] : memory.parts) {
    v1::MemoryPart& part = *out->add_parts();
    part.set_name(name);
    part.set_bytes(bytes);
  }
}

void WriteVocabulary(const LoadedTokenizer& tokenizer, v1::LoadedVocabulary* out) {
  const MaskStore::Stats masks = tokenizer.space()->masks().stats();
  out->set_name(tokenizer.name());
  out->set_vocab_size(tokenizer.vocabulary().size());
  out->set_hash(tokenizer.vocabulary().hash());
  out->set_held_bytes(tokenizer.space()->held_bytes());
  out->set_mask_store_bytes(masks.held_bytes);
  out->set_masks(masks.masks);
}

absl::StatusOr<StreamOrder> OrderOf(v1::StreamOrder order) {
  switch (order) {
    case v1::STREAM_ORDER_UNSPECIFIED:
      return StreamOrder::kAge;
    case v1::STREAM_ORDER_TIME:
      return StreamOrder::kTime;
    case v1::STREAM_ORDER_IDLE:
      return StreamOrder::kIdle;
    case v1::STREAM_ORDER_ROWS:
      return StreamOrder::kRows;
    case v1::STREAM_ORDER_TOKENS:
      return StreamOrder::kTokens;
    case v1::STREAM_ORDER_BYTES:
      return StreamOrder::kBytes;
    default:
      return BadField("order", "is not known to this server");
  }
}

absl::StatusOr<GrammarOrder> OrderOf(v1::GrammarOrder order) {
  switch (order) {
    case v1::GRAMMAR_ORDER_UNSPECIFIED:
    case v1::GRAMMAR_ORDER_MEMORY:
      return GrammarOrder::kMemory;
    case v1::GRAMMAR_ORDER_TIME:
      return GrammarOrder::kTime;
    case v1::GRAMMAR_ORDER_ROWS:
      return GrammarOrder::kRows;
    case v1::GRAMMAR_ORDER_HITS:
      return GrammarOrder::kHits;
    default:
      return BadField("order", "is not known to this server");
  }
}

}  // namespace

// At its end the call's reply counts no more, however that is.
struct AdminService::Uncounted {
  UnreadReplies* unread;
  const void* call;
  // Gives the bytes back.
  ~Uncounted() { unread->Remove(call); }
};

// The reply is counted at its most before anything is looked at: one who does not read his replies
// then has those that are counted, and causes no more work.
template <typename Request, typename Response, typename Answer>
grpc::Status AdminService::Serve(grpc::ServerContext* context, Call<Request, Response>* call,
                                 Answer answer) {
  const absl::Status status = OrOutOfMemory([&]() -> absl::Status {
    if (absl::Status admitted = admit_(*context); !admitted.ok()) return admitted;
    Request request;
    if (!call->Read(&request)) {
      return context->IsCancelled() ? absl::CancelledError("cancelled")
                                    : BadField("", "the call has no message of its kind");
    }
    absl::Status room = unread_.Add(context, kReplyBytes, [context] { context->TryCancel(); });
    if (!room.ok()) return room;
    const Uncounted uncounted{&unread_, context};
    Response response;
    const absl::Status answered = answer(request, &response);
    if (answered.ok()) call->Write(response);  // returns when it is sent or cannot be
    return answered;
  });
  return ToGrpcStatus(status);
}

grpc::Status AdminService::StreamedGetServer(
    grpc::ServerContext* context, Call<v1::GetServerRequest, v1::GetServerResponse>* call) {
  return Serve(context, call, [this](const auto& /*request*/, auto* response) {
    TellServer(response);
    return absl::OkStatus();
  });
}

grpc::Status AdminService::StreamedListStreams(
    grpc::ServerContext* context, Call<v1::ListStreamsRequest, v1::ListStreamsResponse>* call) {
  return Serve(context, call, [this](const auto& request, auto* response) {
    return TellStreams(request, response);
  });
}

grpc::Status AdminService::StreamedListGrammars(
    grpc::ServerContext* context, Call<v1::ListGrammarsRequest, v1::ListGrammarsResponse>* call) {
  return Serve(context, call, [this](const auto& request, auto* response) {
    return TellGrammars(request, response);
  });
}

void AdminService::TellServer(v1::GetServerResponse* response) const {
  constexpr double kMsPerSecond = 1000;
  const memory::ProcessFigures process = memory::ReadProcessFigures();
  response->set_version(version_);
  response->set_start_time_ms(static_cast<std::int64_t>(process.start_seconds * kMsPerSecond));
  response->set_process_id(getpid());
  for (const LimitInUse& limit : view_.limits()) {
    v1::ServerLimit& out = *response->add_limits();
    out.set_name(limit.name);
    out.set_used(limit.used);
    if (limit.most.has_value()) out.set_most(*limit.most);
  }
  WriteMemory(view_.memory(), response->mutable_memory());
  const TokenizerStorePtr tokenizers = view_.tokenizers();
  for (const LoadedTokenizer& tokenizer : tokenizers->all())
    WriteVocabulary(tokenizer, response->add_vocabularies());
}

absl::Status AdminService::TellStreams(const v1::ListStreamsRequest& request,
                                       v1::ListStreamsResponse* response) const {
  const absl::StatusOr<StreamOrder> order = OrderOf(request.order());
  if (!order.ok()) return order.status();
  auto asked = ReadPageRequest(request.page_size(), request.page_token());
  if (!asked.ok()) return asked.status();
  AdminPage<ListedStream> page = view_.ListStreams(*order, *std::move(asked));
  response->set_total(page.total());
  response->set_next_page_token(page.next());
  for (const ListedStream& stream : page.Take()) WriteStream(stream, response->add_streams());
  return absl::OkStatus();
}

absl::Status AdminService::TellGrammars(const v1::ListGrammarsRequest& request,
                                        v1::ListGrammarsResponse* response) const {
  const absl::StatusOr<GrammarOrder> order = OrderOf(request.order());
  if (!order.ok()) return order.status();
  auto asked = ReadPageRequest(request.page_size(), request.page_token());
  if (!asked.ok()) return asked.status();
  AdminPage<cache::LiveGrammars::Listed> page = view_.ListGrammars(*order, *std::move(asked));
  response->set_total(page.total());
  response->set_next_page_token(page.next());
  for (const cache::LiveGrammars::Listed& listed : page.Take())
    WriteGrammar(listed, response->add_grammars());
  return absl::OkStatus();
}

}  // namespace maskd::service
