#include "grammar_core/tokenizer/canonical_encoder.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/utf8.h"

namespace maskd {
namespace {

constexpr int kByteCount = 256;
constexpr TokenId kNoToken = std::numeric_limits<TokenId>::max();

// Whether the tokens agree so far, and how far that is at most.
std::size_t CommonTokens(const std::vector<TokenId>& x, const std::vector<TokenId>& y,
                         std::size_t at_most) {
  std::size_t same = 0;
  while (same < std::min({x.size(), y.size(), at_most}) && x[same] == y[same]) ++same;
  return same;
}

// Where the pieces end, counted from the end of `before`; those that end in it are left out.
std::vector<std::size_t> EndsIn(const std::vector<absl::string_view>& pieces, std::size_t before) {
  std::vector<std::size_t> ends;
  std::size_t end = 0;
  for (const absl::string_view piece : pieces) {
    end += piece.size();
    if (end > before) ends.push_back(end - before);
  }
  return ends;
}

// The symbols of one piece, merged until no two neighbours are a token.
class Merging {
 public:
  using Ids = absl::flat_hash_map<absl::string_view, TokenId>;

  Merging(absl::string_view piece, bool by_character, const Ids& ids) : piece_(piece), ids_(ids) {
    for (std::size_t at = 0; at < piece.size();) {
      const std::size_t begin = at;
      if (!by_character || !DecodeUtf8(piece, &at) || IdOf(begin, at) == kNoToken) at = begin + 1;
      begins_.push_back(begin);
    }
    begins_.push_back(piece.size());
    for (std::size_t i = 0; i + 2 < begins_.size(); ++i) pairs_.push_back(PairAt(i));
  }

  std::vector<TokenId> Tokens() {
    while (!pairs_.empty()) {
      const auto lowest = std::min_element(pairs_.begin(), pairs_.end());
      if (*lowest == kNoToken) break;
      Merge(static_cast<std::size_t>(lowest - pairs_.begin()));
    }
    std::vector<TokenId> tokens;
    for (std::size_t i = 0; i + 1 < begins_.size(); ++i) {
      tokens.push_back(IdOf(begins_[i], begins_[i + 1]));
    }
    return tokens;
  }

 private:
  [[nodiscard]] TokenId IdOf(std::size_t begin, std::size_t end) const {
    const auto found = ids_.find(piece_.substr(begin, end - begin));
    return found == ids_.end() ? kNoToken : found->second;
  }
  // The token of symbols i and i + 1.
  [[nodiscard]] TokenId PairAt(std::size_t i) const { return IdOf(begins_[i], begins_[i + 2]); }

