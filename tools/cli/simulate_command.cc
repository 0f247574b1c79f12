// maskctl simulate: the main job, end to end, with a pretended model. This file reads the settings
// and spreads the schemas over the batch; simulation.cc decodes.
//
// Invariant  the exit status is 0 only where every sequence has ended by itself.
// Cost       that of the simulation, and one reading of each schema that a sequence has.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"

#include "client/apply/make_applier.h"
#include "tools/cli/command.h"
#include "tools/cli/connection.h"
#include "tools/cli/grammar_flags.h"
#include "tools/cli/simulate/report.h"
#include "tools/cli/simulate/simulation.h"

namespace maskd::cli {
namespace {

// Models pad their logits to a multiple of this, so a simulated one does.
constexpr std::int64_t kWidthMultiple = 64;

constexpr absl::Duration kCloseTimeout = absl::Seconds(10);

struct Settings {
  std::int64_t sequences = 0;
  std::int64_t constrained = 0;
  SimulationOptions simulation;
};

std::vector<Flag> SimulateFlags() {
  return WithConnectionFlags(WithGrammarFlags({
      {"schemas", "DIRECTORY", "where the schemas are, when no SCHEMA is named",
       "examples/schemas"},
      {"sequences", "COUNT", "sequences of the batch", "8"},
      {"constrained", "COUNT", "how many of them are held to a schema", "5"},
      {"budget", "TOKENS", "after half of it texts are drawn to their end", "120"},
      {"max_tokens", "TOKENS", "a text that is longer has failed", "400"},
      {"seed", "NUMBER", "of the pseudo-random logits", "1"},
      {"applier", "NAME", "what masks the logits", "auto"},
      {"out", "FILE", "write the results there, one line of JSON each: name, schema, text"},
  }));
}

absl::Status ReadNumber(const Flags& flags, absl::string_view name, std::int64_t min,
                        std::int64_t max, std::int64_t& to) {
  const auto number = flags.GetNumber(name, min, max);
  if (!number.ok()) return UsageError(number.status().message());
  to = *number;
  return absl::OkStatus();
}

absl::StatusOr<Settings> ReadSettings(const Flags& flags) {
  Settings settings;
  SimulationOptions& options = settings.simulation;
  std::int64_t seed = 0;
  const absl::Status statuses[] = {
      ReadNumber(flags, "sequences", 1, 4096, settings.sequences),
      ReadNumber(flags, "constrained", 0, 4096, settings.constrained),
      ReadNumber(flags, "budget", 1, 1 << 20, options.token_budget),
      ReadNumber(flags, "max_tokens", 1, 1 << 20, options.max_tokens),
      ReadNumber(flags, "seed", 0, std::int64_t{1} << 40, seed),
  };
  for (const absl::Status& status : statuses)
    if (!status.ok()) return status;
  options.seed = static_cast<std::uint64_t>(seed);
  if (settings.constrained > settings.sequences) {
    return UsageError(absl::StrCat("--constrained: ", settings.constrained,
                                   " is more than --sequences ", settings.sequences));
  }
  return settings;
}

// The constrained ones spread over the batch, each with the next schema.
absl::StatusOr<std::vector<Sequence>> MakeSequences(const Flags& flags, const Settings& settings) {
  const auto files = GrammarFiles(flags);
  if (!files.ok()) return files.status();
  std::vector<Sequence> sequences(static_cast<std::size_t>(settings.sequences));
  std::int64_t made = 0;
  for (std::int64_t i = 0; i < settings.sequences; ++i) {
    const bool constrained = (i + 1) * settings.constrained / settings.sequences > made;
    if (!constrained) continue;
    const std::string& file = (*files)[static_cast<std::size_t>(made++) % files->size()];
    auto grammar = ReadGrammarFile(file, flags);
    if (!grammar.ok()) return grammar.status();
    Sequence& sequence = sequences[static_cast<std::size_t>(i)];
    sequence.name = std::filesystem::path(file).stem().string();
    sequence.grammar = *std::move(grammar);
  }
  return sequences;
}

absl::Status WriteResults(const std::string& path, const Simulation& simulation) {
  if (path.empty()) return absl::OkStatus();
  std::ofstream file(path, std::ios::binary);
  file << ResultLines(simulation.sequences());
  file.close();
  return file ? absl::OkStatus()
              : absl::UnavailableError(absl::StrCat("--out: ", path, ": cannot be written"));
}

void PrintReport(const client::MaskStream& stream, const client::Applier& applier,
                 const Simulation& simulation) {
  const v1::Tokenizer& tokenizer = stream.welcome().tokenizer();
  absl::PrintF("tokenizer %s: %d tokens, masks of %d words; applier %s\n\n", tokenizer.name(),
               tokenizer.vocab_size(), stream.welcome().mask_words(), applier.name());
  absl::PrintF("%s\n", SequencesText(simulation.sequences()));
  absl::PrintF("%d steps, %d bytes of masks, %d full\n%s", simulation.steps().size(),
               simulation.mask_bytes(), simulation.full_masks(), TimesText(simulation.steps()));
}

absl::StatusOr<std::unique_ptr<client::MaskStream>> OpenStream(const Connection& connection,
                                                               std::size_t vocab_size) {
  const std::int64_t width =
      (static_cast<std::int64_t>(vocab_size) + kWidthMultiple) / kWidthMultiple * kWidthMultiple;
  return connection.client().OpenStream(
      {.tokenizer = connection.tokenizer(), .logits_width = static_cast<std::uint32_t>(width)});
}

absl::StatusOr<int> RunSimulation(const Flags& flags, const Settings& settings,
                                  std::vector<Sequence> sequences) {
  const auto applier = client::MakeApplier(flags.Get("applier"));
  if (!applier.ok()) return UsageError(absl::StrCat("--applier: ", applier.status().message()));
  const auto connection = Connection::Open(flags);
  if (!connection.ok()) return connection.status();
  const auto tokens = (*connection)->client().ListTokens((*connection)->tokenizer());
  if (!tokens.ok()) return tokens.status();
  const auto stream = OpenStream(**connection, tokens->size());
  if (!stream.ok()) return stream.status();
  const std::int64_t width = std::int64_t{(*stream)->welcome().mask_words()} * 32;
  Simulation simulation(**stream, **applier, *tokens, width, settings.simulation,
                        std::move(sequences));
  if (absl::Status status = simulation.Run(); !status.ok()) return status;
  if (absl::Status status = (*stream)->Close(kCloseTimeout); !status.ok()) return status;
  if (flags.Has("json"))
    absl::PrintF("%s", SimulationJson(simulation));
  else
    PrintReport(**stream, **applier, simulation);
  absl::Status written = WriteResults(flags.Get("out"), simulation);
  if (!written.ok()) return written;
  const bool all_complete = std::ranges::all_of(simulation.sequences(),
                                                [](const Sequence& each) { return each.complete; });
  return all_complete ? kExitYes : kExitNo;
}

absl::StatusOr<int> RunSimulate(const Flags& flags) {
  const auto settings = ReadSettings(flags);
  if (!settings.ok()) return settings.status();
  auto sequences = MakeSequences(flags, *settings);
  if (!sequences.ok()) return sequences.status();
  return RunSimulation(flags, *settings, *std::move(sequences));
}

}  // namespace

const Command kSimulateCommand = {
    "simulate",
    "[SCHEMA ...]",
    "decodes a batch of a pretended model, part of it held to schemas",
    "Each step sends the sampled tokens, makes pseudo-random logits meanwhile, collects the "
    "masks,\n"
    "applies them and samples. Prints each text, what its masks allowed and how long the parts of "
    "a\n"
    "step took. Exit status 0 only when every sequence has ended by itself.\n\n"
    "  maskctl simulate --out=results.jsonl && examples/validate_json.py results.jsonl\n",
    &SimulateFlags,
    &RunSimulate,
};

}  // namespace maskd::cli
