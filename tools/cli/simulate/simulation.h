// A simulated engine: some sequences of a pretended model, part of them held to grammars by a maskd
// server, decoded together step by step until each has ended.
//
// One step  Submit() what was sampled; the forward pass makes logits meanwhile; Collect() the
//           masks;
//          apply them to the logits in place; sample the largest logit of each row.
// Threads  one.
#ifndef MASKD_TOOLS_CLI_SIMULATE_SIMULATION_H_
#define MASKD_TOOLS_CLI_SIMULATE_SIMULATION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "client/apply/applier.h"
#include "client/cpp/streams/mask_stream.h"
#include "maskd/v1/grammar.pb.h"
#include "maskd/v1/tokenizer_service.pb.h"
#include "tools/cli/simulate/model.h"

namespace maskd::cli {

// One sequence and what has become of it.
struct Sequence {
  std::string name;
  // Absent: free text, never in a step.
  std::optional<v1::Grammar> grammar;

  // In this order, each once.
  enum class Phase {
    kWaiting,   // to be opened, or its grammar compiles
    kDecoding,  // has logits in each step
    kEnding,    // a stop id was sampled and is to be told to the server
    kDone,
  };
  Phase phase = Phase::kWaiting;
  bool opened = false;
  bool closed = false;
  bool complete = false;  // ended by a stop id
  absl::Status error;
  Model::Context context;
  std::mt19937_64 random;
  std::vector<std::int32_t> sampled;  // not yet told to the server
  std::string text;
  std::vector<std::int64_t> allowed_counts;  // of its masks, step by step
};

// Microseconds of one step's parts.
struct StepTimes {
  bool opens_rows = false;
  double submit_us = 0;   // Submit()
  double forward_us = 0;  // making the logits
  double wait_us = 0;     // Collect(): what the forward pass did not hide
  double masks_us = 0;    // submit and wait: what masks cost the engine, applying them left out
  double apply_us = 0;
};

// The same options and seed give the same texts from the same masks.
struct SimulationOptions {
  std::int64_t token_budget = 120;
  std::int64_t max_tokens = 400;
  std::uint64_t seed = 1;
};

// Run() once; then what became of each sequence and step can be read.
class Simulation {
 public:
  // `stream`, `applier` and `tokens` must outlive it.
  Simulation(client::MaskStream& stream, const client::Applier& applier,
             const std::vector<v1::Token>& tokens, std::int64_t logits_width,
             const SimulationOptions& options, std::vector<Sequence> sequences);

  // Decodes until every sequence is done. Errors: the stream's, the applier's. What goes wrong with
  // one sequence is in it.
  absl::Status Run();

  // As they were given, in their order; and the times of each step.
  [[nodiscard]] const std::vector<Sequence>& sequences() const { return sequences_; }
  [[nodiscard]] const std::vector<StepTimes>& steps() const { return steps_; }
  // Bytes of all masks received, and the masks that were full.
  [[nodiscard]] std::int64_t mask_bytes() const { return mask_bytes_; }
  [[nodiscard]] std::int64_t full_masks() const { return full_masks_; }

 private:
  absl::Status RunStep();
  bool WriteStep();
  void Forward();
  void ReadResult();
  void ReadRow(Sequence& sequence, const client::RowResult& row);
  absl::Status ApplyMasks();
  void Sample();
  void SampleRow(Sequence& sequence, std::int64_t row);
  [[nodiscard]] std::span<float> LogitsOf(std::int64_t row);
  [[nodiscard]] bool IsDone() const;

  client::MaskStream& stream_;
  const client::Applier& applier_;
  const std::vector<v1::Token>& tokens_;
  const std::int64_t logits_width_;
  const SimulationOptions options_;
  const Model model_;
  std::vector<Sequence> sequences_;
  std::vector<float> logits_;  // one row a sequence
  client::Step step_;
  client::StepResult result_;
  std::vector<StepTimes> steps_;
  std::int64_t mask_bytes_ = 0;
  std::int64_t full_masks_ = 0;
};

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_SIMULATE_SIMULATION_H_
