// One page of a list that is sorted by a number: the largest first, those of the same number by id.
//
//   AdminPage<Listed> page({.size = 100, .after = *after});
//   for (...) page.Offer({value, id}, item);
//   page.next();                // where the next begins; nothing: that was the last
//   page.Take();                // the page
//
// Memory   of one page, however many are offered.
// Threads  one.
#ifndef MASKD_SERVICE_ADMIN_ADMIN_PAGE_H_
#define MASKD_SERVICE_ADMIN_ADMIN_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maskd::service {

// The place of one in the order.
struct AdminPlace {
  std::int64_t value = 0;
  std::string id;

  friend bool operator<(const AdminPlace& a, const AdminPlace& b) {
    return a.value != b.value ? a.value > b.value : a.id < b.id;
  }
};

// As a page token, and back. Errors: INVALID_ARGUMENT.
std::string TokenOf(const AdminPlace& place);
absl::StatusOr<std::optional<AdminPlace>> ReadPageToken(const std::string& token);

// What is asked for.
struct PageRequest {
  std::size_t size = 0;
  std::optional<AdminPlace> after =
      std::nullopt;  // the last of the page before; nothing: the first page
};

// `page_size` as it is asked for: 0 is the default, and no page is larger than the largest. Errors:
// INVALID_ARGUMENT.
absl::StatusOr<PageRequest> ReadPageRequest(int page_size, const std::string& page_token);

// The first `size` behind `after` of the items offered.
template <typename Item>
class AdminPage {
 public:
  // A page of the size that the request asks for, with nothing offered yet.
  explicit AdminPage(PageRequest request) : request_(std::move(request)) {}

  // Any number, in any order. It keeps a page of them: what is held does not grow with what is
  // offered.
  void Offer(AdminPlace place, Item item) {
    ++total_;
    if (request_.after.has_value() && !(*request_.after < place)) return;
    if (items_.size() == request_.size && !(place < std::prev(items_.end())->first)) {
      has_more_ = true;
      return;
    }
    items_.emplace(std::move(place), std::move(item));
    if (items_.size() <= request_.size) return;
    items_.erase(std::prev(items_.end()));
    has_more_ = true;
  }

  // All that were offered.
  [[nodiscard]] std::int64_t total() const { return total_; }
  // The token of the page behind this one; empty without one.
  [[nodiscard]] std::string next() const {
    return has_more_ ? TokenOf(std::prev(items_.end())->first) : std::string();
  }
  // Those of the page, in order; once. total() and next() stay as they are.
  [[nodiscard]] std::vector<Item> Take() {
    std::vector<Item> items;
    for (auto& [place, item] : items_) items.push_back(std::move(item));
    return items;
  }

 private:
  const PageRequest request_;
  std::map<AdminPlace, Item> items_;
  bool has_more_ = false;
  std::int64_t total_ = 0;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_ADMIN_ADMIN_PAGE_H_
