#include "tools/cli/vectors/vector.h"

#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"

namespace maskd::cli {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::pair<absl::string_view, Expect>, 4> kExpects = {{
    {"ok", Expect::kOk},
    {"error", Expect::kError},
    {"exact-or-error", Expect::kExactOrError},
    {"either", Expect::kEither},
}};

absl::StatusOr<Expect> ReadExpect(absl::string_view name) {
  for (const auto& [known, expect] : kExpects)
    if (name == known) return expect;
  return absl::InvalidArgumentError(absl::StrCat("expect: there is no \"", name, "\""));
}

absl::StatusOr<Vector> ReadVector(absl::string_view line) {
  try {
    const Json json = Json::parse(line.begin(), line.end());
    for (const char* const key : {"id", "kind", "grammar", "expect", "accepts", "rejects"})
      if (!json.contains(key)) return absl::InvalidArgumentError(absl::StrCat(key, ": is missing"));
    const absl::StatusOr<Expect> expect = ReadExpect(json.at("expect").get<std::string>());
    if (!expect.ok()) return expect.status();
    return Vector{json.at("id"), json.at("kind"),    json.at("grammar"),
                  *expect,       json.at("accepts"), json.at("rejects")};
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

}  // namespace

absl::StatusOr<std::vector<Vector>> ReadVectors(absl::string_view lines) {
  std::vector<Vector> vectors;
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(lines, '\n')) {
    ++number;
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    absl::StatusOr<Vector> vector = ReadVector(line);
    if (!vector.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": ", vector.status().message()));
    }
    vectors.push_back(*std::move(vector));
  }
  return vectors;
}

}  // namespace maskd::cli
