// maskctl applier: what appliers this machine has, and whether one does what a plain loop does.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"

#include "client/apply/make_applier.h"
#include "tools/cli/applier/batch_check.h"
#include "tools/cli/command.h"

namespace maskd::cli {
namespace {

// Two planes of float32 and one to compare them with: some 3 GiB at the most.
constexpr std::int64_t kMostLogits = std::int64_t{1} << 28;

struct NamedType {
  absl::string_view name;
  client::LogitsType type;
};
constexpr std::array kTypes = {NamedType{"float32", client::LogitsType::kFloat32},
                               NamedType{"float16", client::LogitsType::kFloat16},
                               NamedType{"bfloat16", client::LogitsType::kBFloat16}};

std::vector<Flag> ApplierFlags() {
  return {{"batches", "ROWS:HELD,...", "rows of a batch, and how many are held", "128:2,64:1,32:3"},
          {"vocab_size", "N", "tokens of a row", "32000"},
          {"json", "", "print JSON instead of a table"}};
}

absl::StatusOr<std::vector<BatchShape>> BatchesOf(const Flags& flags) {
  const auto vocab_size = flags.GetNumber("vocab_size", 91, 1 << 24);
  if (!vocab_size.ok()) return vocab_size.status();
  std::vector<BatchShape> shapes;
  for (const absl::string_view each : absl::StrSplit(flags.Get("batches"), ',')) {
    const std::pair<absl::string_view, absl::string_view> halves = absl::StrSplit(each, ':');
    BatchShape shape{.vocab_size = *vocab_size};
    if (!absl::SimpleAtoi(halves.first, &shape.rows) ||
        !absl::SimpleAtoi(halves.second, &shape.held) || shape.rows < 1 || shape.held < 0 ||
        shape.held > shape.rows || shape.rows > kMostLogits / shape.vocab_size) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--batches: \"", each, "\" is not ROWS:HELD with 0 <= HELD <= ROWS and at most ",
          kMostLogits, " logits"));
    }
    shapes.push_back(shape);
  }
  return shapes;
}

// 4,096,000.
std::string Grouped(std::int64_t number) {
  const std::string digits = absl::StrCat(number);
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

double Spared(const BatchCounts& counts) {
  return 100 * (1 - static_cast<double>(counts.named) / static_cast<double>(counts.plane));
}

std::string Line(absl::string_view type, const BatchShape& shape, const BatchCounts& counts) {
  const std::string greedy =
      shape.held == 0 ? "-" : absl::StrCat(counts.greedy_before, " -> ", counts.greedy_after);
  return absl::StrFormat("%-9s%5d%6d%14s%12s%10.1f %%%12s%8s%15s\n", type, shape.rows, shape.held,
                         Grouped(counts.plane), Grouped(counts.named), Spared(counts),
                         Grouped(counts.written), Grouped(counts.wrong), greedy);
}

nlohmann::ordered_json JsonOf(absl::string_view type, const BatchShape& shape,
                              const BatchCounts& counts) {
  return {{"type", type},
          {"rows", shape.rows},
          {"held", shape.held},
          {"vocab_size", shape.vocab_size},
          {"logits", counts.plane},
          {"of_held_rows", counts.named},
          {"written", counts.written},
          {"wrong", counts.wrong},
          {"greedy_before", counts.greedy_before},
          {"greedy_after", counts.greedy_after}};
}

absl::StatusOr<int> RunApplier(const Flags& flags) {
  if (flags.arguments().size() > 1) return UsageError("one name of an applier is taken");
  const auto shapes = BatchesOf(flags);
  if (!shapes.ok()) return UsageError(shapes.status().message());
  const bool is_named = !flags.arguments().empty();
  const auto applier =
      is_named ? client::MakeApplier(flags.arguments().front()) : client::MakeConfiguredApplier("");
  if (!applier.ok()) return applier.status();
  const std::string name(is_named ? flags.arguments().front() : (*applier)->name());

  std::string table = absl::StrFormat("%-9s%5s%6s%14s%12s%12s%12s%8s%15s\n", "type", "rows", "held",
                                      "logits", "of held", "spared", "written", "wrong", "greedy");
  nlohmann::ordered_json batches = nlohmann::ordered_json::array();
  bool right = true;
  for (const NamedType& type : kTypes) {
    for (const BatchShape& shape : *shapes) {
      const auto counts = CheckBatch(**applier, shape, type.type);
      if (!counts.ok()) return counts.status();
      right = right && counts->wrong == 0;
      table += Line(type.name, shape, *counts);
      batches.push_back(JsonOf(type.name, shape, *counts));
    }
  }
  if (flags.Has("json")) {
    const nlohmann::ordered_json all = {
        {"applier", name}, {"supported", client::SupportedAppliers()}, {"batches", batches}};
    absl::PrintF("%s\n", all.dump(2));
  } else {
    absl::PrintF("%sapplier: %s; supported here: %s\n", table, name,
                 absl::StrJoin(client::SupportedAppliers(), ", "));
  }
  return right ? kExitYes : kExitNo;
}

}  // namespace

const Command kApplierCommand = {
    "applier",
    "[NAME]",
    "masks batches of logits on this machine, and compares each bit with a plain loop's",
    "NAME is an applier such as cpu, cpu:avx2 or opencl; without it MASKD_APPLIER counts, or else\n"
    "auto. No server is asked. A line is a batch: its logits, those of its held rows (all that an\n"
    "applier may touch), the share that is spared, the logits written, those that differ from the\n"
    "plain loop's, and the token that a greedy sampler takes of the first held row, whose mask\n"
    "allows token 90 alone, before and after. Below them stand the appliers that this machine "
    "has.\n"
    "Exit status 1 where a logit is wrong.\n\n"
    "  maskctl applier\n"
    "  maskctl applier opencl --vocab_size=128256 --batches=256:64\n",
    &ApplierFlags,
    &RunApplier,
};

}  // namespace maskd::cli
