// Which failures to connect are an answer. For this library's own files.
#ifndef MASKD_CLIENT_CPP_CONNECT_REFUSAL_H_
#define MASKD_CLIENT_CPP_CONNECT_REFUSAL_H_

#include "absl/strings/string_view.h"

namespace maskd::client {

// Whether `trouble`, gRPC's words of a connection that failed, says that nobody serves gRPC there:
// refused, no such socket or host, no way or permission, another protocol. All else, such as a
// connection that was lost or a full queue, may be otherwise a moment later.
bool IsRefusal(absl::string_view trouble);

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_CONNECT_REFUSAL_H_
