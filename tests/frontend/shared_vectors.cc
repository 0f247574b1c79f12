#include "tests/frontend/shared_vectors.h"

#include <cstdlib>
#include <fstream>

#include "absl/strings/match.h"

#include "grammar_core/base/error.h"

namespace maskd {

std::vector<nlohmann::json> SharedLines(const std::string& name) {
  const char* set = std::getenv("MASKD_SHARED_DIR");
  const std::string folder = set != nullptr ? set : std::string(MASKD_SOURCE_DIR) + "/../shared";
  std::ifstream file(folder + "/" + name);
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

bool IsClearError(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kResourceExhausted:
      return !ErrorReason(status).empty() && status.message().size() <= 4096;
    default:
      return false;
  }
}

bool IsEmptyLanguage(const absl::Status& status) {
  return absl::StrContains(std::string(status.message()), "no text satisfies");
}

}  // namespace maskd
