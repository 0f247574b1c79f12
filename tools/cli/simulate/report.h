// What a simulation has to show: its texts, its masks, its times.
#ifndef MASKD_TOOLS_CLI_SIMULATE_REPORT_H_
#define MASKD_TOOLS_CLI_SIMULATE_REPORT_H_

#include <span>
#include <string>
#include <vector>

#include "tools/cli/simulate/simulation.h"

namespace maskd::cli {

// One paragraph a sequence: how it ended, how many tokens its masks allowed, its text.
std::string SequencesText(std::span<const Sequence> sequences);

// Percentiles of each part of a step. Steps that open rows, whose time is that of compiles, are
// told apart.
std::string TimesText(std::span<const StepTimes> steps);

// Sequences and percentiles of the steps, as one JSON object.
std::string SimulationJson(const Simulation& simulation);

// One line of JSON for each sequence with a schema that ended: name, schema, text.
std::string ResultLines(std::span<const Sequence> sequences);

// The value at `share` (0 to 1) of the sorted values. Requires at least one.
double Percentile(std::vector<double> values, double share);

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_SIMULATE_REPORT_H_
