#include "tools/attack/cases/attack_case.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"

#include "tools/attack/cases/corrections.h"
#include "tools/attack/cases/text_expression.h"

namespace maskd::attack {
namespace {

using Json = nlohmann::json;

absl::StatusOr<std::vector<std::string>> ReadTexts(const Json& expressions) {
  std::vector<std::string> texts;
  for (const Json& expression : expressions) {
    absl::StatusOr<std::string> text = ExpandText(expression);
    if (!text.ok()) return text.status();
    texts.push_back(*std::move(text));
  }
  return texts;
}

absl::StatusOr<AttackCase> ReadCase(Json json) {
  AttackCase made;
  made.correction = Correct(&json);
  made.id = json.at("id");
  made.kind = json.at("kind");
  made.format = json.at("format");
  made.recipe = json.value("recipe", Json());
  made.plain_payload = json.value("payload", "");
  made.must_be_refused = json.at("expected") == "error";
  made.may_be_refused = made.must_be_refused || json.value("may_refuse", false);
  absl::StatusOr<std::vector<std::string>> accept = ReadTexts(json.value("accept", Json::array()));
  absl::StatusOr<std::vector<std::string>> reject = ReadTexts(json.value("reject", Json::array()));
  if (!accept.ok()) return accept.status();
  if (!reject.ok()) return reject.status();
  made.accept = *std::move(accept);
  made.reject = *std::move(reject);
  made.codes = json.value("codes", std::vector<std::string>());
  made.steps = json.value("steps", Json());
  for (const Json& step : made.steps)
    static_cast<void>(step.at("op").get_ref<const std::string&>());
  const auto needs = json.value("needs", std::vector<std::string>());
  made.needs_special_tokens = std::ranges::find(needs, "special_tokens") != needs.end();
  made.budget_ms = json.at("budget").at("ms");
  made.budget_mib = json.at("budget").at("mib");
  return made;
}

}  // namespace

absl::StatusOr<std::string> AttackCase::Payload() const {
  if (recipe.is_null()) return plain_payload;
  return ExpandText(recipe);
}

absl::StatusOr<std::vector<AttackCase>> ReadAttackCases(const std::string& path) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  std::vector<AttackCase> cases;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty()) continue;
    absl::StatusOr<AttackCase> made;
    try {
      made = ReadCase(Json::parse(line));
    } catch (const Json::exception& error) {
      made = absl::InvalidArgumentError(error.what());
    }
    if (!made.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ":", number, ": ", made.status().message()));
    }
    made->family = std::filesystem::path(path).stem();
    cases.push_back(*std::move(made));
  }
  return cases;
}

}  // namespace maskd::attack
