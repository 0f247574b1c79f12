// Where the system has no thread to give.
#include <latch>
#include <memory>

#include <gtest/gtest.h>
#include <pthread.h>

#include "service/standby_thread.h"
#include "service/step_threads.h"

namespace maskd::service {
namespace {

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

 private:
  pthread_attr_t before_;
};

TEST(ThreadsTest, AStandbyThreadIsThereBeforeItsJob) {
  auto thread = StandbyThread::Start();
  ASSERT_NE(thread, nullptr);
  std::latch done(1);
  thread->Run([&] { done.count_down(); });
  done.wait();
  EXPECT_NE(StandbyThread::Start(), nullptr) << "one that is never used ends";
}

TEST(ThreadsTest, NoStandbyThreadIsNoCrash) {
  const NoThreads none;
  EXPECT_EQ(StandbyThread::Start(), nullptr);
}

TEST(ThreadsTest, AJobWaitsForAThreadThatIsThere) {
  StepThreads threads;
  std::latch first_begun(1);
  std::latch first_may_end(1);
  std::latch second_done(1);
  threads.Run([&] {
    first_begun.count_down();
    first_may_end.wait();
  });
  first_begun.wait();
  {
    const NoThreads none;
    threads.Run([&] { second_done.count_down(); });
  }
  first_may_end.count_down();
  second_done.wait();
}

}  // namespace
}  // namespace maskd::service
