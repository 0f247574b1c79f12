// The forced bytes are followed state by state as long as one byte alone can come. Their tokens are
// those that the tokenizer itself would make of the row's text: it is given the text of the last
// tokens, the forced bytes, and of what may follow one text of each kind that its patterns tell
// apart. What it makes alike of all of them is certain.
//
// Invariant  every token stands for forced bytes only; a token is certain where no text that may
//            follow would cut it another way.
// Cost       256 looks a byte at most, and the encoder over the last pieces for each kind of
//            follower.
#include "grammar_core/matcher/forced_tokens.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/utf8.h"
#include "grammar_core/mask/token_index.h"
#include "grammar_core/matcher/token_stepper.h"
#include "grammar_core/rows/row_states.h"
#include "grammar_core/tokenizer/canonical_encoder.h"

namespace maskd {
namespace {

using State = TokenStepper::State;

// The kinds of characters that patterns of tokenizers tell apart, each by its members among the
// bytes of ASCII.
constexpr std::array<absl::string_view, 10> kAsciiKinds = {
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "0123456789",
    " ",
    "\n\r",
    "\t\v\f",
    "'",
    "/",
    "!\"#%&()*,-.:;?@[\\]_{}",  // other punctuation
    "$+<=>^`|~",                // symbols
};
// What patterns take together behind an apostrophe, and with what is before it.
constexpr std::array<absl::string_view, 14> kContractions = {"d", "m", "s", "t", "ll", "re", "ve",
                                                             "D", "M", "S", "T", "LL", "RE", "VE"};
// One of each kind beyond ASCII: letters that are small, great, of neither case, a mark, a number,
// punctuation, a symbol, white space. Which of them may come is not asked.
std::vector<std::string> OtherKinds() {
  return {"\u00e9", "\u00c9", "\u4e2d", "\u0301", "\u00bd", "\u2026", "\u20ac", "\u00a0"};
}

// The longest token that `text` begins with; no token in a vocabulary that lacks a byte.
TokenId LongestToken(const TokenTrie& trie, absl::string_view text) {
  TokenId longest = -1;
  trie.VisitPrefixes(text, [&](std::size_t, const TrieNode& node) {
    longest = static_cast<TokenId>(node.token & TokenTrie::kIdMask);
  });
  return longest;
}

// What the end of forced bytes lets come. `part` is the part of a character that they end with.
class End {
 public:
  End(const TokenStepper& stepper, State state, absl::string_view part, Work& work)
      : row_(stepper.states()),
        trie_(stepper.grammar().tokenizer().index().trie()),
        vocabulary_(stepper.vocabulary()),
        state_(state),
        part_(part),
        work_(work) {}

  // They look at this object.
  [[nodiscard]] CanonicalEncoder::Followers Followers() const {
    CanonicalEncoder::Followers followers;
    followers.has_token_over = [this](absl::string_view last_bytes) {
      return HasTokenOver(last_bytes);
    };
    // Within a character nothing else can come than its rest, which may be of any kind.
    if (!part_.empty()) {
      followers.texts = OtherKinds();
      return followers;
    }
    // The end, and a token that the grammar names, end a piece.
    if (row_.MayEnd(state_) || row_.names_tokens()) followers.texts.emplace_back();
    for (const absl::string_view kind : kAsciiKinds) AddOneOf(kind, &followers.texts);
    const bool takes_apostrophe = Takes('\'');
    for (const absl::string_view letters : kContractions) {
      if (Takes(static_cast<unsigned char>(letters[0]))) followers.texts.emplace_back(letters);
      if (takes_apostrophe) followers.texts.push_back(absl::StrCat("'", letters));
    }
    for (int byte = 0x80; byte < 256; ++byte) {
      if (!Takes(static_cast<unsigned char>(byte))) continue;
      for (std::string& text : OtherKinds()) followers.texts.push_back(std::move(text));
      break;
    }
    return followers;
  }

