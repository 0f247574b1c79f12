// Which requests the playground answers. A page on loopback is within reach of every site that the
// same browser has open; these checks keep those sites out.
//
// Host     must be an address in numbers, "localhost", or a name that the command line allows. A
//          site that points its own name at this machine (DNS rebinding) sends that name.
// Origin   where the browser sends one, it must be this page's own.
// Body     must be application/json: no site can send that to another without asking first (CORS),
//          and the playground answers no such question.
// Threads  pure functions.
#ifndef MASKD_PLAYGROUND_REQUEST_GUARD_H_
#define MASKD_PLAYGROUND_REQUEST_GUARD_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace maskd::playground {

// Whether the value of a Host header is one that this server goes by. `names` are allowed beside
// addresses and localhost; the port is not looked at.
bool HostIsAllowed(absl::string_view host, const std::vector<std::string>& names);

// Whether an Origin header is absent (empty) or names the page that `host` serves.
bool OriginIsAllowed(absl::string_view origin, absl::string_view host);

// Whether a Content-Type header says application/json, parameters left out.
bool IsJson(absl::string_view content_type);

}  // namespace maskd::playground

#endif  // MASKD_PLAYGROUND_REQUEST_GUARD_H_
