#include "tools/cli/simulate/report.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

#include "tools/cli/print.h"

namespace maskd::cli {
namespace {

std::string AllowedText(const std::vector<std::int64_t>& counts) {
  if (counts.empty()) return "no masks";
  const std::vector<double> values(counts.begin(), counts.end());
  return absl::StrFormat("%d masks allowing %.0f to %.0f tokens, median %.0f", counts.size(),
                         Percentile(values, 0), Percentile(values, 1), Percentile(values, 0.5));
}

std::string SequenceText(const Sequence& sequence) {
  const std::string kind = sequence.grammar.has_value() ? absl::StrCat("held to ", sequence.name)
                                                        : std::string("free text, not masked");
  std::string text = absl::StrFormat("%s: %d tokens", kind, sequence.context.token_count);
  if (sequence.grammar.has_value()) {
    absl::StrAppend(&text, ", ", AllowedText(sequence.allowed_counts));
  }
  if (!sequence.error.ok()) absl::StrAppend(&text, "\n  FAILED ", StatusText(sequence.error));
  return absl::StrCat(text, "\n  ",
                      sequence.grammar.has_value() ? sequence.text : Quoted(sequence.text), "\n");
}

using Part = double StepTimes::*;

std::string PartText(absl::string_view name, std::span<const StepTimes> steps, Part part) {
  std::vector<double> values;
  for (const StepTimes& step : steps) {
    if (!step.opens_rows) values.push_back(step.*part);
  }
  if (values.empty()) return "";
  return absl::StrFormat("  %-32s %9.1f %9.1f %9.1f\n", name, Percentile(values, 0.5),
                         Percentile(values, 0.99), Percentile(values, 1));
}

}  // namespace

double Percentile(std::vector<double> values, double share) {
  const auto index =
      static_cast<std::size_t>(std::lround(share * static_cast<double>(values.size() - 1)));
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(index));
  return values[index];
}

std::string SequencesText(std::span<const Sequence> sequences) {
  std::string text;
  for (const Sequence& sequence : sequences) absl::StrAppend(&text, SequenceText(sequence));
  return text;
}

std::string TimesText(std::span<const StepTimes> steps) {
  std::string text =
      absl::StrFormat("%-34s %9s %9s %9s\n", "microseconds a step", "p50", "p99", "max");
  absl::StrAppend(&text, PartText("send the step", steps, &StepTimes::submit_us),
                  PartText("forward pass (simulated)", steps, &StepTimes::forward_us),
                  PartText("wait for the masks after it", steps, &StepTimes::wait_us),
                  PartText("both: what the masks cost", steps, &StepTimes::masks_us),
                  PartText("apply the masks to the logits", steps, &StepTimes::apply_us));
  for (const StepTimes& step : steps) {
    if (!step.opens_rows) continue;
    absl::StrAppendFormat(&text, "  a step that opened rows waited %.1f for its compiles\n",
                          step.wait_us);
  }
  return text;
}

std::string ResultLines(std::span<const Sequence> sequences) {
  std::string lines;
  for (const Sequence& sequence : sequences) {
    if (!sequence.grammar.has_value() || !sequence.complete) continue;
    nlohmann::ordered_json line;
    line["name"] = sequence.name;
    line["schema"] = nlohmann::ordered_json::parse(sequence.grammar->source(), nullptr,
                                                   /*allow_exceptions=*/false);
    line["text"] = sequence.text;
    absl::StrAppend(&lines, line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                    "\n");
  }
  return lines;
}

}  // namespace maskd::cli