 private:
  [[nodiscard]] bool Takes(unsigned char byte) const {
    return row_.Take(state_, byte, work_) != kNothingTerm;
  }

  void AddOneOf(absl::string_view kind, std::vector<std::string>* texts) const {
    for (const char byte : kind) {
      if (!Takes(static_cast<unsigned char>(byte))) continue;
      texts->emplace_back(1, byte);
      return;
    }
  }

  // `last_bytes` come before the part of a character.
  [[nodiscard]] bool HasTokenOver(absl::string_view last_bytes) const {
    for (std::size_t bytes = 1; bytes <= part_.size(); ++bytes)
      if (HasToken(absl::StrCat(last_bytes, part_.substr(0, bytes)))) return true;
    return HasLongerToken(absl::StrCat(last_bytes, part_));
  }

  [[nodiscard]] bool HasToken(absl::string_view bytes) const {
    const TokenId token = LongestToken(trie_, bytes);
    return token >= 0 && vocabulary_.TokenBytes(token).size() == bytes.size();
  }

  // Whether a token may come that begins with these bytes, the last ones of all, and goes on.
  [[nodiscard]] bool HasLongerToken(absl::string_view last_bytes) const {
    for (const TokenId id : trie_.long_tokens()) {
      const absl::string_view token = vocabulary_.TokenBytes(id);
      if (token.size() > last_bytes.size() && token.substr(0, last_bytes.size()) == last_bytes)
        return true;  // whether the grammar takes all of it is not worth a look
    }
    if (last_bytes.size() > TokenTrie::kMaxDepth) return false;
    std::array<State, TokenTrie::kMaxDepth + 1> path;  // by depth, the state behind so many bytes
    path[last_bytes.size()] = state_;
    const std::span<const TrieNode> nodes = trie_.NodesBelow(last_bytes);
    for (std::size_t i = 0; i < nodes.size() && work_.Spend();) {
      const TrieNode node = nodes[i];
      const State next =
          row_.Take(path[node.depth - 1], static_cast<unsigned char>(node.byte), work_);
      if (next == kFailedTerm) return true;
      if (next != kNothingTerm && node.token != TokenTrie::kNoToken) return true;
      path[node.depth] = next;
      i += next == kNothingTerm ? node.skip : 1;
    }
    return !work_.ok();
  }

