// A page token is the place of the page's last one. It is not a position in the list: grammars come
// and go between two pages, and a position would then skip some that have stayed where they were.
#include "service/admin/admin_page.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "service/base/errors.h"

namespace maskd::service {
namespace {

constexpr int kDefaultSize = 100;
constexpr int kMostSize = 500;

}  // namespace

std::string TokenOf(const AdminPlace& place) { return absl::StrCat(place.value, ":", place.id); }

absl::StatusOr<std::optional<AdminPlace>> ReadPageToken(const std::string& token) {
  if (token.empty()) return std::nullopt;
  const std::vector<std::string> parts = absl::StrSplit(token, absl::MaxSplits(':', 1));
  AdminPlace place;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &place.value))
    return BadField("page_token", "was not given by this server");
  place.id = parts[1];
  return place;
}

absl::StatusOr<PageRequest> ReadPageRequest(int page_size, const std::string& page_token) {
  if (page_size < 0) return BadField("page_size", "is below 0");
  auto after = ReadPageToken(page_token);
  if (!after.ok()) return after.status();
  const int size = page_size == 0 ? kDefaultSize : std::min(page_size, kMostSize);
  return PageRequest{static_cast<std::size_t>(size), *std::move(after)};
}

}  // namespace maskd::service
