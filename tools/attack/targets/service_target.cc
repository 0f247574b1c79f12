#include "tools/attack/targets/service_target.h"

#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include <google/protobuf/stubs/logging.h>

#include "client/cpp/base/errors.h"
#include "tools/attack/targets/metrics_page.h"

namespace maskd::attack {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(120);

class WireGrammar final : public Grammar {
 public:
  WireGrammar(ServiceTarget* target, std::string id) : target_(target), id_(std::move(id)) {}

  absl::StatusOr<std::unique_ptr<Row>> Open() override {
    const absl::StatusOr<RowStream*> stream = target_->Stream();
    return stream.ok() ? (*stream)->OpenRow(id_) : stream.status();
  }

 private:
  ServiceTarget* const target_;
  const std::string id_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ServiceTarget>> ServiceTarget::Connect(const ServerAccess& server) {
  google::protobuf::SetLogHandler(nullptr);  // it complains of texts that are no UTF-8
  std::unique_ptr<ServiceTarget> target(new ServiceTarget(server));
  auto client = client::Client::Connect(
      {.address = server.address, .call_timeout = kPatience, .retry = {.max_attempts = 1}});
  if (!client.ok()) return client.status();
  target->client_ = *std::move(client);
  if (absl::Status read = target->ReadTokens(); !read.ok()) return read;
  return target;
}

absl::Status ServiceTarget::ReadTokens() {
  const auto tokenizer = client_->GetTokenizer(server_.tokenizer);
  if (!tokenizer.ok()) return tokenizer.status();
  auto tokens = client_->ListTokens(server_.tokenizer);
  if (!tokens.ok()) return tokens.status();
  token_texts_ = *std::move(tokens);
  for (std::size_t id = 0; id < token_texts_.size(); ++id) {
    const v1::Token& token = token_texts_[id];
    if (!token.special()) tokens_.splitter.Add(token.text(), static_cast<TokenId>(id));
  }
  tokens_.size = tokenizer->vocab_size();
  tokens_.stop_ids.assign(tokenizer->stop_ids().begin(), tokenizer->stop_ids().end());
  tokens_.special_ids.assign(tokenizer->special_ids().begin(), tokenizer->special_ids().end());
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Grammar>> ServiceTarget::Compile(const std::string& format,
                                                                std::string payload) {
  v1::CompileRequest request;
  request.set_tokenizer(server_.tokenizer);
  request.mutable_grammar()->set_kind(format);
  request.mutable_grammar()->set_source(std::move(payload));
  const auto compiled = client_->Compile(request);
  if (!compiled.ok()) return compiled.status();
  return std::make_unique<WireGrammar>(this, compiled->grammar_id());
}

// A message that is too long is refused by the RPC library, in its own words with the limit.
std::string ServiceTarget::ReasonOf(const absl::Status& refusal) const {
  constexpr absl::string_view kTooLong = "Received message larger than max";
  const bool is_too_long = absl::StartsWith(refusal.message(), kTooLong);
  return is_too_long ? std::string(kTooLong) : client::ErrorReason(refusal);
}

std::int64_t ServiceTarget::CachedBytes() {
  if (server_.metrics.empty()) return 0;
  const absl::StatusOr<MetricsPage> page = MetricsPage::Read(server_.metrics);
  if (!page.ok()) return 0;
  double bytes = 0;
  for (const char* part : {R"(part="grammars")", R"(part="masks")", R"(part="warm_up")"})
    bytes += page->Sum("maskd_memory_bytes", part);
  return static_cast<std::int64_t>(bytes);
}

absl::StatusOr<RowStream*> ServiceTarget::Stream() {
  if (stream_ == nullptr) {
    auto stream = RowStream::Open(*client_, server_.tokenizer, tokens_.size);
    if (!stream.ok()) return stream.status();
    stream_ = *std::move(stream);
  }
  return stream_.get();
}

void ServiceTarget::EndCase() {
  if (stream_ != nullptr && !stream_->CloseRows()) stream_ = nullptr;
}

}  // namespace maskd::attack
