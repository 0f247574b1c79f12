// The shortest text that ends a state, and the fewest tokens that spell it: what a row's masks
// leave room for (closing.h).
//
// How      a state is a spine of cells (automaton/term.h), and its shortest text is those of its
//          cells, each searched for once. An ending is a list of bytes that goes on in the ending of
//          the cells behind; each byte knows the fewest tokens from there on, so states that differ
//          in their first cells share all else.
// Own      an own state's ending (automaton/row_memory.h) is that of the state of the automaton,
//          where what the row has written allows it; else each byte that it forbids is replaced by
//          one that costs least, and the ending goes on from there. That may not be the shortest.
// Bounds   Few() is an upper bound of the fewest tokens of any text: exact for this one text.
// Memory   kMaxBytes; before there is more, all is forgotten.
// Threads  one thread at a time.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_ENDINGS_H_
#define MASKD_GRAMMAR_CORE_MATCHER_ENDINGS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/automaton/shortest_path.h"
#include "grammar_core/automaton/work.h"
#include "grammar_core/matcher/token_stepper.h"

namespace maskd {

class Endings {
 public:
  using State = TokenStepper::State;
  static constexpr int kNever = std::numeric_limits<int>::max();

  // The tokens of the ending of `state`, without the stop id; kNever where no ending is known: it is
  // too long, or too dear to search for.
  int Few(const TokenStepper& stepper, State state);

  // The ending of a state that is no own state; empty where none is known.
  [[nodiscard]] std::string Text(const TokenStepper& stepper, State state);

  void Forget();

 private:
  using Node = std::uint32_t;
  static constexpr Node kEnd = 0;
  static constexpr Node kNone = 0xFFFFFFFF;
  // One byte of endings.
  struct Byte {
    Node next;
    std::uint16_t bytes;  // from here on
    std::uint16_t few;    // tokens; kNoTokens where none spell it
    char byte;
  };
  static constexpr std::uint16_t kNoTokens = 0xFFFF;
  static constexpr std::int64_t kMaxBytes = 4 << 20;

  // Work for the shortest text of one cell, some milliseconds. Not a time: a row's masks are the
  // same wherever it is replayed.
  static constexpr std::int64_t kCellWork = 10'000;
  // The same of an own state, and the bytes that it may have replaced.
  static constexpr std::int64_t kOwnWork = 5'000;
  static constexpr int kMaxReplaced = 64;

  int FewOwn(const TokenStepper& stepper, State state);
  // What ends an own state; nothing where none is found.
  std::optional<std::string> OwnText(const TokenStepper& stepper, State state, Work& work);
  // A byte other than `refused` that `*at` takes, with the fewest tokens behind it, and `*at` then.
  std::optional<unsigned char> OtherByte(const TokenStepper& stepper, unsigned char refused,
                                         State* at, Work& work);

  Node EndingOf(const TokenStepper& stepper, State state);
  Node Put(const TokenSearch& search, char byte, Node next);
  std::uint16_t FewFrom(const TokenSearch& search, Node node) const;

  std::uint64_t automaton_ = 0;  // the serial number of the one whose states are known
  ShortestTexts texts_;
  std::vector<Byte> nodes_ = {{kEnd, 0, 0, 0}};
  absl::flat_hash_map<State, Node> ending_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_ENDINGS_H_
