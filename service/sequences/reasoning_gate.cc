// The end of reasoning is looked for in tokens, not in text: a model writes its own marker as the
// tokens it was trained on, and text would be found where it is only quoted.
//
// Invariant  fallback_[n] is the longest proper beginning of the end that the first n tokens end
//            with (Knuth, Morris and Pratt 1977), so no place needs the tokens before it.
// Cost       amortised one comparison a token.
#include "service/sequences/reasoning_gate.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "service/base/errors.h"

namespace maskd::service {
namespace {

// How families of models mark their reasoning, as their chat templates have it.
struct Style {
  absl::string_view name;
  absl::string_view end;
};

constexpr std::array kStyles = {
    Style{"think_tags", "</think>"},      // DeepSeek R1, Qwen 3, GLM 4.5, Nemotron
    Style{"mistral", "[/THINK]"},         // Magistral
    Style{"seed_tags", "</seed:think>"},  // Seed-OSS
    Style{"kimi", "\u25c1/think\u25b7"},  // Kimi-VL Thinking
    Style{"channel_final", "<|channel|>final<|message|>"},  // gpt-oss
};

absl::StatusOr<absl::string_view> EndOfStyle(const std::string& name) {
  for (const Style& style : kStyles)
    if (style.name == name) return style.end;
  return BadField("reasoning.style", absl::StrCat("\"", name, "\" is unknown; there are ",
                                                  ReasoningGate::StyleNames()));
}

// The token spelled exactly `text`, or -1.
TokenId FindToken(absl::string_view text, const LoadedTokenizer& tokenizer) {
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  if (const TokenId special = vocabulary.FindSpecial(text); special >= 0) return special;
  const TokenId longest = tokenizer.LongestPrefix(text);
  return longest >= 0 && vocabulary.TokenBytes(longest) == text ? longest : -1;
}

// Where special tokens stand in a style's end it is cut: "<|channel|>final<|message|>" is three.
std::vector<TokenId> SpellStyle(absl::string_view text, const LoadedTokenizer& tokenizer) {
  std::vector<TokenId> tokens;
  while (!text.empty()) {
    const std::size_t next_marker = text.find("<|", 1);
    const std::size_t marker_end = text.substr(0, 2) == "<|" ? text.find("|>") + 2 : next_marker;
    const absl::string_view part = text.substr(0, marker_end);
    tokens.push_back(FindToken(part, tokenizer));
    text.remove_prefix(part.size());
  }
  return tokens;
}

absl::StatusOr<std::vector<TokenId>> TokensOfStyle(const std::string& name,
                                                   const LoadedTokenizer& tokenizer) {
  const absl::StatusOr<absl::string_view> end = EndOfStyle(name);
  if (!end.ok()) return end.status();
  std::vector<TokenId> tokens = SpellStyle(*end, tokenizer);
  for (const TokenId token : tokens) {
    if (token < 0) {
      return BadField("reasoning.style",
                      absl::StrCat("\"", name, "\" ends with ", *end,
                                   ", which is no token here: give its end_tokens"));
    }
  }
  return tokens;
}

absl::Status CheckTokens(const std::vector<TokenId>& tokens, const char* field, int size) {
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i] < 0 || tokens[i] >= size)
      return TokenOutOfRange(absl::StrCat("reasoning.", field, "[", i, "]"), tokens[i], size);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const ReasoningGate>> ReasoningGate::Create(
    const GateRequest& request, const LoadedTokenizer& tokenizer) {
  // Exactly one: with both there would be two ends, and with neither none.
  if (request.end_tokens.empty() == request.style.empty())
    return BadField("reasoning", "one of end_tokens and style is needed, and not both");
  absl::StatusOr<std::vector<TokenId>> end = request.end_tokens;
  if (!request.style.empty()) end = TokensOfStyle(request.style, tokenizer);
  if (!end.ok()) return end.status();
  const int size = tokenizer.vocabulary().size();
  absl::Status checked = CheckTokens(*end, "end_tokens", size);
  if (checked.ok()) checked = CheckTokens(request.prompt_tail, "prompt_tail", size);
  if (!checked.ok()) return checked;
  std::shared_ptr<ReasoningGate> gate(new ReasoningGate(*std::move(end), request.max_tokens));
  // The prompt may have begun the end, or hold it whole; then the row begins in the text.
  for (const TokenId token : request.prompt_tail)
    if (!gate->ended(gate->start_)) gate->start_ = gate->Next(gate->start_, token);
  return gate;
}

ReasoningGate::ReasoningGate(std::vector<TokenId> end, std::optional<int> max_tokens)
    : end_(std::move(end)), fallback_(end_.size() + 1, 0), max_tokens_(max_tokens) {
  for (std::size_t n = 2; n <= end_.size(); ++n) fallback_[n] = Next(fallback_[n - 1], end_[n - 1]);
}

ReasoningGate::Place ReasoningGate::Next(Place place, TokenId token) const {
  while (place > 0 && end_[static_cast<std::size_t>(place)] != token)
    place = fallback_[static_cast<std::size_t>(place)];
  return end_[static_cast<std::size_t>(place)] == token ? place + 1 : place;
}

std::string ReasoningGate::StyleNames() {
  return absl::StrJoin(kStyles, ", ", [](std::string* out, const Style& style) {
    absl::StrAppend(out, style.name);
  });
}

}  // namespace maskd::service
