// Few entries and no order: every look compares with all of them, each in the same time, so how
// long it takes says nothing about which tokens there are.
#include "service/callers/token_table.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grammar_core/base/sha256.h"
#include "ring/unique_fd.h"

namespace maskd::service {
namespace {

constexpr std::size_t kMaxNameBytes = 128;
constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kMaxFileBytes = 16 << 20;

absl::Status Wrong(absl::string_view message) {
  return absl::InvalidArgumentError(std::string(message));
}

bool IsName(absl::string_view name) {
  constexpr absl::string_view kMarks = "-_.:/@";
  return name.size() <= kMaxNameBytes && std::all_of(name.begin(), name.end(), [=](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  absl::StrContains(kMarks, c);
         });
}

bool IsHash(absl::string_view hash) {
  return hash.size() == kHashDigits && std::all_of(hash.begin(), hash.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// What a header can carry: no other token could ever be said.
bool IsSayable(absl::string_view token) {
  return std::ranges::all_of(
      token, [](char c) { return absl::ascii_isgraph(static_cast<unsigned char>(c)); });
}

// In a time that depends on the size alone.
bool IsEqual(absl::string_view a, absl::string_view b) {
  unsigned char differs = 0;
  for (std::size_t i = 0; i < kHashDigits; ++i)
    differs |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return differs == 0;
}

}  // namespace

// For the files of a configuration, read whole. The bound keeps a wrong path, such as a log, from
// filling the memory. To open a pipe would wait for whoever writes to it, so that nothing else was
// done on main's thread, the end included: O_NONBLOCK opens it at once, and it is refused.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path) {
  const auto wrong = [&](absl::string_view why) { return Wrong(absl::StrCat(path, ": ", why)); };
  const ring::UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return wrong(std::strerror(errno));
  struct stat status{};
  if (fstat(file.get(), &status) != 0) return wrong(std::strerror(errno));
  if (S_ISDIR(status.st_mode)) return wrong(std::strerror(EISDIR));
  if (!S_ISREG(status.st_mode)) return wrong("is no file");
  // One byte more than may be, to see that there is more.
  std::string text(kMaxFileBytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = read(file.get(), text.data() + size, text.size() - size);
    if (count == 0) break;
    if (count < 0 && errno != EINTR) return wrong(std::strerror(errno));
    if (count > 0) size += static_cast<std::size_t>(count);
  }
  text.resize(size);
  if (size > kMaxFileBytes) return wrong(absl::StrCat("has more than ", kMaxFileBytes, " bytes"));
  return text;
}

absl::StatusOr<TokenTable> TokenTable::Parse(absl::string_view text) {
  TokenTable table;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (absl::Status added = table.AddLine(line); !added.ok())
      return Wrong(absl::StrCat(number, ": ", added.message()));
  }
  return table;
}

absl::StatusOr<TokenTable> TokenTable::Read(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadSmallFile(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<TokenTable> table = Parse(*text);
  if (!table.ok()) return Wrong(absl::StrCat(path, ":", table.status().message()));
  return table;
}

// Errors say what is wrong with the line and never repeat it: they go into the log, and the line
// may hold a secret.
absl::Status TokenTable::AddLine(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
  if (line.empty()) return absl::OkStatus();
  const std::vector<absl::string_view> parts =
      absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (parts.size() != 2) return Wrong("is not a name and a token");
  if (!IsName(parts[0])) return Wrong("has a name that is too long or has other characters");
  absl::string_view token = parts[1];
  if (absl::ConsumePrefix(&token, "sha256:")) {
    if (!IsHash(token)) return Wrong("sha256: is not followed by 64 lower-case digits");
    entries_.push_back({std::string(parts[0]), std::string(token)});
    return absl::OkStatus();
  }
  if (token.size() < kMinTokenBytes || token.size() > kMaxTokenBytes) {
    return Wrong(absl::StrCat("has a token of fewer than ", kMinTokenBytes, " or more than ",
                              kMaxTokenBytes, " characters"));
  }
  if (!IsSayable(token)) return Wrong("has a token with characters that no header carries");
  entries_.push_back({std::string(parts[0]), Sha256Hex(token)});
  return absl::OkStatus();
}

std::optional<std::string> TokenTable::Find(absl::string_view token) const {
  if (token.size() > kMaxTokenBytes) return std::nullopt;
  const std::string sha256 = Sha256Hex(token);
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    // No early end.
    found = IsEqual(entry.sha256, sha256) ? &entry : found;
  }
  return found == nullptr ? std::nullopt : std::optional(found->name);
}

}  // namespace maskd::service
