#include "tests/oracle/random_characters.h"

namespace maskd {

NodeId RandomCharacters(int depth, std::mt19937_64* random, IrBuilder* b) {
  const auto below = [&](int end) {
    return std::uniform_int_distribution<int>(0, end - 1)(*random);
  };
  const auto part = [&] { return RandomCharacters(depth - 1, random, b); };
  if (depth == 0) {
    switch (below(4)) {
      case 0:
        return b->Text("a");
      case 1:
        return b->TextSet({"ab", "\xC3\xA9", "b"});
      case 2:
        return b->Chars(CharSet({{'b', 0xFF}}));
      default:
        return b->AnyChar();
    }
  }
  switch (below(6)) {
    case 0:
      return b->Concat({part(), part()});
    case 1:
      return b->Alt({part(), part()});
    case 2:
      return b->And({part(), part()});
    case 3:
      return b->Not(part());
    case 4:
      return b->Repeat(part(), below(3), kUnbounded);
    default:
      return b->Repeat(part(), below(2), 1 + below(3));
  }
}

}  // namespace maskd
