#include "tools/cli/schemas/schema_tally.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include <nlohmann/json.hpp>

#include "client/cpp/base/errors.h"
#include "tools/cli/print.h"

namespace maskd::cli {
namespace {

struct Column {
  const char* title;
  const char* key;
  int SchemaTotals::* count;
};

constexpr std::array kColumns = {
    Column{"schemas", "schemas", &SchemaTotals::schemas},
    Column{"right", "right", &SchemaTotals::right},
    Column{"not compiled", "not_compiled", &SchemaTotals::not_compiled},
    Column{"refusing valid texts", "with_refused", &SchemaTotals::with_refused},
    Column{"accepting invalid texts", "with_accepted", &SchemaTotals::with_accepted},
    Column{"failed", "failed", &SchemaTotals::failed},
    Column{"texts", "texts", &SchemaTotals::texts},
    Column{"valid refused", "valid_refused", &SchemaTotals::valid_refused},
    Column{"invalid accepted", "invalid_accepted", &SchemaTotals::invalid_accepted},
};

// A text as a cell of a table.
std::string Cell(const std::string& text) {
  return absl::StrReplaceAll(text, {{"|", "\\|"}, {"\n", " "}, {"\r", " "}});
}

std::string Row(const std::string& name, const SchemaTotals& totals) {
  const auto append = [&](std::string* out, const Column& column) {
    absl::StrAppend(out, totals.*column.count);
  };
  return absl::StrCat("| ", Cell(name), " | ", absl::StrJoin(kColumns, " | ", append), " |\n");
}

// The limit that was met, or the keyword that the place ends in: its last part that is no index.
std::string CauseOf(const absl::Status& refusal) {
  if (client::ErrorReason(refusal) == "LIMIT_EXCEEDED") {
    const std::string message(refusal.message());
    const std::size_t at = message.rfind("limit ");
    if (at != std::string::npos) return message.substr(at, message.find(" is ", at) - at);
  }
  std::vector<std::string> parts = absl::StrSplit(client::ErrorPlace(refusal), '/');
  const auto is_index = [](const std::string& part) {
    return std::ranges::all_of(part, absl::ascii_isdigit);
  };
  while (!parts.empty() && is_index(parts.back())) parts.pop_back();
  return parts.empty() ? "(no place)" : parts.back();
}

}  // namespace

std::vector<std::string> TextsOf(const SchemaCase& one, bool with_shuffled) {
  std::vector<std::string> texts = one.valid;
  texts.insert(texts.end(), one.invalid.begin(), one.invalid.end());
  if (with_shuffled) texts.insert(texts.end(), one.shuffled.begin(), one.shuffled.end());
  return texts;
}

void CountRefusedSchema(const SchemaCase& one, const std::string& group,
                        const absl::Status& refusal, SchemaTally& tally) {
  SchemaTotals& totals = tally.groups[group];
  ++totals.schemas;
  if (absl::IsInvalidArgument(refusal) && one.valid.empty()) {
    ++totals.right;
    return;
  }
  ++totals.not_compiled;
  ++tally.refused_for[CauseOf(refusal)];
  tally.failures.push_back(absl::StrCat(one.id, ": not compiled: ", StatusText(refusal)));
}

void CountSchema(const SchemaCase& one, const std::string& group,
                 const std::vector<std::string>& texts, const std::vector<TextVerdict>& verdicts,
                 SchemaTally& tally) {
  SchemaTotals& totals = tally.groups[group];
  ++totals.schemas;
  SchemaTotals own;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const TextVerdict& verdict = verdicts[i];
    const bool is_valid = i < one.valid.size() || i >= one.valid.size() + one.invalid.size();
    if (!verdict.error.ok()) {
      own.failed = 1;
      tally.failures.push_back(
          absl::StrCat(one.id, ": ", Quoted(texts[i]), ": ", StatusText(verdict.error)));
      continue;
    }
    ++totals.texts;
    if (verdict.accepted == is_valid) continue;
    ++(is_valid ? own.valid_refused : own.invalid_accepted);
    tally.failures.push_back(absl::StrCat(
        one.id, ": ",
        is_valid ? absl::StrCat("valid refused at byte ", verdict.stopped_at) : "invalid accepted",
        ": ", Quoted(texts[i])));
  }
  totals.failed += own.failed;
  totals.valid_refused += own.valid_refused;
  totals.invalid_accepted += own.invalid_accepted;
  totals.with_refused += own.valid_refused > 0;
  totals.with_accepted += own.invalid_accepted > 0;
  totals.right += own.failed + own.valid_refused + own.invalid_accepted == 0;
}

std::string SchemaTables(const SchemaTally& tally, const std::string& by) {
  std::string text = absl::StrCat("| ", Cell(by), " |");
  for (const Column& column : kColumns) absl::StrAppend(&text, " ", column.title, " |");
  absl::StrAppend(&text, "\n|:---|");
  for (std::size_t i = 0; i < kColumns.size(); ++i) absl::StrAppend(&text, "---:|");
  absl::StrAppend(&text, "\n");
  SchemaTotals sum;
  for (const auto& [name, totals] : tally.groups) {
    absl::StrAppend(&text, Row(name, totals));
    for (const Column& column : kColumns) sum.*column.count += totals.*column.count;
  }
  if (tally.groups.size() > 1) absl::StrAppend(&text, Row("all of these", sum));
  if (tally.refused_for.empty()) return text;
  absl::StrAppend(&text, "\n| not compiled for | schemas |\n|:---|---:|\n");
  for (const auto& [keyword, count] : tally.refused_for)
    absl::StrAppend(&text, "| `", Cell(keyword), "` | ", count, " |\n");
  return text;
}

std::string SchemaTallyJson(const SchemaTally& tally) {
  nlohmann::ordered_json json;
  json["groups"] = nlohmann::ordered_json::object();
  for (const auto& [group, totals] : tally.groups)
    for (const Column& column : kColumns) json["groups"][group][column.key] = totals.*column.count;
  json["refused_for"] = tally.refused_for;
  json["failures"] = tally.failures;
  return absl::StrCat(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), "\n");
}

}  // namespace maskd::cli
