// A folder of one test's own, gone after it. ctest runs the cases of a program side by side, and
// testing::TempDir() is the same for all of them: a file there needs a name that no other one has.
#ifndef MASKD_TESTS_BASE_TEST_FOLDER_H_
#define MASKD_TESTS_BASE_TEST_FOLDER_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace maskd {

class TestFolder {
 public:
  TestFolder() {
    std::string pattern = testing::TempDir() + "/maskd_XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() { std::filesystem::remove_all(path_); }

  // Writes a file and returns its path.
  std::string Write(absl::string_view name, absl::string_view content) const {
    const std::string path = Path(name);
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  [[nodiscard]] std::string Path(absl::string_view name) const {
    return path_ + "/" + std::string(name);
  }

 private:
  std::string path_;
};

}  // namespace maskd

#endif  // MASKD_TESTS_BASE_TEST_FOLDER_H_
