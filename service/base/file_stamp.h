// When a file was last written, to see that it has changed.
//
// Threads  plain values.
#ifndef MASKD_SERVICE_BASE_FILE_STAMP_H_
#define MASKD_SERVICE_BASE_FILE_STAMP_H_

#include <cstdint>
#include <string>

#include <sys/stat.h>

namespace maskd::service {

// By this a rewritten file is told from the one before.
struct FileStamp {
  // All 0 for a file that is not there. Links are followed.
  static FileStamp Of(const std::string& path) {
    struct stat file{};
    if (path.empty() || stat(path.c_str(), &file) != 0) return {};
    return {file.st_ino, file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec};
  }
  bool operator==(const FileStamp&) const = default;

  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_BASE_FILE_STAMP_H_
