#include "client/apply/opencl/program_cache.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace maskd::client {
namespace {

constexpr absl::string_view kMagic = "maskd program 1\n";

// FNV-1a: for names and against damage, not against people (see the check of the owner).
std::uint64_t Hash(absl::string_view bytes) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001B3;
  return hash;
}

// What stands before the binary.
std::string Header(absl::string_view key, absl::string_view binary) {
  return absl::StrCat(kMagic, absl::StrFormat("%016x\n", Hash(binary)), key.size(), "\n", key);
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Ours, and writable by nobody else.
  [[nodiscard]] bool IsTrusted() const {
    struct stat status{};
    return descriptor_ >= 0 && fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode) &&
           status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  }
  [[nodiscard]] std::string Read() const {
    std::string bytes;
    char buffer[1 << 16];
    for (ssize_t got = 0; (got = read(descriptor_, buffer, sizeof(buffer))) > 0;)
      bytes.append(buffer, static_cast<std::size_t>(got));
    return bytes;
  }
  [[nodiscard]] bool Write(absl::string_view bytes) const {
    while (descriptor_ >= 0 && !bytes.empty()) {
      const ssize_t put = write(descriptor_, bytes.data(), bytes.size());
      if (put <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return descriptor_ >= 0;
  }

 private:
  int descriptor_;
};

}  // namespace

ProgramCache::ProgramCache(std::string directory) : directory_(std::move(directory)) {}

std::string ProgramCache::PathOf(absl::string_view key) const {
  return absl::StrFormat("%s/opencl-%016x.bin", directory_, Hash(key));
}

std::optional<std::string> ProgramCache::Find(absl::string_view key) const {
  if (directory_.empty()) return std::nullopt;
  const File file(open(PathOf(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.IsTrusted()) return std::nullopt;
  const std::string bytes = file.Read();
  const std::size_t header_size = Header(key, "").size();
  if (bytes.size() <= header_size) return std::nullopt;
  std::string binary = bytes.substr(header_size);
  if (!absl::StartsWith(bytes, Header(key, binary))) return std::nullopt;
  return binary;
}

bool ProgramCache::Keep(absl::string_view key, absl::string_view binary) const {
  if (directory_.empty() || binary.empty()) return false;
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  const std::string path = PathOf(key);
  std::string aside = path + ".XXXXXX";
  const File file(mkostemp(aside.data(), O_CLOEXEC));  // readable and writable by us alone
  const bool kept = file.Write(Header(key, binary)) && file.Write(binary) &&
                    rename(aside.c_str(), path.c_str()) == 0;
  if (!kept) unlink(aside.c_str());
  return kept;
}

std::string DefaultProgramCacheDirectory() {
  if (const char* named = std::getenv("MASKD_KERNEL_CACHE"); named != nullptr)
    return absl::string_view(named) == "off" ? "" : named;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    return absl::StrCat(cache, "/maskd");
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return absl::StrCat(home, "/.cache/maskd");
  return "";
}

}  // namespace maskd::client
