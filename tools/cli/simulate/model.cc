#include "tools/cli/simulate/model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace maskd::cli {
namespace {

// Scores of texts: how much less likely than a plain word.
constexpr float kNever = -100.0F;
constexpr float kNotAscii = -9.0F;
constexpr float kSymbols = -4.0F;
constexpr float kUnusual = -9.0F;

constexpr float kPadding = 1000.0F;

// The odds of a class against all other tokens together, as logarithms.
constexpr float kStringEnds = 0.0F;  // a string has a few tokens
constexpr float kTextEnds = -4.0F;   // free text has about fifty
constexpr float kSpaces = -11.0F;    // most JSON is written without

// What a text past its budget adds to the tokens that end it; noise stays far below.
constexpr float kStrongestPull = 60.0F;

constexpr std::size_t kNoiseSize = std::size_t{1} << 20;

bool IsWordByte(char byte) {
  return absl::ascii_isalpha(static_cast<unsigned char>(byte)) || byte == ' ';
}

float ScoreOf(const v1::Token& token) {
  const absl::string_view text = token.text();
  if (token.special() || text.empty()) return kNever;
  if (std::ranges::any_of(text, [](char byte) { return static_cast<unsigned char>(byte) >= 0x80; }))
    return kNotAscii;
  if (text.find_first_of("\\\n\r\t") != absl::string_view::npos) return kUnusual;
  const bool is_plain = text.size() == 1 || std::ranges::all_of(text, IsWordByte);
  return is_plain ? 0.0F : kSymbols;
}

float WeightOf(std::span<const float> scores) {
  double sum = 0;
  for (const float score : scores) sum += std::exp(static_cast<double>(score));
  return static_cast<float>(std::log(sum));
}

std::vector<float> GumbelNoise(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(1e-12, 1.0);
  std::vector<float> noise(kNoiseSize);
  for (float& each : noise) each = static_cast<float>(-std::log(-std::log(uniform(random))));
  return noise;
}

// 0 up to half of the budget, then growing.
float Pull(const Model::Context& context) {
  const auto half = static_cast<float>(context.token_budget) / 2;
  const float past = static_cast<float>(context.token_count) - half;
  return std::clamp(past / std::max(half, 1.0F), 0.0F, 1.0F) * kStrongestPull;
}

}  // namespace

Model::Model(std::span<const v1::Token> tokens, std::span<const std::int32_t> stop_ids,
             std::uint64_t seed)
    : noise_(GumbelNoise(seed)) {
  scores_.reserve(tokens.size());
  for (const v1::Token& token : tokens) scores_.push_back(ScoreOf(token));
  total_weight_ = WeightOf(scores_);
  stops_ = MakeClass({stop_ids.begin(), stop_ids.end()});
  quotes_ = MakeClassByFirstByte(tokens, "\"");
  closers_ = MakeClassByFirstByte(tokens, "}]");
  separators_ = MakeClassByFirstByte(tokens, ",:");
  openers_ = MakeClassByFirstByte(tokens, "{[");
  spaces_ = MakeClassByFirstByte(tokens, " \t\r\n");
}

Model::Class Model::MakeClass(std::vector<std::int32_t> ids) const {
  std::vector<float> scores;
  scores.reserve(ids.size());
  for (const std::int32_t id : ids) scores.push_back(scores_[static_cast<std::size_t>(id)]);
  const float to_parity = ids.empty() ? 0 : total_weight_ - WeightOf(scores);
  return {std::move(ids), to_parity};
}

Model::Class Model::MakeClassByFirstByte(std::span<const v1::Token> tokens,
                                         const char* first_bytes) const {
  const absl::string_view wanted = first_bytes;
  std::vector<std::int32_t> ids;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const absl::string_view text = tokens[id].text();
    if (tokens[id].special() || text.empty()) continue;
    if (wanted.find(text.front()) != absl::string_view::npos)
      ids.push_back(static_cast<std::int32_t>(id));
  }
  return MakeClass(std::move(ids));
}

void Model::Add(const Class& to, float bonus, std::span<float> logits) {
  for (const std::int32_t id : to.ids) logits[static_cast<std::size_t>(id)] += bonus;
}

void Model::Forward(const Context& context, std::mt19937_64& random,
                    std::span<float> logits) const {
  const std::size_t from = random();
  for (std::size_t i = 0; i < scores_.size(); ++i)
    logits[i] = scores_[i] + noise_[(from + i) % kNoiseSize];
  std::ranges::fill(logits.subspan(scores_.size()), kPadding);
  const float pull = Pull(context);
  if (!context.is_json) return Add(stops_, stops_.to_parity + kTextEnds + pull, logits);
  if (context.place.in_string())
    return Add(quotes_, quotes_.to_parity + kStringEnds + pull, logits);
  Add(stops_, stops_.to_parity + 2 * pull, logits);
  Add(closers_, closers_.to_parity + pull, logits);
  Add(separators_, separators_.to_parity + pull / 4, logits);
  Add(quotes_, quotes_.to_parity + pull / 8, logits);
  Add(openers_, openers_.to_parity - pull, logits);
  Add(spaces_, spaces_.to_parity + kSpaces - pull, logits);
}

}  // namespace maskd::cli
