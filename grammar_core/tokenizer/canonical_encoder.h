// Cuts texts into the tokens that the tokenizer itself would make of them.
// Certain   A text's last tokens depend on what comes after it. CertainTokens() gives those that do
//           not. They end at the last border of two pieces that stays one whatever follows. Some
//           tokenizers cut no pieces. There they end before the first token that could change if a
//           token went over the end of the text: the encoding of a text begins with that of each of
//           its beginnings up to a border of tokens. And they end before the first character that
//           the tokenizer may change with what follows.
// Cost      a map of the vocabulary, made once (10 to 20 ms); a text costs some microseconds a
//           piece.
// Threads   immutable; any number of readers.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_CANONICAL_ENCODER_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_CANONICAL_ENCODER_H_

#include <bitset>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/best_sum.h"
#include "grammar_core/tokenizer/ordinary_tokens.h"
#include "grammar_core/tokenizer/piece_pattern.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {

// One for each vocabulary, shared by all who want forced tokens or a text's encoding.
class CanonicalEncoder {
 public:
  // Null where the vocabulary's rules are not known. It must outlive this.
  static std::unique_ptr<const CanonicalEncoder> Create(const Vocabulary& vocabulary);

  // What may come after a text.
  struct Followers {
    // One text for each kind of character that may come next (see the kinds in forced_tokens.cc),
    // and the empty one where the text may end.
    std::vector<std::string> texts;
    // Whether a token may come that begins with these last bytes of the text and goes on after
    // them.
    std::function<bool(absl::string_view last_bytes)> has_token_over;
  };

  // The tokens of `text`, in which a token begins and which comes after `before`.
  [[nodiscard]] std::vector<TokenId> Tokens(absl::string_view before, absl::string_view text) const;

  // Those of them that come whatever follows.
  [[nodiscard]] std::vector<TokenId> CertainTokens(absl::string_view before, absl::string_view text,
                                                   const Followers& followers) const;

 private:
  explicit CanonicalEncoder(const Vocabulary& vocabulary);

  bool ReadPatterns();
  void IndexMissingBytes();
  // By id, which tokens are none that pieces are made of.
  std::vector<bool> IndexAtoms();

  [[nodiscard]] std::vector<absl::string_view> Pieces(absl::string_view text) const;
  [[nodiscard]] std::size_t AtomAt(absl::string_view text) const;
  // Whether `text` is the beginning of an atom that goes on.
  [[nodiscard]] bool MayBecomeAtom(absl::string_view text) const;
  [[nodiscard]] std::size_t EndBeforeAtoms(absl::string_view text) const;
  [[nodiscard]] bool LosesBytes(absl::string_view piece) const;
  // `is_whole`: all of a piece, not the end of one. False where a character has no tokens: those
  // before it are appended. Of bytes, none are: what is around a missing one may merge.
  bool AppendTokens(absl::string_view piece, bool is_whole, std::vector<TokenId>* tokens) const;
  bool AppendParts(const std::vector<absl::string_view>& parts, std::vector<TokenId>* tokens) const;
  [[nodiscard]] std::vector<absl::string_view> PartsOf(absl::string_view piece) const;
  // Those of the pieces that end in the first `end` bytes of `text`.
  [[nodiscard]] std::vector<TokenId> TokensTo(absl::string_view before, absl::string_view text,
                                              std::size_t end) const;
  [[nodiscard]] std::size_t CertainBorder(absl::string_view before, absl::string_view text,
                                          const Followers& followers) const;
  [[nodiscard]] std::size_t UnchangedBytes(absl::string_view before, absl::string_view text,
                                           const Followers& followers) const;
  [[nodiscard]] std::vector<TokenId> CertainParts(absl::string_view text,
                                                  const Followers& followers) const;
  // Where in `piece` tokens begin that may go on after it.
  [[nodiscard]] std::vector<std::size_t> BeginsOver(absl::string_view piece,
                                                    const Followers& followers) const;
  void AppendCertainMerges(absl::string_view piece, const Followers& followers,
                           std::vector<TokenId>* tokens) const;
  void AppendCertainSum(absl::string_view piece, const Followers& followers,
                        std::vector<TokenId>* tokens) const;

  const Vocabulary& vocabulary_;
  std::vector<std::unique_ptr<const PiecePattern>> patterns_;
  absl::flat_hash_map<absl::string_view, TokenId> atoms_;
  std::bitset<256> atom_begins_;
  std::size_t longest_atom_ = 0;
  std::bitset<256> missing_bytes_;               // which text may have and no token stands for
  std::vector<absl::string_view> unsure_atoms_;  // sorted; none of atoms_
  std::vector<absl::string_view> atom_texts_;    // of both, sorted
  const std::vector<bool> left_out_;
  const OrdinaryTokens tokens_;
  const TokenScores scores_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_CANONICAL_ENCODER_H_