  const RowStates& row_;
  const TokenTrie& trie_;
  const Vocabulary& vocabulary_;
  const State state_;
  const absl::string_view part_;
  Work& work_;
};

// `text` without a character at its end that is not whole, and without one at its start if
// `from_start`.
absl::string_view WholeCharacters(absl::string_view text, bool from_start) {
  std::size_t begin = 0;
  while (from_start && begin < text.size() &&
         Utf8SequenceBytes(static_cast<unsigned char>(text[begin])) == 0) {
    ++begin;
  }
  std::size_t end = begin;
  while (end < text.size() && DecodeUtf8(text, &end).has_value()) {
  }
  return text.substr(begin, end - begin);
}

std::string BytesOf(const std::vector<TokenId>& tokens, const Vocabulary& vocabulary) {
  std::string bytes;
  for (const TokenId token : tokens) {
    // Pieces never reach over a special token.
    if (vocabulary.IsSpecial(token))
      bytes.clear();
    else
      absl::StrAppend(&bytes, vocabulary.TokenBytes(token));
  }
  return bytes;
}

std::size_t ByteCount(const std::vector<TokenId>& tokens, const Vocabulary& vocabulary) {
  std::size_t count = 0;
  for (const TokenId token : tokens) count += vocabulary.TokenBytes(token).size();
  return count;
}

// Appends the longest tokens of `text`; less than all of it where the vocabulary lacks a byte.
void AppendLongest(const TokenTrie& trie, const Vocabulary& vocabulary, absl::string_view text,
                   std::vector<TokenId>* tokens) {
  while (!text.empty()) {
    const TokenId token = LongestToken(trie, text);
    if (token < 0) return;
    tokens->push_back(token);
    text.remove_prefix(vocabulary.TokenBytes(token).size());
  }
}

// An ordinary token that ends this row's text cannot be taken as text, nor can a marker of the
// grammar's.
void EndBeforeOthers(const TokenStepper& stepper, ForcedTokens* forced) {
  const Automaton& automaton = stepper.states().automaton();
  // A token of the same bytes that the engine reads as an end, or the grammar as a marker, is not
  // that text.
  const auto other = std::ranges::find_if(forced->tokens, [&](TokenId token) {
    return stepper.IsStop(token) || automaton.tables().IsMarker(token);
  });
  forced->tokens.erase(other, forced->tokens.end());
  forced->certain_tokens =
      std::min(forced->certain_tokens, static_cast<int>(forced->tokens.size()));
}

// Puts the tokens of `text`, which is whole characters, the certain ones first.
void AppendCanonical(const CanonicalEncoder& encoder, const Vocabulary& vocabulary,
                     absl::string_view before, absl::string_view text,
                     const CanonicalEncoder::Followers& followers, ForcedTokens* forced) {
  forced->tokens = encoder.CertainTokens(before, text, followers);
  forced->certain_tokens = static_cast<int>(forced->tokens.size());
  const std::size_t certain_bytes = ByteCount(forced->tokens, vocabulary);
  const std::vector<TokenId> rest = encoder.Tokens(
      absl::StrCat(before, text.substr(0, certain_bytes)), text.substr(certain_bytes));
  forced->tokens.insert(forced->tokens.end(), rest.begin(), rest.end());
}

}  // namespace

absl::StatusOr<ForcedBytes> FindForcedBytes(const TokenStepper& stepper, State state, int max_bytes,
                                            Work& work) {
  ForcedBytes forced = {"", state};
  const RowStates& states = stepper.states();
  while (static_cast<int>(forced.bytes.size()) < max_bytes && !states.MayEnd(forced.end)) {
    const RowStates::OnlyByte only = states.FindOnlyByte(forced.end, work);
    if (!work.ok()) return work.error();
    if (!only.exists) break;
    forced.bytes.push_back(static_cast<char>(only.byte));
    forced.end = only.next;
  }
  return forced;
}

absl::StatusOr<ForcedTokens> FindForcedTokens(const TokenStepper& stepper, State state,
                                              const std::vector<TokenId>& before, int max_bytes,
                                              Work& work) {
  absl::StatusOr<ForcedBytes> bytes = FindForcedBytes(stepper, state, max_bytes, work);
  if (!bytes.ok()) return bytes.status();
  ForcedTokens forced = {std::move(bytes->bytes), {}, 0};
  const TokenizerSpace& space = stepper.grammar().tokenizer();
  const CanonicalEncoder* const encoder = space.canonical_encoder();
  const std::string before_bytes = BytesOf(before, space.vocabulary());
  const absl::string_view before_text = WholeCharacters(before_bytes, true);
  const bool between_characters =
      before_text.data() + before_text.size() == before_bytes.data() + before_bytes.size();
  if (encoder != nullptr && between_characters && !forced.bytes.empty()) {
    const absl::string_view text = WholeCharacters(forced.bytes, false);
    const End end(stepper, bytes->end, absl::string_view(forced.bytes).substr(text.size()), work);
    AppendCanonical(*encoder, space.vocabulary(), before_text, text, end.Followers(), &forced);
    if (!work.ok()) return work.error();
  }
  AppendLongest(
      space.index().trie(), space.vocabulary(),
      absl::string_view(forced.bytes).substr(ByteCount(forced.tokens, space.vocabulary())),
      &forced.tokens);
  assert(ByteCount(forced.tokens, space.vocabulary()) <= forced.bytes.size());
  assert(forced.certain_tokens <= static_cast<int>(forced.tokens.size()));
  EndBeforeOthers(stepper, &forced);
  return forced;
}

}  // namespace maskd
