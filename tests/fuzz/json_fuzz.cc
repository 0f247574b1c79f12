// The JSON reader against another one: both take a text or neither does, and what ours writes back
// means the same.
//
// Differences   a byte order mark (nlohmann skips one) and a zero byte (it ends there), numbers
//               that no double holds (it refuses them), a name twice in an object (we refuse it, at
//               a JSON Pointer instead of line:column), and our bounds on depth and size.
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include <nlohmann/json.hpp>

#include "grammar_core/frontend/json/json_document.h"
#include "tests/fuzz/fuzz_checks.h"
#include "tests/fuzz/fuzz_target.h"

namespace maskd::fuzz {
namespace {

using Json = nlohmann::json;

// Counts numbers that no double holds as numbers.
class Acceptor : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
    constexpr int kNumberOverflow = 406;
    overflow = error.id == kNumberOverflow;
    return false;
  }

  bool overflow = false;
};

void CheckText(absl::string_view text) {
  const absl::StatusOr<JsonDocument> ours = JsonDocument::Parse(text, SmallLimits());
  if (!ours.ok()) RequireClear(ours.status());
  const bool name_twice = absl::StartsWith(ErrorPlace(ours.status()), "/");
  const bool read_otherwise = absl::StartsWith(text, "\xEF") || absl::StrContains(text, '\0');
  if (read_otherwise || name_twice || absl::IsResourceExhausted(ours.status())) return;
  Acceptor acceptor;
  const bool theirs = Json::sax_parse(text.begin(), text.end(), &acceptor);
  if (acceptor.overflow) return;
  Require(ours.ok() == theirs, "both readers agree", std::string(ours.status().ToString()));
  if (!ours.ok()) return;
  const std::string compact = ours->root().Compact();
  Require(JsonDocument::Parse(compact, SmallLimits()).ok(), "what is written can be read", compact);
  Require(Json::parse(compact) == Json::parse(text.begin(), text.end()),
          "what is written means the same", compact);
}

void RunJson(absl::string_view /*name*/, absl::string_view input) { CheckText(input); }

}  // namespace

MASKD_FUZZ_TARGETS(RunJson, "json");

}  // namespace maskd::fuzz
