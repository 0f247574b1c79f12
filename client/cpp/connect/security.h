// How this library's connections are secured, as the environment says. For its own files.
//
//   MASKD_TLS_CA      a PEM file, whose certificates may sign the server's, or "system": TCP
//                     addresses are reached over TLS. Not set: in plain text.
//   MASKD_TLS_CERT    this client's certificate, PEM, with its key in MASKD_TLS_KEY
//   MASKD_TLS_NAME    the name in the server's certificate, where it is not the address's host
//   MASKD_TOKEN_FILE  a file that holds a bearer token: it goes with each call over TLS
//
// Sockets   over Unix sockets none of it is used: there the user is who one is.
// Rotation  the PEM files are looked at once a minute, the token's with each call.
// Threads   any.
#ifndef MASKD_CLIENT_CPP_CONNECT_SECURITY_H_
#define MASKD_CLIENT_CPP_CONNECT_SECURITY_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"

namespace maskd::client {

// Whether what the environment says can be used: files that can be read, PEM where it is due, a
// token in its file. Errors: INVALID_ARGUMENT with the variable.
absl::Status CheckSecurity();

// Credentials for `address`, and what of the arguments they need. Null when CheckSecurity() has an
// error: nothing that was to be secure goes in plain text.
std::shared_ptr<grpc::ChannelCredentials> MakeCredentials(absl::string_view address,
                                                          grpc::ChannelArguments* arguments);

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_CONNECT_SECURITY_H_
