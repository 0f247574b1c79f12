// Answers from a vocabulary that is loaded, page by page. A page of tokens may be megabytes, so it
// is counted before it is made (call_work.h).
#include "service/calls/tokenizer_service.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "service/base/errors.h"
#include "service/wire/response_writer.h"

namespace maskd::service {
namespace {

// Of pages: 0 asks for the default, more than the most gives the most.
constexpr int kDefaultTokenizers = 100;
constexpr int kMaxTokenizers = 1000;
constexpr int kMaxTokens = 65'536;
// What a token costs until its reply is sent: its message and that one's bytes.
constexpr std::int64_t kTokenBytes = 128;

int PageSize(int asked, int absent, int most) {
  return asked == 0 ? absent : std::min(asked, most);
}

}  // namespace

void TokenizerService::AddTo(UnaryCalls* calls) {
  calls->AddAtOnce<v1::ListTokenizersRequest, v1::ListTokenizersResponse>(
      "/maskd.v1.TokenizerService/ListTokenizers",
      [this](const auto& request, CallView& /*call*/, auto* response) {
        return ListTokenizers(request, response);
      });
  calls->AddAtOnce<v1::GetTokenizerRequest, v1::GetTokenizerResponse>(
      "/maskd.v1.TokenizerService/GetTokenizer",
      [this](const auto& request, CallView& /*call*/, auto* response) {
        return GetTokenizer(request, response);
      });
  calls->AddAtOnce<v1::ListTokensRequest, v1::ListTokensResponse>(
      "/maskd.v1.TokenizerService/ListTokens",
      [this](const auto& request, CallView& call, auto* response) {
        return ListTokens(request, call, response);
      });
}

absl::Status TokenizerService::GetTokenizer(const v1::GetTokenizerRequest& request,
                                            v1::GetTokenizerResponse* response) const {
  const TokenizerStorePtr tokenizers = tokenizers_->now();
  // Held by `tokenizers`, so a reload meanwhile does not take it away.
  const absl::StatusOr<const LoadedTokenizer*> tokenizer = tokenizers->Find(request.name());
  if (!tokenizer.ok()) return tokenizer.status();
  WriteTokenizer(**tokenizer, response->mutable_tokenizer());
  return absl::OkStatus();
}

// A reload between two pages may change the list; a page token that no longer fits is refused, and
// the client begins again.
absl::Status TokenizerService::ListTokenizers(const v1::ListTokenizersRequest& request,
                                              v1::ListTokenizersResponse* response) const {
  if (request.page_size() < 0) return BadField("page_size", "is below 0");
  const TokenizerStorePtr tokenizers = tokenizers_->now();
  // A page token is the index to go on with.
  std::size_t begin = 0;
  if (!request.page_token().empty() &&
      (!absl::SimpleAtoi(request.page_token(), &begin) || begin >= tokenizers->all().size())) {
    return BadField("page_token", "was not given by this server");
  }
  const auto count =
      static_cast<std::size_t>(PageSize(request.page_size(), kDefaultTokenizers, kMaxTokenizers));
  const std::size_t end = std::min(begin + count, tokenizers->all().size());
  for (std::size_t i = begin; i < end; ++i)
    WriteTokenizer(tokenizers->all()[i], response->add_tokenizers());
  if (end < tokenizers->all().size()) response->set_next_page_token(absl::StrCat(end));
  return absl::OkStatus();
}

absl::Status TokenizerService::ListTokens(const v1::ListTokensRequest& request, CallView& call,
                                          v1::ListTokensResponse* response) const {
  const TokenizerStorePtr tokenizers = tokenizers_->now();
  const absl::StatusOr<const LoadedTokenizer*> tokenizer = tokenizers->Find(request.tokenizer());
  if (!tokenizer.ok()) return tokenizer.status();
  if (request.first_id() < 0) return BadField("first_id", "is below 0");
  if (request.page_size() < 0) return BadField("page_size", "is below 0");
  const Vocabulary& vocabulary = (*tokenizer)->vocabulary();
  if (request.first_id() >= vocabulary.size()) {
    return ErrorAt(absl::StatusCode::kOutOfRange, "first_id", "TOKEN_OUT_OF_RANGE",
                   absl::StrCat(request.first_id(), " is not in [0, ", vocabulary.size(), ")"));
  }
  const int count = PageSize(request.page_size(), kMaxTokens, kMaxTokens);
  const int end = std::min(vocabulary.size() - request.first_id(), count) + request.first_id();
  const std::int64_t bytes = kTokenBytes * (end - request.first_id());
  if (absl::Status room = call.CountReply(bytes); !room.ok()) return room;
  WriteTokens(vocabulary, request.first_id(), end, response);
  return absl::OkStatus();
}

}  // namespace maskd::service
