// The files of the page, as the build embedded them from playground/assets.
#ifndef MASKD_PLAYGROUND_ASSETS_H_
#define MASKD_PLAYGROUND_ASSETS_H_

#include <span>

#include "absl/strings/string_view.h"

namespace maskd::playground {

// A file; both views are of the program's own constants.
struct Asset {
  absl::string_view name;  // such as "style.css"
  absl::string_view text;
};

// In the order of their names.
std::span<const Asset> Assets();

}  // namespace maskd::playground

#endif  // MASKD_PLAYGROUND_ASSETS_H_
