#include "service/ports/accept_loop.h"

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "grammar_core/base/mutex.h"
#include "service/ports/listen_socket.h"

namespace maskd::service {
namespace {

using ring::UniqueFd;

std::string Path() {
  return (std::filesystem::temp_directory_path() / absl::StrCat("maskd_accept.", getpid()))
      .string();
}

UniqueFd ConnectTo(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  return fd;
}

// The connections that a loop has taken.
class Taken {
 public:
  void Add(UniqueFd fd) {
    const MutexLock lock(&mutex_);
    fds_.push_back(std::move(fd));
    changed_.NotifyAll();
  }
  void Await(std::size_t count) {
    const MutexLock lock(&mutex_);
    while (fds_.size() < count) changed_.Wait(&mutex_);
  }
  std::size_t count() {
    const MutexLock lock(&mutex_);
    return fds_.size();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<UniqueFd> fds_;
};

TEST(AcceptLoopTest, GoesOnWhenThereAreDescriptorsAgain) {
  const auto socket = ListenSocket::Open("unix:" + Path(), {});
  ASSERT_TRUE(socket.ok()) << socket.status();
  Taken taken;
  std::atomic<std::int64_t> shortages = 0;
  const auto loop = AcceptLoop::Start(
      {socket->fds().front().get()},
      [&](UniqueFd fd, int /*listener*/) { taken.Add(std::move(fd)); }, &shortages);
  ASSERT_TRUE(loop.ok()) << loop.status();
  const UniqueFd before = ConnectTo(Path());
  taken.Await(1);

  const UniqueFd one_more(open("/dev/null", O_RDONLY | O_CLOEXEC));
  std::vector<UniqueFd> hoard;
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit small = {static_cast<rlim_t>(one_more.get()) + 10, limit.rlim_max};
  UniqueFd waiting = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &small), 0);
  for (int fd = 0; fd >= 0;) {
    fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) hoard.emplace_back(fd);
  }
  ASSERT_EQ(errno, EMFILE);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  Path().copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(connect(waiting.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
            0);
  while (shortages < 3) sched_yield();
  EXPECT_EQ(taken.count(), 1U);

  hoard.clear();
  taken.Await(2);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

TEST(AcceptLoopTest, ServesSeveralListenersInTurn) {
  const auto first = ListenSocket::Open("unix:" + Path() + ".1", {});
  const auto second = ListenSocket::Open("127.0.0.1:0", {});
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_GT(second->port(), 1);
  Taken taken;
  std::atomic<std::int64_t> shortages = 0;
  const auto loop = AcceptLoop::Start(
      {second->fds().front().get(), first->fds().front().get()},
      [&](UniqueFd fd, int /*listener*/) { taken.Add(std::move(fd)); }, &shortages);
  ASSERT_TRUE(loop.ok()) << loop.status();
  std::vector<UniqueFd> clients;
  constexpr std::size_t kMany = 100;
  for (std::size_t i = 0; i < kMany; ++i) clients.push_back(ConnectTo(Path() + ".1"));
  taken.Await(kMany);
}

}  // namespace
}  // namespace maskd::service
