// The program maskctl, run as its users run it.
#ifndef MASKD_TESTS_TOOLS_MASKCTL_RUN_H_
#define MASKD_TESTS_TOOLS_MASKCTL_RUN_H_

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include <sys/wait.h>
#include <unistd.h>

namespace maskd {

struct Outcome {
  int exit = -1;
  std::string output;  // both streams
};

inline Outcome RunShell(const std::string& command) {
  std::FILE* const pipe = popen(absl::StrCat(command, " 2>&1 </dev/null").c_str(), "r");
  Outcome outcome;
  std::array<char, 4096> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    outcome.output.append(buffer.data(), count);
  const int status = pclose(pipe);
  outcome.exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

inline Outcome Maskctl(const std::string& arguments) {
  return RunShell(absl::StrCat(MASKD_MASKCTL, " ", arguments));
}

inline std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A line of a file that states what is not so, what is printed for it, and its row of the table.
struct WrongStatement {
  std::string name;
  std::string line;
  std::string printed;
  std::string row;
};

// A directory of the test's own, gone with it.
class MaskctlTest : public testing::Test {
 protected:
  MaskctlTest()
      : directory_(std::filesystem::temp_directory_path() /
                   absl::StrCat("maskctl_test.", getpid())) {
    std::filesystem::create_directories(directory_);
  }
  ~MaskctlTest() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::string Path(const std::string& name) const {
    return (directory_ / name).string();
  }
  [[nodiscard]] std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
    return Path(name);
  }

  std::filesystem::path directory_;
};

}  // namespace maskd

#endif  // MASKD_TESTS_TOOLS_MASKCTL_RUN_H_
