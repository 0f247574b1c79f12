// The shortest text that ends a state, and the fewest tokens that spell it: what a row's masks
// leave room for (closing.h).
// How      a state is a spine of cells (terms/term.h), and its shortest text is those of its cells,
//          each searched for once. An ending is a list of bytes that goes on in the ending of the
//          cells behind. Each byte knows the fewest tokens from there on. So states that differ in
//          their first cells share all else.
// Items    items of an array may have to differ (unique_items/row_memory.h). The ending is first
//          made as if they could be equal. A byte that would repeat an item is replaced, or one
//          shortly before it: by the one through which the text has the fewest bytes. That may not
//          be the shortest of all.
//          Behind such an array a row has nothing written any more: its states are those of all
//          rows again, and from there on the known ending is taken.
//          Where that one has too many tokens, a text of other bytes at the places that were
//          replaced, or of those further back, may have fewer (TokensWithin()).
// Lengths  a string that must have so many characters more gets them from the longest tokens of its
//          characters, not from the first character that it takes.
// Named    a token that the grammar names, as the marker that ends a call, is one of an ending
//          where it is a cell of the spine, or of one of few branches. Within rules it is not
//          looked for.
// Bounds   Few() is an upper bound of the fewest tokens of any text: exact for this one text.
// Memory   kMaxBytes; before there is more, all is forgotten.
// Threads  one thread at a time.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_ENDINGS_H_
#define MASKD_GRAMMAR_CORE_MATCHER_ENDINGS_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/base/work.h"
#include "grammar_core/completion/shortest_path.h"
#include "grammar_core/matcher/token_stepper.h"

namespace maskd {

// The endings of the states of one automaton, each found once.
class Endings {
 public:
  using State = TokenStepper::State;
  static constexpr int kNever = std::numeric_limits<int>::max();

  // The tokens of the ending of `state`, without the stop id; kNever where no ending is known: it
  // is too long, or too dear to search for.
  int Few(const TokenStepper& stepper, State state);
  // The same; what the items of a row take to look at is taken from `work`, and kNever where it
  // fails.
  int Few(const TokenStepper& stepper, State state, Work& work);

  // An ending byte by byte; `few` are the tokens from each byte on, and 0 behind the last.
  struct Spelled {
    std::string text;
    std::vector<int> few;
  };
  // The one that Few() counts; nothing where that is kNever.
  std::optional<Spelled> SpelledOf(const TokenStepper& stepper, State state, Work& work);

  // Equal for states whose endings, as if items could be equal, are one: from the same cells on.
  std::uint64_t KeyOf(const TokenStepper& stepper, State state);

  // The most bytes that a part of the grammar has at least, in any of the choices that it leaves: a
  // value that is forced, since others are written already, is no longer by more.
  int LongestPart(const TokenStepper& stepper);

  // The fewest tokens that spell the ending; empty where none is known, and where the text may end.
  std::vector<TokenId> Tokens(const TokenStepper& stepper, State state);
  // The same by a budget of the caller's; empty where `work` fails.
  std::vector<TokenId> Tokens(const TokenStepper& stepper, State state, Work& work);

  // Where items must differ: tokens of an ending that has at most `most`, looked for in more ways
  // than that of Few(). Empty where none is found, and where `work` fails.
  std::vector<TokenId> TokensWithin(const TokenStepper& stepper, State state, int most, Work& work);

  // The ending of a state, as if items could be equal; empty where none is known.
  [[nodiscard]] std::string Text(const TokenStepper& stepper, State state);

  // Lets go of all that is known.
  void Forget();
  // Roughly.
  [[nodiscard]] std::int64_t held_bytes() const;

 private:
  using Node = std::uint32_t;
  static constexpr Node kEnd = 0;
  static constexpr Node kNone = 0xFFFFFFFF;
  static constexpr TokenId kNoToken = -1;
  // One byte of endings, or a token that the grammar names.
  struct Byte {
    Node next;
    std::uint16_t bytes;  // from here on
    std::uint16_t few;    // tokens; kNoTokens where none spell it
    char byte;
    TokenId named;  // kNoToken for a byte
    [[nodiscard]] bool is_named() const { return named != kNoToken; }
  };

  static constexpr std::uint16_t kNoTokens = 0xFFFF;
  static constexpr std::int64_t kMaxBytes = 4 << 20;

  // Work for the shortest text of one cell, some milliseconds. Not a time: a row's masks are the
  // same wherever it is replayed.
  static constexpr std::int64_t kCellWork = 10'000;
  // The same of a number that is neither a digit nor a multiple from its end: tokens lead to a
  // thousand of them.
  static constexpr std::int64_t kNumberWork = 300;
  // The same of a state's distinct items, and the bytes that it may have replaced.
  static constexpr std::int64_t kDistinctWork = 20'000;
  static constexpr int kMaxReplaced = 64;
  // How far back another byte is looked for: to the first byte of a word such as `false`, or to the
  // member before it. Beyond kNear only where each byte so far makes the text two bytes longer.
  static constexpr std::size_t kMaxBack = 32;
  static constexpr std::size_t kNear = 3;
  // Arrays of distinct items one behind the other that are looked at at once, and bytes of all.
  static constexpr int kMaxDistinctDepth = 16;
  static constexpr std::size_t kMaxDistinctBytes = 4 * ShortestTexts::kMaxBytes;
  // Branches of a choice with tokens in them that are looked at, and choices in choices.
  static constexpr std::size_t kMaxBranches = 64;
  static constexpr int kMaxChoices = 3;

