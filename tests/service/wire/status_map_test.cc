#include "service/wire/status_map.h"

#include <string>
#include <vector>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include <gtest/gtest.h>

#include "cache/load_error.h"
#include "grammar_core/base/error.h"
#include "service/base/errors.h"

namespace maskd::service {
namespace {

google::rpc::Status Details(const grpc::Status& status) {
  google::rpc::Status wire;
  EXPECT_TRUE(wire.ParseFromString(status.error_details()));
  EXPECT_EQ(wire.code(), status.error_code());
  EXPECT_EQ(wire.message(), status.error_message());
  return wire;
}

// The detail of that type; an empty one, and a failure, when there is none.
template <typename Detail>
Detail Find(const google::rpc::Status& wire) {
  Detail detail;
  for (const google::protobuf::Any& any : wire.details())
    if (any.UnpackTo(&detail)) return detail;
  ADD_FAILURE() << "no " << Detail::descriptor()->full_name() << " in " << wire.DebugString();
  return detail;
}

TEST(StatusMapTest, OkStaysOk) { EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok()); }

TEST(StatusMapTest, KeepsEveryCanonicalCode) {
  for (int code = 1; code <= 16; ++code) {
    const grpc::Status wire =
        ToGrpcStatus(absl::Status(static_cast<absl::StatusCode>(code), "why"));
    EXPECT_EQ(static_cast<int>(wire.error_code()), code);
    EXPECT_EQ(wire.error_message(), "why");
  }
}

TEST(StatusMapTest, ThePlaceInTheSchemaIsAFieldViolation) {
  const auto wire = Details(ToGrpcStatus(InvalidAt("/properties/a/minItems", "is negative")));
  const auto bad = Find<google::rpc::BadRequest>(wire);
  ASSERT_EQ(bad.field_violations_size(), 1);
  EXPECT_EQ(bad.field_violations(0).field(), "/properties/a/minItems");
  EXPECT_EQ(Find<google::rpc::ErrorInfo>(wire).reason(), "INVALID_GRAMMAR");
  EXPECT_EQ(Find<google::rpc::ErrorInfo>(wire).domain(), "maskd");
}

TEST(StatusMapTest, UnsupportedNamesKeywordAndPlace) {
  const grpc::Status status = ToGrpcStatus(UnsupportedAt("/not", "not"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(Find<google::rpc::BadRequest>(Details(status)).field_violations(0).field(), "/not");
}

TEST(StatusMapTest, NotFoundNamesTheResource) {
  const auto wire = Details(ToGrpcStatus(NotFound("tokenizer", "gpt-9", "loaded: bytes")));
  const auto info = Find<google::rpc::ResourceInfo>(wire);
  EXPECT_EQ(info.resource_type(), "tokenizer");
  EXPECT_EQ(info.resource_name(), "gpt-9");
  EXPECT_EQ(Find<google::rpc::ErrorInfo>(wire).reason(), "TOKENIZER_NOT_FOUND");
}

TEST(StatusMapTest, LoadSaysWhenToTryAgain) {
  const auto wire = Details(ToGrpcStatus(cache::OverloadedError("QUEUE_FULL", "full", 1500)));
  const auto retry = Find<google::rpc::RetryInfo>(wire);
  EXPECT_EQ(retry.retry_delay().seconds(), 1);
  EXPECT_EQ(retry.retry_delay().nanos(), 500'000'000);
}

TEST(StatusMapTest, ALimitIsNoReasonToRetry) {
  const auto wire = Details(ToGrpcStatus(LimitExceeded("", "terms", 10, 11)));
  google::rpc::RetryInfo retry;
  for (const google::protobuf::Any& any : wire.details()) EXPECT_FALSE(any.UnpackTo(&retry));
  EXPECT_EQ(wire.message(), "limit terms is 10, 11 needed");
}

TEST(StatusMapTest, TextThatIsNotUtf8IsStillSent) {
  const auto wire = Details(ToGrpcStatus(InvalidAt("/\xFF", "token \xC3 refused")));
  EXPECT_EQ(wire.message(), "/\xEF\xBF\xBD: token \xEF\xBF\xBD refused");
}

}  // namespace
}  // namespace maskd::service
