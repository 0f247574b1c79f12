// The end of the calls that this process makes to its own servers (inside_calls.h). gRPC 1.51 falls
// over a call that begins on a channel inside the process once its server shuts down: so whoever
// makes such calls ends them all before.
//
// Threads  any.
#ifndef MASKD_SERVICE_PORTS_CANCEL_INSIDE_CALLS_H_
#define MASKD_SERVICE_PORTS_CANCEL_INSIDE_CALLS_H_

namespace maskd::service {

// Cancels those that run now.
void CancelInsideCalls();

}  // namespace maskd::service

#endif  // MASKD_SERVICE_PORTS_CANCEL_INSIDE_CALLS_H_
