#include "service/calls/call_work.h"

#include <grpcpp/impl/codegen/proto_utils.h>

#include "service/base/errors.h"

namespace maskd::service {

absl::Status ReadMessage(grpc::ByteBuffer* bytes, google::protobuf::Message* message) {
  using Traits = grpc::SerializationTraits<google::protobuf::Message>;
  return Traits::Deserialize(bytes, message).ok()
             ? absl::OkStatus()
             : BadField("", "the call has no message, or one that is none of its kind");
}

absl::Status WriteMessage(const google::protobuf::Message& message, grpc::ByteBuffer* bytes) {
  using Traits = grpc::SerializationTraits<google::protobuf::Message>;
  bool is_ours = false;
  return Traits::Serialize(message, bytes, &is_ours).ok()
             ? absl::OkStatus()
             : absl::InternalError("the reply cannot be written");
}

}  // namespace maskd::service
