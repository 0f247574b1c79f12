// Errors on the way from the wire: codes, messages and details, whatever a server sends.
#include "client/cpp/base/wire_status.h"

#include <cstdint>
#include <limits>
#include <string>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "gtest/gtest.h"

#include "client/cpp/base/errors.h"

namespace maskd::client {
namespace {

TEST(WireStatusTest, ACallsErrorKeepsItsDetails) {
  google::rpc::Status wire;
  google::rpc::ErrorInfo info;
  info.set_reason("LIMIT_EXCEEDED");
  wire.add_details()->PackFrom(info);
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_nanos(5'000'000);
  wire.add_details()->PackFrom(retry);
  const absl::Status status = FromWire(
      grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "full", wire.SerializeAsString()));
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(status.message(), "full");
  EXPECT_EQ(ErrorReason(status), "LIMIT_EXCEEDED");
  EXPECT_EQ(ErrorRetryAfter(status), absl::Milliseconds(5));
  EXPECT_EQ(ErrorPlace(status), "");
  EXPECT_TRUE(FromWire(grpc::Status::OK).ok());
}

TEST(WireStatusTest, DetailsThatAreNoneAreNone) {
  const absl::Status status =
      FromWire(grpc::Status(grpc::StatusCode::NOT_FOUND, "no row", "\xff no message"));
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_EQ(ErrorReason(status), "");
  absl::Status broken = absl::NotFoundError("no row");
  broken.SetPayload(DetailUrl<google::rpc::ErrorInfo>(), absl::Cord("\xff no message"));
  EXPECT_EQ(FindDetail<google::rpc::ErrorInfo>(broken), std::nullopt);
}

TEST(WireStatusTest, AnAddedDetailTakesThePlaceOfAnEarlierOne) {
  absl::Status status = absl::InternalError("x");
  google::rpc::ErrorInfo info;
  for (const char* reason : {"FIRST", "SECOND"}) {
    info.set_reason(reason);
    AddDetail(info, status);
  }
  EXPECT_EQ(ErrorReason(status), "SECOND");
}

TEST(WireStatusTest, ARowsErrorIsWrittenAsACallsIs) {
  v1::RowError error;
  error.set_code(8);
  error.set_message("too many");
  error.set_reason("LIMIT_EXCEEDED");
  error.set_place("tokens[3]");
  error.set_retry_after_ms(1'250);
  const absl::Status status = FromWire(error);
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_EQ(status.message(), "too many");
  EXPECT_EQ(ErrorReason(status), "LIMIT_EXCEEDED");
  EXPECT_EQ(ErrorPlace(status), "tokens[3]");
  EXPECT_EQ(ErrorRetryAfter(status), absl::Milliseconds(1'250));
  error.set_retry_after_ms(std::numeric_limits<std::uint32_t>::max());
  EXPECT_EQ(ErrorRetryAfter(FromWire(error)),
            absl::Milliseconds(std::numeric_limits<std::uint32_t>::max()));
}

// An engine that asks whether the error is OK must not take the row for a good one.
TEST(WireStatusTest, ARowsErrorIsAnErrorWhateverItsCode) {
  for (const std::int32_t code : {0, -1, 17, 1'000'000, std::numeric_limits<std::int32_t>::min()}) {
    v1::RowError error;
    error.set_code(code);
    error.set_message("of a code that there is not");
    error.set_place("tokens[0]");
    const absl::Status status = FromWire(error);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnknown) << code;
    EXPECT_EQ(status.message(), "of a code that there is not") << code;
    EXPECT_EQ(ErrorPlace(status), "tokens[0]") << code;
  }
}

}  // namespace
}  // namespace maskd::client
