#include "tools/cli/vectors/tally.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"

#include "client/cpp/base/errors.h"
#include "tools/cli/print.h"

namespace maskd::cli {
namespace {

// A column of the table and of the JSON.
struct Column {
  const char* title;
  const char* key;
  int KindTotals::* count;
};

constexpr std::array kColumns = {
    Column{"vectors", "vectors", &KindTotals::vectors},
    Column{"right", "right", &KindTotals::right},
    Column{"of these refused where either is right", "refused_open", &KindTotals::refused_open},
    Column{"texts", "texts", &KindTotals::texts},
    Column{"wrong text accepted", "wrongly_accepted", &KindTotals::wrongly_accepted},
    Column{"right text refused", "wrongly_refused", &KindTotals::wrongly_refused},
    Column{"not compiled, should", "not_compiled", &KindTotals::not_compiled},
    Column{"compiled, should not", "compiled", &KindTotals::compiled},
    Column{"no clear answer", "unclear", &KindTotals::unclear},
};

// Codes that say something about the grammar; others are the server's failures.
bool IsClear(const absl::Status& refusal) {
  return !refusal.message().empty() &&
         (absl::IsInvalidArgument(refusal) || absl::IsUnimplemented(refusal) ||
          absl::IsResourceExhausted(refusal));
}

KindTotals Sum(const VectorTally& tally) {
  KindTotals sum;
  for (const auto& [kind, totals] : tally.kinds)
    for (const Column& column : kColumns) sum.*column.count += totals.*column.count;
  return sum;
}

std::string Row(absl::string_view name, const KindTotals& totals) {
  return absl::StrCat("| ", name, " | ",
                      absl::StrJoin(kColumns, " | ",
                                    [&](std::string* out, const Column& column) {
                                      absl::StrAppend(out, totals.*column.count);
                                    }),
                      " |\n");
}

}  // namespace

bool IsUnknownKind(const absl::Status& refusal) {
  return absl::IsInvalidArgument(refusal) && client::ErrorPlace(refusal) == "kind";
}

void CountRefusal(const Vector& vector, const absl::Status& refusal, VectorTally& tally) {
  KindTotals& totals = tally.kinds[vector.kind];
  ++totals.vectors;
  if (!IsClear(refusal)) {
    ++totals.unclear;
  } else if (vector.expect == Expect::kOk) {
    ++totals.not_compiled;
  } else {
    ++totals.right;
    totals.refused_open += vector.expect != Expect::kError;
    return;
  }
  tally.failures.push_back({vector.id, absl::StrCat("not compiled: ", StatusText(refusal))});
}

void CountTexts(const Vector& vector, const std::vector<TextVerdict>& verdicts,
                VectorTally& tally) {
  KindTotals& totals = tally.kinds[vector.kind];
  ++totals.vectors;
  const std::size_t failures_before = tally.failures.size();
  if (vector.expect == Expect::kError) {
    ++totals.compiled;
    tally.failures.push_back({vector.id, "compiled, though it is wrong"});
  }
  bool clear = true;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const TextVerdict& verdict = verdicts[i];
    const bool wanted = i < vector.accepts.size();
    const std::string text =
        Quoted(wanted ? vector.accepts[i] : vector.rejects[i - vector.accepts.size()]);
    if (!verdict.error.ok()) {
      clear = false;
      tally.failures.push_back({vector.id, absl::StrCat(text, ": ", StatusText(verdict.error))});
      continue;
    }
    ++totals.texts;
    if (verdict.accepted == wanted) continue;
    ++(wanted ? totals.wrongly_refused : totals.wrongly_accepted);
    tally.failures.push_back(
        {vector.id, wanted ? absl::StrCat("refused at byte ", verdict.stopped_at, ": ", text)
                           : absl::StrCat("accepted: ", text)});
  }
  totals.unclear += !clear;
  totals.right += tally.failures.size() == failures_before;
}

std::string TallyTable(const VectorTally& tally) {
  std::string table = "| kind |";
  for (const Column& column : kColumns) absl::StrAppend(&table, " ", column.title, " |");
  absl::StrAppend(&table, "\n|:---|");
  for (std::size_t i = 0; i < kColumns.size(); ++i) absl::StrAppend(&table, "---:|");
  absl::StrAppend(&table, "\n");
  for (const auto& [kind, totals] : tally.kinds) absl::StrAppend(&table, Row(kind, totals));
  if (tally.kinds.size() > 1) absl::StrAppend(&table, Row("all of these", Sum(tally)));
  if (!tally.kinds_not_supported.empty()) {
    const auto named = [](std::string* out, const auto& kind) {
      absl::StrAppend(out, kind.first, " (", kind.second, " vectors)");
    };
    absl::StrAppend(&table, "\nNOT RUN, there is no such kind of grammar: ",
                    absl::StrJoin(tally.kinds_not_supported, ", ", named), "\n");
  }
  return table;
}

std::string TallyJson(const VectorTally& tally) {
  nlohmann::ordered_json json;
  json["kinds"] = nlohmann::ordered_json::object();
  for (const auto& [kind, totals] : tally.kinds)
    for (const Column& column : kColumns) json["kinds"][kind][column.key] = totals.*column.count;
  json["kinds_not_supported"] = tally.kinds_not_supported;
  json["failures"] = nlohmann::ordered_json::array();
  for (const VectorFailure& failure : tally.failures)
    json["failures"].push_back({{"id", failure.id}, {"what", failure.what}});
  return absl::StrCat(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), "\n");
}

}  // namespace maskd::cli
