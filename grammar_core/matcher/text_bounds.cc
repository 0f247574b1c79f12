#include "grammar_core/matcher/text_bounds.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <iterator>
#include <vector>

#include "grammar_core/base/error.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/completion/fewest_tokens.h"
#include "grammar_core/completion/shortest_path.h"
#include "grammar_core/rows/row_states.h"

namespace maskd {

// Once a prefix is too long, every longer one is, so the first such is searched for by halves: a
// smallest completion, which may be a search of its own, is asked for only so many times.
absl::StatusOr<TextPrefix> PrefixWithin(const TokenStepper& stepper, TokenStepper::State state,
                                        absl::string_view text, int max_characters, Work& work) {
  const RowStates& row = stepper.states();
  const RowStates::Scratch scratch(row);
  std::vector<RowStates::State> states = {state};
  for (const char byte : text) {
    states.push_back(row.Take(states.back(), static_cast<unsigned char>(byte), work));
    if (!work.ok()) return work.error();
    if (states.back() == kNothingTerm) {
      return UnsupportedAt("options.max_characters", "a check of a text",
                           "of which a token that the grammar names is a part: check its tokens");
    }
  }
  assert(states.size() == text.size() + 1 && "a state behind each byte, and the first");
  const auto most = static_cast<std::uint32_t>(max_characters);
  const auto fits = [&](const RowStates::State& at) {
    const auto taken = static_cast<std::size_t>(&at - states.data());
    const std::uint32_t characters = CharactersIn(text.substr(0, taken));
    if (characters > most || !work.ok()) return false;
    const std::uint32_t left = most - characters;
    const auto least = SmallestCompletion(row, stepper.vocabulary(), at, left, work);
    return least.ok() && *least <= left;
  };
  const auto end = std::partition_point(states.begin() + 1, states.end(), fits);
  if (!work.ok()) return work.error();
  return TextPrefix{static_cast<std::size_t>(end - states.begin() - 1), row.MayEnd(*(end - 1))};
}

std::size_t PrefixOfTokens(const TokenIndex& index, absl::string_view text, int max_tokens) {
  const TokenSearch search = {nullptr, &index, {}};
  const std::vector<TokenId> pieces = FewestPieces(search, text);
  if (std::ssize(pieces) <= max_tokens) return text.size();
  std::size_t bytes = 0;
  for (int i = 0; i < max_tokens; ++i) bytes += index.vocabulary().TokenBytes(pieces[i]).size();
  return bytes;
}

}  // namespace maskd
