// The shared test vectors, which lie beside the repository or in MASKD_SHARED_DIR.
#ifndef MASKD_TESTS_FRONTEND_SHARED_VECTORS_H_
#define MASKD_TESTS_FRONTEND_SHARED_VECTORS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"

namespace maskd {

// The lines of shared/`name`, parsed; none where the file is not there.
std::vector<nlohmann::json> SharedLines(const std::string& name);

// Whether a refusal names its cause in at most 4 KiB, with a code for a refusal.
bool IsClearError(const absl::Status& status);

// Whether a grammar was refused because no text satisfies it.
bool IsEmptyLanguage(const absl::Status& status);

}  // namespace maskd

#endif  // MASKD_TESTS_FRONTEND_SHARED_VECTORS_H_
