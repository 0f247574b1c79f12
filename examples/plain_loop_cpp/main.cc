// The smallest engine that holds its output to a schema.
//
//   plain_loop_cpp [ADDRESS [SEED]]        ADDRESS defaults to unix:/tmp/maskd.sock
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "client/apply/make_applier.h"
#include "client/cpp/client.h"
#include "client/cpp/steps/target_rows.h"

namespace {

using maskd::client::Applier;
using maskd::client::Client;
using maskd::client::MaskRow;
using maskd::client::MaskStream;
using maskd::client::RowResult;
using maskd::client::Step;
using maskd::client::StepResult;
using maskd::client::TokenId;

constexpr std::uint64_t kRow = 1;
constexpr absl::Duration kTimeout = absl::Seconds(10);
constexpr char kSchema[] = R"({
  "type": "object",
  "properties": {
    "city": {"enum": ["Lima", "Oslo", "Kyoto"]},
    "celsius": {"enum": [-4, 0, 12, 31]},
    "sky": {"enum": ["sun", "cloud", "rain"]}
  },
  "required": ["city", "celsius", "sky"],
  "additionalProperties": false
})";

maskd::v1::Grammar Weather() {
  maskd::v1::Grammar grammar;
  grammar.set_kind("json_schema");
  grammar.set_source(kSchema);
  grammar.mutable_options()->set_white_space(maskd::v1::WHITE_SPACE_COMPACT);
  return grammar;
}

// In place of a real engine's model: noise, but who has read JSON seldom escapes a letter.
struct Model {
  std::vector<float> scores;  // by token
  std::mt19937 random;

  Model(const std::vector<maskd::v1::Token>& tokens, unsigned seed) : random(seed) {
    for (const maskd::v1::Token& token : tokens)
      scores.push_back(token.text().find('\\') == std::string::npos ? 0.0F : -100.0F);
  }

  void Forward(std::vector<float>& logits) {
    std::normal_distribution<float> noise;
    for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = scores[i] + noise(random);
  }
};

// One step: tells what was sampled, runs the model, masks its logits, samples the next token.
absl::Status DecodeStep(MaskStream& stream, const Applier& applier, Step& step, Model& model,
                        std::vector<float>& logits, TokenId& sampled) {
  auto submitted = stream.Submit(step);
  if (!submitted.ok()) return submitted.status();
  model.Forward(logits);
  StepResult result;
  if (absl::Status status = stream.Collect(kTimeout, result); !status.ok()) return status;
  const RowResult* const row = result.Find(kRow);
  if (row == nullptr || !row->has_mask())
    return row == nullptr || row->error.ok() ? absl::InternalError("no mask") : row->error;
  const auto width = static_cast<std::int64_t>(logits.size());
  const std::int64_t vocab_size = stream.welcome().tokenizer().vocab_size();
  const MaskRow masks[] = {ToMaskRow(row->masks.front(), vocab_size, /*logits_row=*/0)};
  absl::Status masked =
      applier.Apply({.vocab_size = vocab_size, .rows = masks},
                    {.data = logits.data(), .row_count = 1, .width = width, .row_stride = width});
  sampled = static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin());
  return masked;
}

absl::Status Run(const std::string& address, unsigned seed) {
  auto client = Client::Connect({.address = address, .connect_timeout = absl::Seconds(10)});
  if (!client.ok()) return client.status();
  auto tokens = (*client)->ListTokens("");
  if (!tokens.ok()) return tokens.status();
  auto stream = (*client)->OpenStream({.logits_width = static_cast<std::uint32_t>(tokens->size())});
  if (!stream.ok()) return stream.status();
  auto applier = maskd::client::MakeApplier("auto");
  if (!applier.ok()) return applier.status();

  const auto& stop_ids = (*stream)->welcome().tokenizer().stop_ids();
  Model model(*tokens, seed);
  std::vector<float> logits(tokens->size());
  std::string text;
  Step step;
  step.Open(kRow, Weather()).WaitForCompile(kTimeout);
  for (;;) {
    TokenId sampled = 0;
    absl::Status status = DecodeStep(**stream, **applier, step, model, logits, sampled);
    if (!status.ok()) return status;
    if (std::ranges::count(stop_ids, sampled) > 0) break;
    text += (*tokens)[static_cast<std::size_t>(sampled)].text();
    step.Clear();
    step.Take(kRow, {&sampled, 1});
  }
  std::printf("%s\n", text.c_str());
  return (*stream)->Close(kTimeout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string address = argc > 1 ? argv[1] : "unix:/tmp/maskd.sock";
  const unsigned seed = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
  const absl::Status status = Run(address, seed);
  if (!status.ok()) std::fprintf(stderr, "plain_loop_cpp: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
