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
  if (sequence.grammar.has_value())
    absl::StrAppend(&text, ", ", AllowedText(sequence.allowed_counts));
  if (!sequence.error.ok()) absl::StrAppend(&text, "\n  FAILED ", StatusText(sequence.error));
  return absl::StrCat(text, "\n  ",
                      sequence.grammar.has_value() ? sequence.text : Quoted(sequence.text), "\n");
}

using Part = double StepTimes::*;

struct NamedPart {
  const char* key;
  const char* title;
  Part part;
};

constexpr NamedPart kParts[] = {
    {"submit", "send the step", &StepTimes::submit_us},
    {"forward", "forward pass (simulated)", &StepTimes::forward_us},
    {"wait", "wait for the masks after it", &StepTimes::wait_us},
    {"masks", "both: what the masks cost", &StepTimes::masks_us},
    {"apply", "apply the masks to the logits", &StepTimes::apply_us},
};

// The values of the steps that open no rows.
std::vector<double> ValuesOf(std::span<const StepTimes> steps, Part part) {
  std::vector<double> values;
  for (const StepTimes& step : steps)
    if (!step.opens_rows) values.push_back(step.*part);
  return values;
}

std::string PartText(const NamedPart& part, std::span<const StepTimes> steps) {
  const std::vector<double> values = ValuesOf(steps, part.part);
  if (values.empty()) return "";
  return absl::StrFormat("  %-32s %9.1f %9.1f %9.1f\n", part.title, Percentile(values, 0.5),
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
  for (const NamedPart& part : kParts) absl::StrAppend(&text, PartText(part, steps));
  for (const StepTimes& step : steps) {
    if (!step.opens_rows) continue;
    absl::StrAppendFormat(&text, "  a step that opened rows waited %.1f for its compiles\n",
                          step.wait_us);
  }
  return text;
}

std::string SimulationJson(const Simulation& simulation) {
  using Json = nlohmann::ordered_json;
  Json sequences = Json::array();
  for (const Sequence& each : simulation.sequences()) {
    sequences.push_back({{"name", each.name},
                         {"is_held", each.grammar.has_value()},
                         {"is_complete", each.complete},
                         {"tokens", each.context.token_count},
                         {"error", each.error.ok() ? "" : StatusText(each.error)},
                         {"text", each.text}});
  }
  Json times = Json::object();
  for (const NamedPart& each : kParts) {
    const std::vector<double> values = ValuesOf(simulation.steps(), each.part);
    if (values.empty()) continue;
    times[each.key] = {{"p50_us", Percentile(values, 0.5)},
                       {"p99_us", Percentile(values, 0.99)},
                       {"max_us", Percentile(values, 1)}};
  }
  const Json json = {{"sequences", std::move(sequences)},
                     {"steps", simulation.steps().size()},
                     {"mask_bytes", simulation.mask_bytes()},
                     {"full_masks", simulation.full_masks()},
                     {"times", std::move(times)}};
  return absl::StrCat(json.dump(-1, ' ', false, Json::error_handler_t::replace), "\n");
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
