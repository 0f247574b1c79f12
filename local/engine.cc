#include "local/engine.h"

#include <algorithm>
#include <functional>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "client/cpp/base/steady_time.h"
#include "client/cpp/base/wire_status.h"
#include "grammar_core/base/error.h"
#include "grammar_core/base/memory_reserve.h"
#include "local/local_call.h"
#include "service/base/errors.h"
#include "service/config/memory_plan.h"
#include "service/streams/stream_terms.h"
#include "service/wire/request_reader.h"
#include "service/wire/response_writer.h"
#include "service/wire/status_map.h"

namespace maskd::local {
namespace {

// Of what a server's streams share, what StepExchange and LocalCall need.
service::StreamHost HostOf(const service::Config& config, service::GrammarStore* grammars,
                           service::StepThreads* threads) {
  service::StreamHost host;
  host.limits = service::LimitsOf(config);
  host.grammars = grammars;
  host.threads = threads;
  return host;
}

// Tokens of one page.
constexpr int kMaxTokens = 65'536;

// As a client of a server would see it.
absl::Status AsFromWire(const absl::Status& status) {
  return status.ok() ? status : client::FromWire(service::ToGrpcStatus(status));
}

service::CompileCalls::WhyLeft Until(client::SteadyTime deadline) {
  return [deadline] {
    if (client::SteadyTime::Now() < deadline) return absl::OkStatus();
    return ErrorAt(absl::StatusCode::kDeadlineExceeded, "", "DEADLINE", "the deadline passed");
  };
}

// Runs a call of the service's and gives its error as one of the wire.
template <typename Call>
absl::Status Answer(const Call& call) {
  return AsFromWire(OrOutOfMemory(call));
}

}  // namespace

absl::StatusOr<std::shared_ptr<Engine>> Engine::Load(const service::Config& config) {
  auto tokenizers = service::TokenizerStore::Load(config.tokenizers,
                                                  service::PlanMemory(config).mask_store_bytes);
  if (!tokenizers.ok()) {
    absl::string_view message = tokenizers.status().message();
    absl::ConsumePrefix(&message, "--tokenizer: ");
    return absl::Status(tokenizers.status().code(), absl::StrCat("address: local: ", message));
  }
  try {
    return std::shared_ptr<Engine>(new Engine(config, *std::move(tokenizers)));
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(
        absl::StrCat("address: local: the system has no thread: ", error.what()));
  }
}

Engine::Engine(const service::Config& config, service::TokenizerStorePtr tokenizers)
    : tokenizers_(std::move(tokenizers)),
      grammars_(config, /*metrics=*/nullptr),
      calls_(&tokenizers_, &grammars_),
      host_(HostOf(config, &grammars_, &threads_)) {}

absl::Status Engine::Compile(const v1::CompileRequest& request, client::SteadyTime deadline,
                             v1::CompileResponse* response) {
  return Answer([&] { return calls_.Compile(request, {}, Until(deadline), response); });
}

absl::Status Engine::Check(const v1::CheckRequest& request, client::SteadyTime deadline,
                           v1::CheckResponse* response) {
  return Answer([&] { return calls_.Check(request, {}, Until(deadline), response); });
}

absl::Status Engine::Explain(const v1::ExplainRequest& request, client::SteadyTime deadline,
                             v1::ExplainResponse* response) {
  return Answer([&] { return calls_.Explain(request, {}, Until(deadline), response); });
}

// All of them: pages are for messages that travel.
absl::Status Engine::ListTokenizers(const v1::ListTokenizersRequest& /*request*/,
                                    client::SteadyTime /*deadline*/,
                                    v1::ListTokenizersResponse* response) {
  const service::TokenizerStorePtr tokenizers = tokenizers_.now();
  for (const service::LoadedTokenizer& each : tokenizers->all())
    service::WriteTokenizer(each, response->add_tokenizers());
  return absl::OkStatus();
}

absl::Status Engine::GetTokenizer(const v1::GetTokenizerRequest& request,
                                  client::SteadyTime /*deadline*/,
                                  v1::GetTokenizerResponse* response) {
  const service::TokenizerStorePtr tokenizers = tokenizers_.now();
  const auto tokenizer = tokenizers->Find(request.name());
  if (!tokenizer.ok()) return AsFromWire(tokenizer.status());
  service::WriteTokenizer(**tokenizer, response->mutable_tokenizer());
  return absl::OkStatus();
}

absl::Status Engine::ListTokens(const v1::ListTokensRequest& request,
                                client::SteadyTime /*deadline*/, v1::ListTokensResponse* response) {
  const service::TokenizerStorePtr tokenizers = tokenizers_.now();
  const auto tokenizer = tokenizers->Find(request.tokenizer());
  if (!tokenizer.ok()) return AsFromWire(tokenizer.status());
  const Vocabulary& vocabulary = (*tokenizer)->vocabulary();
  const int begin = request.first_id();
  if (begin < 0 || begin >= vocabulary.size())
    return AsFromWire(service::TokenOutOfRange("first_id", begin, vocabulary.size()));
  const int end = begin + std::min(vocabulary.size() - begin, kMaxTokens);
  service::WriteTokens(vocabulary, begin, end, response);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<client::StepCall>> Engine::OpenCall(const v1::DecodeRequest& hello,
                                                                   v1::Welcome* welcome) {
  const absl::StatusOr<service::Hello> read = service::ReadHello(hello);
  if (!read.ok()) return AsFromWire(read.status());
  const auto terms = service::AgreeOnTerms(*read, tokenizers_.now(), host_.limits);
  if (!terms.ok()) return AsFromWire(terms.status());
  service::WriteWelcome(*terms->tokenizer, terms->mask_words, host_.limits, terms->forms, welcome);
  // The call keeps the engine, whose host it uses.
  const std::shared_ptr<const service::StreamHost> host(shared_from_this(), &host_);
  return std::make_unique<LocalCall>(host, *terms);
}

}  // namespace maskd::local
