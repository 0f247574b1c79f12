// Where a JSON text stands: inside a string or outside. All that the pretended model knows of JSON.
//
// Threads  a plain value.
#ifndef MASKD_TOOLS_CLI_SIMULATE_JSON_PLACE_H_
#define MASKD_TOOLS_CLI_SIMULATE_JSON_PLACE_H_

#include "absl/strings/string_view.h"

namespace maskd::cli {

// Two flags, so that a context can be copied at each token.
class JsonPlace {
 public:
  // Reads on. The text is taken to be JSON.
  void Take(absl::string_view bytes);

  // Behind an opening quote and before the closing one.
  [[nodiscard]] bool in_string() const { return in_string_; }

 private:
  bool in_string_ = false;
  bool escaped_ = false;
};

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_SIMULATE_JSON_PLACE_H_