  void Merge(std::size_t i) {
    begins_.erase(begins_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    pairs_.erase(pairs_.begin() + static_cast<std::ptrdiff_t>(i));
    if (i > 0) pairs_[i - 1] = PairAt(i - 1);
    if (i < pairs_.size()) pairs_[i] = PairAt(i);
  }

  absl::string_view piece_;
  const Ids& ids_;
  std::vector<std::size_t> begins_;  // of the symbols, and the end of the last
  std::vector<TokenId> pairs_;       // one less than symbols
};

}  // namespace

CanonicalEncoder::CanonicalEncoder(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

std::unique_ptr<const CanonicalEncoder> CanonicalEncoder::Create(const Vocabulary& vocabulary) {
  if (vocabulary.encoding_rules().symbols == EncodingRules::Symbols::kUnknown) return nullptr;
  std::unique_ptr<CanonicalEncoder> made(new CanonicalEncoder(vocabulary));
  if (!made->ReadPatterns()) return nullptr;
  made->IndexTokens();
  for (int byte = 0; byte < kByteCount; ++byte) {
    if (!made->ids_.contains(std::string(1, static_cast<char>(byte)))) return nullptr;
  }
  return made;
}

bool CanonicalEncoder::ReadPatterns() {
  for (const std::string& pattern : vocabulary_.encoding_rules().patterns) {
    patterns_.push_back(PiecePattern::Create(pattern));
    if (patterns_.back() == nullptr) return false;
  }
  return true;
}

void CanonicalEncoder::IndexTokens() {
  for (const TokenId id : vocabulary_.encoding_rules().atoms) {
    const absl::string_view bytes = vocabulary_.TokenBytes(id);
    if (bytes.empty() || vocabulary_.IsSpecial(id)) continue;
    atoms_.try_emplace(bytes, id);
    atom_begins_.set(static_cast<unsigned char>(bytes[0]));
    longest_atom_ = std::max(longest_atom_, bytes.size());
  }
  ids_.reserve(static_cast<std::size_t>(vocabulary_.size()));
  for (TokenId id = 0; id < vocabulary_.size(); ++id) {
    const absl::string_view bytes = vocabulary_.TokenBytes(id);
    // Of a character and the byte that stands in for a missing one, the character comes later.
    if (!vocabulary_.IsSpecial(id) && !bytes.empty() && !IsAtom(bytes, id)) ids_[bytes] = id;
  }
}

bool CanonicalEncoder::IsAtom(absl::string_view bytes, TokenId id) const {
  const auto atom = atoms_.find(bytes);
  return atom != atoms_.end() && atom->second == id;
}

// Bytes of the longest atom that `text` begins with; 0 where there is none.
std::size_t CanonicalEncoder::AtomAt(absl::string_view text) const {
  if (!atom_begins_[static_cast<unsigned char>(text[0])]) return 0;
  std::size_t size = std::min(longest_atom_, text.size());
  while (size > 0 && !atoms_.contains(text.substr(0, size))) --size;
  return size;
}

// Where `text` ends if its last bytes, which an atom may begin with, are left out.
std::size_t CanonicalEncoder::EndBeforeAtoms(absl::string_view text) const {
  for (std::size_t at = text.size() - std::min(longest_atom_, text.size()); at < text.size();
       ++at) {
    const absl::string_view last = text.substr(at);
    for (const auto& [bytes, id] : atoms_) {
      if (bytes.size() > last.size() && bytes.substr(0, last.size()) == last) return at;
    }
  }
  return text.size();
}

std::vector<absl::string_view> CanonicalEncoder::Pieces(absl::string_view text) const {
  std::vector<absl::string_view> pieces;
  const auto cut = [&](absl::string_view part) {
    if (part.empty()) return;
    std::vector<absl::string_view> parts = {part};
    for (const auto& pattern : patterns_) {
      std::vector<absl::string_view> finer;
      for (const absl::string_view each : parts) pattern->Cut(each, &finer);
      parts = std::move(finer);
    }
    pieces.insert(pieces.end(), parts.begin(), parts.end());
  };
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t atom = AtomAt(text.substr(at));
    if (atom > 0) {
      cut(text.substr(begin, at - begin));
      pieces.push_back(text.substr(at, atom));
      begin = at + atom;
    }
    at += std::max<std::size_t>(atom, 1);
  }
  cut(text.substr(begin));
  return pieces;
}

void CanonicalEncoder::AppendTokens(absl::string_view piece, bool is_whole,
                                    std::vector<TokenId>* tokens) const {
  const auto atom = atoms_.find(piece);
  if (is_whole && atom != atoms_.end()) {
    tokens->push_back(atom->second);
    return;
  }
  const EncodingRules& rules = vocabulary_.encoding_rules();
  const auto whole = ids_.find(piece);
  if (is_whole && rules.whole_pieces && whole != ids_.end()) {
    tokens->push_back(whole->second);
    return;
  }
  const bool by_character = rules.symbols == EncodingRules::Symbols::kCharacters;
  const std::vector<TokenId> merged = Merging(piece, by_character, ids_).Tokens();
  tokens->insert(tokens->end(), merged.begin(), merged.end());
}

std::vector<TokenId> CanonicalEncoder::TokensTo(absl::string_view before, absl::string_view text,
                                                std::size_t end) const {
  const std::string whole = absl::StrCat(before, text);
  std::vector<TokenId> tokens;
  std::size_t at = 0;
  for (const absl::string_view piece : Pieces(whole)) {
    const std::size_t begin = std::max(at, before.size());
    at += piece.size();
    if (at > before.size() + end) break;
    if (at > begin) {
      const absl::string_view part = piece.substr(piece.size() - (at - begin));
      AppendTokens(part, part.size() == piece.size(), &tokens);
    }
  }
  return tokens;
}

std::vector<TokenId> CanonicalEncoder::Tokens(absl::string_view before,
                                              absl::string_view text) const {
  return TokensTo(before, text, text.size());
}

std::vector<TokenId> CanonicalEncoder::CertainTokens(absl::string_view before,
                                                     absl::string_view text,
                                                     const Followers& followers) const {
  std::size_t end = EndBeforeAtoms(text);
  if (vocabulary_.encoding_rules().ascii_only) {
    const auto is_ascii = [](char c) { return static_cast<signed char>(c) >= 0; };
    const auto other = std::find_if_not(text.begin(), text.begin() + end, is_ascii);
    end = static_cast<std::size_t>(other - text.begin());
  }
  if (patterns_.empty() && end == text.size()) return CertainMerges(text, followers);
  // What is left out may come as it stands, or be an atom, before which a piece ends.
  Followers after = {{}, nullptr};
  const absl::string_view rest = text.substr(end);
  for (const std::string& follower : followers.texts) {
    after.texts.push_back(absl::StrCat(rest, follower));
  }
  if (!rest.empty()) after.texts.emplace_back();
  const absl::string_view kept = text.substr(0, end);
  return TokensTo(before, absl::StrCat(kept, after.texts.empty() ? "" : after.texts[0]),
                  CertainBorder(before, kept, after));
}

// The last place of `text` up to which the borders of its pieces are the same whatever follows.
std::size_t CanonicalEncoder::CertainBorder(absl::string_view before, absl::string_view text,
                                            const Followers& followers) const {
  std::vector<std::size_t> certain;
  bool is_first = true;
  for (const std::string& follower : followers.texts) {
    const std::string whole = absl::StrCat(before, text, follower);
    std::vector<std::size_t> ends = EndsIn(Pieces(whole), before.size());
    ends.erase(
        std::find_if(ends.begin(), ends.end(), [&](std::size_t end) { return end > text.size(); }),
        ends.end());
    if (std::exchange(is_first, false)) certain = ends;
    const auto differ = std::ranges::mismatch(certain, ends);
    certain.erase(differ.in1, certain.end());
  }
  return certain.empty() ? 0 : certain.back();
}

std::vector<TokenId> CanonicalEncoder::CertainMerges(absl::string_view text,
                                                     const Followers& followers) const {
  std::vector<TokenId> tokens;
  const std::vector<absl::string_view> pieces = Pieces(text);
  if (pieces.empty()) return tokens;
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i) AppendTokens(pieces[i], true, &tokens);
  const absl::string_view last = pieces.back();
  std::vector<TokenId> of_last;
  AppendTokens(last, true, &of_last);
  std::size_t certain = of_last.size();
  const auto reach = static_cast<std::size_t>(vocabulary_.max_token_bytes());
  for (std::size_t at = last.size() - std::min(reach, last.size()); at < last.size(); ++at) {
    if (!followers.has_token_over(last.substr(at))) continue;
    std::vector<TokenId> beginning;
    AppendTokens(last.substr(0, at), false, &beginning);
    certain = CommonTokens(of_last, beginning, certain);
  }
  tokens.insert(tokens.end(), of_last.begin(),
                of_last.begin() + static_cast<std::ptrdiff_t>(certain));
  return tokens;
}

}  // namespace maskd
