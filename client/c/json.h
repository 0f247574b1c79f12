// Messages as protobuf's JSON, with the names of the .proto files. For the files of this folder.
#ifndef MASKD_CLIENT_C_JSON_H_
#define MASKD_CLIENT_C_JSON_H_

#include <string>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace maskd::client {

// INVALID_ARGUMENT, beginning with `name`, for JSON that is not such a message.
absl::Status FromJson(const char* json, google::protobuf::Message& message, const char* name);

// Fields with default values are printed too.
std::string ToJson(const google::protobuf::Message& message);

}  // namespace maskd::client

#endif  // MASKD_CLIENT_C_JSON_H_
