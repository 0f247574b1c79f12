// What a server asks of its process before it begins, so that what others do to it neither ends nor
// stops it.
#ifndef MASKD_SERVICE_PROCESS_PROCESS_SETUP_H_
#define MASKD_SERVICE_PROCESS_PROCESS_SETUP_H_

namespace maskd::service {

// Opens /dev/null as each of descriptors 0 to 2 that is closed, or a connection would become
// standard error. Ignores SIGPIPE and SIGXFSZ. Raises the soft limit of open descriptors to the
// hard one. Has gRPC's own messages go through the log. Threads begin as such that answer
// (cpu/thread_priority.h). To be called before any thread starts.
void SetUpProcess();

}  // namespace maskd::service

#endif  // MASKD_SERVICE_PROCESS_PROCESS_SETUP_H_
