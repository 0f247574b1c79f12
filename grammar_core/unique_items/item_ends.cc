// Within a string that is an item, the tokens that matter are those with a quote in them: they end
// the item and may begin the next one. There are thousands, and a step through each byte of each
// would be most of a mask. What they hold before the quote is compared with what the row has
// written; what they hold behind it is one of few texts (ItemTokens::Onward), each looked at once.
//
// Invariant  `repeated` is certain; whatever is not certain either way goes to `untold`, whose
//            tokens are then taken byte by byte (repeated_tokens.cc).
// Cost       a binary search for each token with a quote; a walk for each text behind the quote and
//            each state that it leads to.
#include "grammar_core/unique_items/item_ends.h"

#include <algorithm>
#include <cassert>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace maskd {

ItemEnds::ItemEnds(const ItemTokens& tokens, Automaton* automaton, RowMemory::InItem at, Work* work)
    : tokens_(tokens),
      automaton_(*automaton),
      at_(at),
      work_(*work),
      first_bytes_(at.arrays->FirstBytesOfStrings(at.array)),
      meets_(tokens.onward().size()),
      away_(tokens.onward().size()) {
  if (at.arrays->MayRepeat(at.array)) at.arrays->AddTakenRests(at.array, &taken_);
  std::ranges::sort(taken_);  // for IsTaken(), which is asked for each token
}

bool ItemEnds::IsTaken(absl::string_view text) const {
  const auto at = std::ranges::lower_bound(
      taken_, text, {}, [](const std::string& taken) { return absl::string_view(taken); });
  return at != taken_.end() && *at == text;
}

bool ItemEnds::MeetsItems(const ItemTokens::Onward& onward) {
  // The strings that the token writes whole, and the one that it has begun at its end.
  const auto is_item = [&](absl::string_view text) {
    return at_.arrays->HasString(at_.array, text, Match::kWhole);
  };
  return std::ranges::any_of(onward.whole, is_item) ||
         (!onward.begun.empty() && at_.arrays->HasString(at_.array, onward.begun, Match::kBegins));
}

bool ItemEnds::MeetsOwn(const ItemTokens::End& end) {
  assert(end.at < tokens_.onward().size() && "an end that leads nowhere");
  const ItemTokens::Onward& onward = tokens_.onward()[end.at];
  if (onward.whole.empty() && onward.begun.empty()) return false;
  // The string that this token ends becomes an item, too, so what follows in the token is held
  // against it as well. It is put together once for all tokens.
  if (!begun_.has_value()) begun_ = at_.arrays->StringAt(at_.array);
  const std::string own = absl::StrCat(*begun_, end.text);
  return std::ranges::find(onward.whole, absl::string_view(own)) != onward.whole.end() ||
         (!onward.begun.empty() && absl::StartsWith(own, onward.begun));
}

bool ItemEnds::HasWaysOut(TermId string, bool escapes, std::size_t enough) {
  // Characters that no item before begins with: one for each string that the token itself writes,
  // and one to spare, leave the next string free.
  constexpr absl::string_view kEscapes = "ntrbf";
  constexpr absl::string_view kEscaped = "\n\t\r\b\f";
  std::size_t found = 0;
  const auto look = [&](char byte, char character) {
    if (found == enough || first_bytes_.test(static_cast<unsigned char>(character))) return;
    const TermId next = automaton_.Step(string, static_cast<unsigned char>(byte), work_);
    if (next != kNothingTerm && next != kFailedTerm) ++found;
  };
  if (escapes) {
    for (std::size_t i = 0; i < kEscapes.size(); ++i) look(kEscapes[i], kEscaped[i]);
  } else {
    for (char byte = ' '; byte < 0x7F; ++byte)
      if (byte != '"' && byte != '\\') look(byte, byte);
  }
  return work_.ok() && found == enough;
}

bool ItemEnds::LeadsAway(const ItemTokens::End& end) {
  std::size_t taken = 0;
  const TermId term = automaton_.StepText(at_.term, end.rest, &taken, work_);
  if (!work_.ok() || taken < end.rest.size()) return false;
  Away& away = away_[end.at];
  if (away.term != term) away = {term, LeadsAway(term, tokens_.onward()[end.at])};
  return away.leads;
}

// The new item may begin with one of the bytes that lead away, and so may each string that the
// token has between.
bool ItemEnds::LeadsAway(TermId term, const ItemTokens::Onward& onward) {
  for (const absl::string_view bytes :
       {onward.bytes, absl::string_view(onward.opened ? "" : "\"")}) {
    std::size_t taken = 0;
    term = automaton_.StepText(term, bytes, &taken, work_);
    if (!work_.ok() || taken < bytes.size()) return false;
  }
  // The next string has begun within the token and meets none of those written.
  if (!onward.begun.empty()) return true;
  const std::size_t enough = onward.whole.size() + 2;
  const auto known = std::ranges::find_if(known_, [&](const Ways& ways) {
    return ways.string == term && ways.escapes == onward.escapes && ways.enough == enough;
  });
  if (known != known_.end()) return known->exist;
  known_.push_back({term, onward.escapes, enough, HasWaysOut(term, onward.escapes, enough)});
  return known_.back().exist;
}

void ItemEnds::Sort(const TokenMask& mask, std::vector<TokenId>* repeated,
                    std::vector<TokenId>* untold) {
  for (const ItemTokens::End& end : tokens_.ends()) {
    if (!mask.Allows(end.id)) continue;
    if (IsTaken(end.text)) {
      repeated->push_back(end.id);
      continue;
    }
    const ItemTokens::Onward& onward = tokens_.onward()[end.at];
    std::optional<bool>& meets = meets_[end.at];
    if (!meets.has_value()) meets = MeetsItems(onward);
    // In the order of what they cost; the first that is true leaves the token to be tried.
    if (*meets || MeetsOwn(end) || !LeadsAway(end)) untold->push_back(end.id);
    if (!work_.ok()) return;
  }
}

}  // namespace maskd
