// TLS of the server's TCP addresses: its certificate, and which clients' are taken.
//
// Rotation  gRPC looks at the files once a second and takes what has changed for the connections
//           that come; open ones go on. A pair that is written file by file may be read
//           half new: put both into a folder of their own and change a link to it, as Kubernetes
//           does with secrets.
// Threads   no state.
#ifndef MASKD_SERVICE_PORTS_TLS_H_
#define MASKD_SERVICE_PORTS_TLS_H_

#include <memory>

#include "absl/status/status.h"
#include <grpcpp/security/server_credentials.h>

#include "service/config/config.h"

namespace maskd::service {

// Whether the files can be read and the key is the certificate's. Errors: INVALID_ARGUMENT; the
// message starts with the flag.
absl::Status CheckTlsFiles(const Config& config);

// Requires CheckTlsFiles().
std::shared_ptr<grpc::ServerCredentials> MakeTlsCredentials(const Config& config);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_PORTS_TLS_H_
