#include "tools/cli/simulate/json_place.h"

namespace maskd::cli {

void JsonPlace::Take(absl::string_view bytes) {
  for (const char byte : bytes)
    if (escaped_)
      escaped_ = false;
    else if (in_string_ && byte == '\\')
      escaped_ = true;
    else if (byte == '"')
      in_string_ = !in_string_;
}

}  // namespace maskd::cli
