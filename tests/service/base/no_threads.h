// A system that has no thread to give.
#ifndef MASKD_TESTS_SERVICE_BASE_NO_THREADS_H_
#define MASKD_TESTS_SERVICE_BASE_NO_THREADS_H_

#include <cstddef>

#include <pthread.h>

namespace maskd::service {

// No thread can begin while this lives: its stack would be larger than any address space.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 60);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_;
};

}  // namespace maskd::service

#endif  // MASKD_TESTS_SERVICE_BASE_NO_THREADS_H_
