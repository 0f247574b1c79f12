#include "service/checker.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/matcher/matcher.h"
#include "service/errors.h"

namespace maskd::service {
namespace {

// Moves `matcher` over `text` token by token. False where no token fits.
absl::StatusOr<bool> Advance(const LoadedTokenizer& tokenizer, absl::string_view text,
                             Matcher* matcher) {
  while (!text.empty()) {
    const TokenId token = tokenizer.LongestPrefix(text);
    if (token < 0) {
      return false;
    }
    if (absl::Status taken = matcher->Accept(token); !taken.ok()) {
      return taken;
    }
    text.remove_prefix(tokenizer.vocabulary().TokenBytes(token).size());
  }
  return true;
}

// The mask after `taken`, which the grammar accepts; null where tokens do not lead there.
absl::StatusOr<MaskRef> MaskAfter(const cache::GrammarPtr& grammar,
                                  const LoadedTokenizer& tokenizer, absl::string_view taken) {
  Matcher matcher(grammar);
  absl::StatusOr<bool> reached = Advance(tokenizer, taken, &matcher);
  if (!reached.ok()) {
    return reached.status();
  }
  return *reached ? matcher.Mask() : absl::StatusOr<MaskRef>(nullptr);
}

absl::StatusOr<CheckOutcome> Stopped(Matcher* matcher, int index, absl::string_view refused,
                                     CheckOutcome outcome) {
  absl::StatusOr<MaskRef> mask = matcher->Mask();
  if (!mask.ok()) {
    return mask.status();
  }
  outcome.allowed = *std::move(mask);
  outcome.token_index = index;
  outcome.refused = std::string(refused);
  outcome.may_end = matcher->may_end();
  return outcome;
}

}  // namespace

absl::StatusOr<CheckOutcome> CheckTokens(const cache::GrammarPtr& grammar,
                                         const std::vector<TokenId>& tokens) {
  const Vocabulary& vocabulary = grammar->tokenizer().vocabulary();
  Matcher matcher(grammar);
  CheckOutcome outcome;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] < 0 || tokens[i] >= vocabulary.size()) {
      return TokenOutOfRange(absl::StrCat("tokens.ids[", i, "]"), tokens[i], vocabulary.size());
    }
    const absl::Status taken = matcher.Accept(tokens[i]);
    if (absl::IsInvalidArgument(taken)) {
      return Stopped(&matcher, static_cast<int>(i), vocabulary.TokenBytes(tokens[i]),
                     std::move(outcome));
    }
    if (!taken.ok()) {
      return taken;
    }
    if (!vocabulary.IsSpecial(tokens[i]) && !matcher.finished()) {
      outcome.byte_offset += static_cast<std::int64_t>(vocabulary.TokenBytes(tokens[i]).size());
    }
  }
  outcome.accepted = true;
  outcome.finished = matcher.finished();
  outcome.may_end = matcher.finished() || matcher.may_end();
  return outcome;
}

absl::StatusOr<CheckOutcome> CheckText(const cache::GrammarPtr& grammar,
                                       const LoadedTokenizer& tokenizer, absl::string_view text) {
  const absl::StatusOr<Matcher::TextMatch> match = Matcher(grammar).MatchText(text);
  if (!match.ok()) {
    return match.status();
  }
  const auto matched = static_cast<std::size_t>(match->matched_bytes);
  CheckOutcome outcome;
  outcome.accepted = matched == text.size();
  outcome.may_end = match->may_end;
  outcome.byte_offset = match->matched_bytes;
  if (!outcome.accepted) {
    absl::StatusOr<MaskRef> allowed = MaskAfter(grammar, tokenizer, text.substr(0, matched));
    if (!allowed.ok()) {
      return allowed.status();
    }
    outcome.allowed = *std::move(allowed);
    outcome.refused = std::string(text.substr(matched, 1));
  }
  return outcome;
}

}  // namespace maskd::service