  int FewAsIfEqual(const TokenStepper& stepper, State state);
  std::size_t BytesAsIfEqual(const TokenStepper& stepper, State state);
  // The same where items must differ, of an own state.
  int FewOwn(const TokenStepper& stepper, State state, Work& work);
  // Calls read(node) with that ending, or kNone; what it gives. The node is good until then.
  template <typename Read>
  auto ReadOwn(const TokenStepper& stepper, State state, Work& work, Read read);
  // The tokens from `node` on; kNever of kNone, and where no tokens spell it.
  [[nodiscard]] int FewOf(Node node) const;
  // From `node` on; nothing of kNone, and where no tokens spell it.
  [[nodiscard]] std::optional<Spelled> SpelledFrom(Node node) const;
  // The ending, its items distinct, of a state that is no own one; kNone where none is found, and
  // where `work` fails. Good until the next call.
  Node DistinctEnding(const TokenStepper& stepper, State state, Work& work);
  Node MakeDistinct(const TokenStepper& stepper, State state, Work& work);
  // A state that is no own one, without cells before that may be empty.
  static State WithoutEmptyCells(const TokenStepper& stepper, State state);

  // An ending whose items differ: bytes, and what follows them.
  struct Distinct {
    std::string text;
    Node behind = kEnd;
    std::vector<std::size_t> replaced = {};  // bytes of `text` that stand for another, ascending
  };
  // That of a state; nothing where none is found. Good until the next call.
  std::optional<Distinct> DistinctOf(const TokenStepper& stepper, State state, Work& work);
  // The same as text.
  std::optional<std::string> DistinctText(const TokenStepper& stepper, State state, Work& work);
  // A step by a byte, with or without a search for what may still be written behind it.
  using Take = State (RowStates::*)(State, unsigned char, Work&) const;
  // How a text is repaired: its steps; from how many bytes back on another byte must save two; and
  // whether all is written down, also the rest of the text after the arrays around the state.
  struct Repair {
    Take take;
    std::size_t near = kNear;
    bool is_whole = false;
  };
  std::optional<Distinct> Repaired(const TokenStepper& stepper, State state, const Repair& repair,
                                   Work& work);
  // Other bytes where some were replaced, each by which the whole text has the fewest tokens.
  void TakeBytesOfFewerTokens(const TokenStepper& stepper, State state, Distinct* ending,
                              Work& work);
  // Puts the bytes before what follows them; kNone where that is too long.
  Node PutAll(const TokenSearch& search, const Distinct& ending);
  // The bytes from `node` on.
  [[nodiscard]] std::string TextFrom(Node node) const;

  // A place on the way, the bytes that were tried there, and once it was asked those that it takes.
  struct Place {
    State state = kNothingTerm;
    std::bitset<256> tried = {};
    std::optional<FirstClasses::Set> first = std::nullopt;
  };
  // A byte that was not tried and that a place takes: the bytes of the whole text through it, as if
  // items could be equal; whether it begins something that is written already; and the fewest
  // tokens behind it.
  struct Other {
    unsigned char byte = 0;
    State next = kNothingTerm;  // where there is none
    std::size_t bytes = std::numeric_limits<std::size_t>::max() - 1;
    bool may_repeat = true;
    int few = kNever;
    // What may repeat takes a byte more, or all that is behind it is for nothing.
    [[nodiscard]] auto cost() const {
      return std::tuple(bytes + (may_repeat ? 1 : 0), may_repeat, few);
    }
  };
  // The best one of a place that has `before` bytes before it.
  Other OtherByte(const TokenStepper& stepper, std::size_t before, Place* place, Take take,
                  Work& work);
  // A text on the way to its end: the place before each byte, and behind the last one.
  struct Begun {
    std::vector<Place> places;
    Distinct ending = {};
    // Has another byte at `at`, and nothing behind it yet.
    void Replace(std::size_t at, unsigned char byte, State next);
  };
  // Takes another byte in the last places of a text; false where there is none.
  bool TakeOther(const TokenStepper& stepper, const Repair& repair, Begun* begun, Work& work);

  // Those of an ending with named tokens in it.
  std::vector<TokenId> TokensByPieces(const TokenStepper& stepper, State state);

  // All that is of another automaton, or too much.
  void ForgetOthers(const TokenStepper& stepper);
  Node EndingOf(const TokenStepper& stepper, TermId state, int depth = 0);
  // The ending of `at` whose tail has the ending `node`, or kNone.
  Node Before(const TokenStepper& stepper, TermId at, Node node, int depth);
  // The same for a cell that is a token by its name, and for a choice.
  Node PutNamed(const TokenStepper& stepper, TermId at, Node next);
  Node BestBranch(const TokenStepper& stepper, TermId at, int depth);
  // What the cell that `state` begins with becomes; nothing where that is too long or too dear.
  std::optional<std::string> CellText(const TokenStepper& stepper, TermId state);
  static std::optional<std::string> OneByte(const TokenStepper& stepper, TermId cell, Work& work);
  static std::optional<std::string> LongTokens(const TokenStepper& stepper, TermId state,
                                               Work& work);
  Node Put(const TokenSearch& search, char byte, Node next);
  std::uint16_t FewFrom(const TokenSearch& search, Node node) const;

  std::uint64_t automaton_ = 0;  // the serial number of the one whose states are known
  std::uint32_t forgotten_ = 0;  // how often all was
  std::optional<int> longest_part_;
  ShortestTexts texts_;
  std::vector<Byte> nodes_ = {{kEnd, 0, 0, 0, kNoToken}};
  absl::flat_hash_map<TermId, Node> ending_;   // as if items could be equal
  absl::flat_hash_map<State, Node> distinct_;  // of states that are no own states
  int distinct_depth_ = 0;                     // of DistinctEnding() in itself
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_ENDINGS_H_
