// Built programs on disk, so that only a machine's first start compiles.
//
// Key      a text with everything that a binary depends on; it is written into the file and
//          compared in full, the file's name is only its hash.
// Safety   a file that is not ours, that others may write, or whose checksum is wrong, is as if it
//          were not there. Files appear whole: written aside, then renamed.
// Errors   none: what cannot be read is built, what cannot be written is built again next time.
// Threads  any, of any number of processes.
#ifndef MASKD_CLIENT_APPLY_OPENCL_PROGRAM_CACHE_H_
#define MASKD_CLIENT_APPLY_OPENCL_PROGRAM_CACHE_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace maskd::client {

// Holds a path alone; each call opens the files it needs.
class ProgramCache {
 public:
  // In `directory`, which is made when the first binary is kept. Empty: keeps nothing.
  explicit ProgramCache(std::string directory);

  // The binary, or nothing: a damaged file is the same as none.
  [[nodiscard]] std::optional<std::string> Find(absl::string_view key) const;
  // Whether it is on disk now.
  bool Keep(absl::string_view key, absl::string_view binary) const;

 private:
  [[nodiscard]] std::string PathOf(absl::string_view key) const;

  std::string directory_;
};

// MASKD_KERNEL_CACHE ("off": none), or maskd/ in the user's cache directory (XDG_CACHE_HOME,
// HOME/.cache); empty when there is none of them.
std::string DefaultProgramCacheDirectory();

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_OPENCL_PROGRAM_CACHE_H_
