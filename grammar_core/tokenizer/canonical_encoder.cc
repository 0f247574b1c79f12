// A text is cut at atoms, then at the patterns, then each piece is merged or cut by its scores.
// What is certain is found by trying: the text is cut once for each follower, and ends at the last
// border that all of them have.
//
// Invariant  CertainTokens() is a beginning of Tokens() of every text that goes on as the followers
//            say.
// Cost       the text is cut once for each follower, and its pieces are merged once.
#include "grammar_core/tokenizer/canonical_encoder.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/sort_unique.h"
#include "grammar_core/tokenizer/merging.h"

namespace maskd {
namespace {

constexpr int kByteCount = 256;
// Which stands for a space.
constexpr absl::string_view kSpaceMark = "\xE2\x96\x81";

// Whether the tokens agree so far, and how far that is at most.
std::size_t CommonTokens(const std::vector<TokenId>& x, const std::vector<TokenId>& y,
                         std::size_t at_most) {
  std::size_t same = 0;
  while (same < std::min({x.size(), y.size(), at_most}) && x[same] == y[same]) ++same;
  return same;
}

bool IsInUtf8(int byte) { return byte < 0xC0 || (byte > 0xC1 && byte < 0xF5); }

bool IsAscii(char c) { return static_cast<signed char>(c) >= 0; }

// How much of `text` comes before a space that is beside another, or at the end.
std::size_t SingleSpaces(absl::string_view before, absl::string_view text) {
  bool after_space = !before.empty() && !absl::ascii_isgraph(before.back());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_space = text[at] == ' ';
    if (is_space && after_space) return at == 0 ? 0 : at - 1;
    after_space = is_space;
  }
  return after_space && !text.empty() ? text.size() - 1 : text.size();
}

// Where `text` ends at `end` if white space there is left out.
std::size_t EndWithoutSpace(absl::string_view text, std::size_t end) {
  while (end > 0 && (!IsAscii(text[end - 1]) || !absl::ascii_isgraph(text[end - 1]))) --end;
  return end;
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

}  // namespace

CanonicalEncoder::CanonicalEncoder(const Vocabulary& vocabulary)
    : vocabulary_(vocabulary),
      left_out_(IndexAtoms()),
      tokens_(vocabulary, left_out_),
      scores_(TokenScores::Create(vocabulary, left_out_)) {}

std::unique_ptr<const CanonicalEncoder> CanonicalEncoder::Create(const Vocabulary& vocabulary) {
  const EncodingRules& rules = vocabulary.encoding_rules();
  if (rules.symbols == EncodingRules::Symbols::kUnknown) return nullptr;
  std::unique_ptr<CanonicalEncoder> made(new CanonicalEncoder(vocabulary));
  if (!made->ReadPatterns()) return nullptr;
  made->IndexMissingBytes();
  const bool needs_bytes = rules.symbols == EncodingRules::Symbols::kCharacters &&
                           rules.scores.empty() && made->missing_bytes_.any();
  return needs_bytes ? nullptr : std::move(made);
}

void CanonicalEncoder::IndexMissingBytes() {
  for (int byte = 0; byte < kByteCount; ++byte) {
    const std::string bytes(1, static_cast<char>(byte));
    if (IsInUtf8(byte) && tokens_.Find(bytes) == OrdinaryTokens::kNone)
      missing_bytes_.set(static_cast<std::size_t>(byte));
  }
}

bool CanonicalEncoder::ReadPatterns() {
  for (const std::string& pattern : vocabulary_.encoding_rules().patterns) {
    patterns_.push_back(PiecePattern::Create(pattern));
    if (patterns_.back() == nullptr) return false;
  }
  return true;
}

std::vector<bool> CanonicalEncoder::IndexAtoms() {
  const EncodingRules& rules = vocabulary_.encoding_rules();
  std::vector<bool> left_out(static_cast<std::size_t>(vocabulary_.size()));
  for (const TokenId id : vocabulary_.special_ids()) left_out[static_cast<std::size_t>(id)] = true;
  for (const TokenId id : rules.unsure_atoms) {
    const absl::string_view bytes = vocabulary_.TokenBytes(id);
    if (bytes.empty() || vocabulary_.IsSpecial(id)) continue;
    unsure_atoms_.push_back(bytes);
    left_out[static_cast<std::size_t>(id)] = true;
  }
  SortUnique(&unsure_atoms_);
  atom_texts_ = unsure_atoms_;
  for (const TokenId id : rules.atoms) {
    const absl::string_view bytes = vocabulary_.TokenBytes(id);
    const bool is_unsure = std::ranges::binary_search(unsure_atoms_, bytes);
    if (bytes.empty() || vocabulary_.IsSpecial(id) || is_unsure) continue;
    atom_texts_.push_back(bytes);
    if (atoms_.try_emplace(bytes, id).second) left_out[static_cast<std::size_t>(id)] = true;
    atom_begins_.set(static_cast<unsigned char>(bytes[0]));
    longest_atom_ = std::max(longest_atom_, bytes.size());
  }
  SortUnique(&atom_texts_);
  for (const TokenId id : rules.byte_tokens) left_out[static_cast<std::size_t>(id)] = true;
  for (const TokenId id : rules.unused) left_out[static_cast<std::size_t>(id)] = true;
  return left_out;
}

// Bytes of the longest atom that `text` begins with; 0 where there is none.
std::size_t CanonicalEncoder::AtomAt(absl::string_view text) const {
  assert(!text.empty());
  if (!atom_begins_[static_cast<unsigned char>(text[0])]) return 0;
  std::size_t size = std::min(longest_atom_, text.size());
  while (size > 0 && !atoms_.contains(text.substr(0, size))) --size;
  return size;
}

bool CanonicalEncoder::MayBecomeAtom(absl::string_view text) const {
  const auto longer = std::ranges::upper_bound(atom_texts_, text);
  return longer != atom_texts_.end() && absl::StartsWith(*longer, text);
}

// Where `text` ends if its last bytes, which an atom may begin with, are left out. No atom begins
// in another.
std::size_t CanonicalEncoder::EndBeforeAtoms(absl::string_view text) const {
  if (atom_texts_.empty()) return text.size();
  for (std::size_t at = 0; at < text.size();) {
    const absl::string_view rest = text.substr(at);
    if (MayBecomeAtom(rest)) return at;
    at += std::max<std::size_t>(AtomAt(rest), 1);
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

bool CanonicalEncoder::AppendParts(const std::vector<absl::string_view>& parts,
                                   std::vector<TokenId>* tokens) const {
  const std::vector<TokenId>& byte_tokens = vocabulary_.encoding_rules().byte_tokens;
  for (const absl::string_view part : parts) {
    if (const TokenId token = tokens_.Find(part); token != OrdinaryTokens::kNone) {
      tokens->push_back(token);
      continue;
    }
    if (byte_tokens.empty()) return false;
    assert(byte_tokens.size() == kByteCount);
    for (const char byte : part) tokens->push_back(byte_tokens[static_cast<unsigned char>(byte)]);
  }
  return true;
}

std::vector<absl::string_view> CanonicalEncoder::PartsOf(absl::string_view piece) const {
  const EncodingRules& rules = vocabulary_.encoding_rules();
  if (rules.method == EncodingRules::Method::kBestSum)
    return BestSum(piece, tokens_, scores_).PartsTo(piece.size());
  using Symbols = Merging::Symbols;
  const Symbols symbols = rules.symbols == EncodingRules::Symbols::kBytes ? Symbols::kBytes
                          : rules.scores.empty() ? Symbols::kKnownCharacters
                                                 : Symbols::kCharacters;
  const auto rank_of = [this](absl::string_view bytes) { return tokens_.RankOf(bytes); };
  return Merging(piece, symbols, rank_of).Parts();
}

bool CanonicalEncoder::AppendTokens(absl::string_view piece, bool is_whole,
                                    std::vector<TokenId>* tokens) const {
  const auto atom = atoms_.find(piece);
  if (is_whole && atom != atoms_.end()) {
    tokens->push_back(atom->second);
    return true;
  }
  if (is_whole && vocabulary_.encoding_rules().whole_pieces) {
    if (const TokenId whole = tokens_.Find(piece); whole != OrdinaryTokens::kNone) {
      tokens->push_back(whole);
      return true;
    }
  }
  return !LosesBytes(piece) && AppendParts(PartsOf(piece), tokens);
}

// Whether the tokenizer drops bytes of a piece and merges what is left.
bool CanonicalEncoder::LosesBytes(absl::string_view piece) const {
  return vocabulary_.encoding_rules().symbols == EncodingRules::Symbols::kBytes &&
         missing_bytes_.any() && std::ranges::any_of(piece, [this](char byte) {
           return missing_bytes_[static_cast<unsigned char>(byte)];
         });
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
      assert(at - begin <= piece.size());
      const absl::string_view part = piece.substr(piece.size() - (at - begin));
      if (!AppendTokens(part, part.size() == piece.size(), &tokens)) break;
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
  const std::size_t end = std::min(EndBeforeAtoms(text), UnchangedBytes(before, text, followers));
  if (patterns_.empty()) {
    // What is left out may become anything.
    const Followers any = {{}, [&](absl::string_view bytes) { return tokens_.HasLonger(bytes); }};
    assert(end <= text.size());
    return CertainParts(text.substr(0, end), end == text.size() ? followers : any);
  }
  // What is left out may come as it stands, or be an atom, before which a piece ends.
  Followers after = {{}, nullptr};
  assert(end <= text.size());
  const absl::string_view rest = text.substr(end);
  for (const std::string& follower : followers.texts)
    after.texts.push_back(absl::StrCat(rest, follower));
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

std::vector<TokenId> CanonicalEncoder::CertainParts(absl::string_view text,
                                                    const Followers& followers) const {
  std::vector<TokenId> tokens;
  const std::vector<absl::string_view> pieces = Pieces(text);
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i)
    if (!AppendTokens(pieces[i], true, &tokens)) return tokens;
  if (pieces.empty()) return tokens;
  // An atom is what it is, except before a longer one, where EndBeforeAtoms() has cut.
  if (vocabulary_.encoding_rules().method == EncodingRules::Method::kMerges)
    AppendCertainMerges(pieces.back(), followers, &tokens);
  else
    AppendCertainSum(pieces.back(), followers, &tokens);
  return tokens;
}

std::vector<std::size_t> CanonicalEncoder::BeginsOver(absl::string_view piece,
                                                      const Followers& followers) const {
  std::vector<std::size_t> begins;
  const auto reach = static_cast<std::size_t>(vocabulary_.max_token_bytes());
  for (std::size_t at = piece.size() - std::min(reach, piece.size()); at < piece.size(); ++at)
    if (followers.has_token_over(piece.substr(at))) begins.push_back(at);
  return begins;
}

void CanonicalEncoder::AppendCertainMerges(absl::string_view piece, const Followers& followers,
                                           std::vector<TokenId>* tokens) const {
  std::vector<TokenId> of_piece;
  AppendTokens(piece, true, &of_piece);
  std::size_t certain = of_piece.size();
  for (const std::size_t begin : BeginsOver(piece, followers)) {
    std::vector<TokenId> beginning;
    AppendTokens(piece.substr(0, begin), false, &beginning);
    certain = CommonTokens(of_piece, beginning, certain);
  }
  assert(certain <= of_piece.size());
  tokens->insert(tokens->end(), of_piece.begin(),
                 of_piece.begin() + static_cast<std::ptrdiff_t>(certain));
}

void CanonicalEncoder::AppendCertainSum(absl::string_view piece, const Followers& followers,
                                        std::vector<TokenId>* tokens) const {
  const BestSum best(piece, tokens_, scores_);
  std::size_t certain = best.CertainTo(piece.size());
  for (const std::size_t begin : BeginsOver(piece, followers))
    certain = best.Meet(certain, best.CertainTo(begin));
  AppendParts(best.PartsTo(certain), tokens);
}

// How much of `text` the tokenizer cuts as it stands, whatever follows.
std::size_t CanonicalEncoder::UnchangedBytes(absl::string_view before, absl::string_view text,
                                             const Followers& followers) const {
  const EncodingRules& rules = vocabulary_.encoding_rules();
  const bool ascii_follows = std::ranges::all_of(followers.texts, [](const std::string& follower) {
    return follower.empty() || IsAscii(follower[0]);
  });
  std::size_t end = text.size();
  for (const absl::string_view atom : unsure_atoms_) {
    if (absl::StrContains(before, atom)) return 0;
    end = std::min(end, text.find(atom));
  }
  // One of them may come next, or stand at the end in part.
  if (!unsure_atoms_.empty()) end = EndWithoutSpace(text, std::min(end, EndBeforeAtoms(text)));
  if (rules.ascii_only) {
    end = static_cast<std::size_t>(std::ranges::find_if_not(text, IsAscii) - text.begin());
    // The last character may be one with what follows.
    if (end > 0 && (end < text.size() || !ascii_follows)) --end;
  }
  if (rules.marks_spaces) end = std::min(end, text.find(kSpaceMark));
  if (rules.joins_spaces) end = std::min(end, SingleSpaces(before, text));
  if (rules.character_map != nullptr) {
    const bool ascii_next = end == text.size() && ascii_follows;
    end = rules.character_map->UnchangedBytes(text.substr(0, end), ascii_next);
  }
  // What follows may become a space.
  if (rules.joins_spaces && end > 0 && text[end - 1] == ' ') --end;
  return end;
}

}  // namespace maskd
