// What masks need to know of a vocabulary beyond single tokens: its trie, and sets of tokens by the
// characters they are made of.
//
// Cost     about 200 bitmaps of one bit a token (3 to 5 MB for 128k to 200k tokens), tens of ms.
// Threads  immutable.
#ifndef MASKD_GRAMMAR_CORE_MASK_TOKEN_INDEX_H_
#define MASKD_GRAMMAR_CORE_MASK_TOKEN_INDEX_H_

#include <bitset>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/mask/run_index.h"
#include "grammar_core/mask/token_mask.h"
#include "grammar_core/mask/token_trie.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {

using AsciiBits = std::bitset<128>;

// Bytes that end a string, an array or an object of JSON.
inline constexpr absl::string_view kEndBytes = "\"]}";

// All bytes that a number of JSON may have.
inline constexpr absl::string_view kNumberBytes = "0123456789+-.eE";

// Strings over an alphabet: some ASCII characters and, or not, all others, with or without the
// spaces among those (SpacesBeyondAscii()); at most so many.
struct CharacterClass {
  // No token is longer, so this stands for "no bound".
  static constexpr int kAnyLength = 1 << 20;

  AsciiBits ascii;
  bool beyond_ascii = false;
  bool spaces_beyond_ascii = false;  // requires beyond_ascii
  int max_chars = kAnyLength;

  bool operator==(const CharacterClass&) const = default;
  // Of all fields, as the store keeps bitmaps under them.
  template <typename H>
  friend H AbslHashValue(H state, const CharacterClass& c) {
    return H::combine(std::move(state), std::hash<AsciiBits>()(c.ascii), c.beyond_ascii,
                      c.spaces_beyond_ascii, c.max_chars);
  }
};

// Tokens that a walk must try, because they hold certain bytes or are too long to be told.
struct CandidateClass {
  AsciiBits holds_any_of;
  bool holds_beyond_ascii = false;         // any byte of 0x80 and above
  bool holds_spaces_beyond_ascii = false;  // in front of what is ill-formed, if anything is
  bool ill_formed = false;  // part of a UTF-8 sequence at either end, or no UTF-8 at all
  int longer_than = CharacterClass::kAnyLength;  // characters

  bool operator==(const CandidateClass&) const = default;
  // Of all fields, as the store keeps tries under them.
  template <typename H>
  friend H AbslHashValue(H state, const CandidateClass& c) {
    return H::combine(std::move(state), std::hash<AsciiBits>()(c.holds_any_of),
                      c.holds_beyond_ascii, c.holds_spaces_beyond_ascii, c.ill_formed,
                      c.longer_than);
  }
};

// Made once for a vocabulary when it is loaded; see Cost.
class TokenIndex {
 public:
  // Keeps the vocabulary alive.
  explicit TokenIndex(std::shared_ptr<const Vocabulary> vocabulary);

  // Both live as long as this. The trie has the ordinary tokens, by their bytes.
  [[nodiscard]] const Vocabulary& vocabulary() const { return *vocabulary_; }
  [[nodiscard]] const TokenTrie& trie() const { return *trie_; }
  // The ordinary token of these bytes, or -1.
  [[nodiscard]] TokenId Find(absl::string_view bytes) const;
  // The longest ordinary token that `bytes` begins with, or -1.
  [[nodiscard]] TokenId FindLongest(absl::string_view bytes) const;
  // Sorts ordinary tokens by their bytes.
  void SortByBytes(std::vector<TokenId>* ids) const;
  // The ordinary tokens that hold an ASCII character, ascending.
  [[nodiscard]] std::vector<TokenId> TokensHolding(unsigned char ascii) const;
  // Those that hold `text`, whose last character is ASCII. Costs a pass over a bitmap for each
  // ASCII character of it.
  [[nodiscard]] std::vector<TokenId> TokensHolding(absl::string_view text) const;

  // The ordinary tokens that a text of UTF-8 may begin with, and a trie of the others.
  [[nodiscard]] const TokenMask& text() const { return text_; }
  [[nodiscard]] const TokenTrie& no_text() const { return *no_text_; }

  // All that tokens hold after `end`, one of kEndBytes, whichever token it is; the ids are numbers.
  [[nodiscard]] const TokenTrie& TextsAfter(unsigned char end) const;

  // The runs of JSON's white space or of digits, made beforehand; null for another set.
  [[nodiscard]] std::shared_ptr<const RunIndex> CommonRuns(const std::bitset<256>& set) const;

  // Whether no token has a digit and behind it what belongs to no number, all before that being of
  // a number: then a number that goes on ends where a token does.
  [[nodiscard]] bool digits_are_alone() const { return digits_are_alone_; }

  // The tokens that are well-formed strings of the class.
  [[nodiscard]] TokenMask TokensWithin(const CharacterClass& characters) const;
  // A trie of all tokens that match any clause of `candidates`; where these are many, of others
  // too, as a trie of their own would take longer to make than it saves.
  [[nodiscard]] std::shared_ptr<const TokenTrie> TrieOf(const CandidateClass& candidates) const;

  // Roughly; without the vocabulary.
  [[nodiscard]] std::int64_t held_bytes() const;

 private:
  // Lengths above it are in one bucket.
  static constexpr int kIndexedChars = 128;
  // A candidate costs about 150 ns in a separate trie, and a walk past a token of the whole trie
  // some nanoseconds.
  static constexpr int kMaxCandidates = 12'000;

  void IndexToken(TokenId id);
  void SortTokens();
  [[nodiscard]] TokenTrie MakeTextsAfter(unsigned char end) const;
  [[nodiscard]] bool FindDigitsAlone() const;
  [[nodiscard]] std::vector<TokenTrie::Entry> EntriesOf(std::span<const TokenId> ids) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<TokenId> sorted_;     // ordinary tokens by bytes
  std::vector<std::int32_t> rank_;  // by id: the place in sorted_, or -1
  std::shared_ptr<const TokenTrie> trie_;
  std::vector<TokenMask> contains_;  // by ASCII character
  std::vector<TokenMask> shorter_;   // [n]: well-formed, at most n characters
  TokenMask well_formed_;
  TokenMask ascii_;  // nothing beyond ASCII
  TokenMask holds_spaces_beyond_ascii_;
  struct Runs {
    std::bitset<256> set;
    std::shared_ptr<const RunIndex> runs;
  };
  std::vector<Runs> common_runs_;
  bool digits_are_alone_ = false;
  TokenMask text_;  // well-formed, or so up to the beginning of a character
  std::unique_ptr<const TokenTrie> no_text_;
  std::vector<TokenTrie> texts_after_;  // by place in kEndBytes
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_TOKEN_INDEX_H_
