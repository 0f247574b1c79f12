// Parts of which no character may follow, left out.
//
// Idea     a network may take more than its grammar. A part is left out if the caller says of one
//          character of each kind in it that it may not follow.
// Bounds   kMostViable questions to the caller for one object, of kMostViableBytes together.
// Threads  one thread.
#ifndef MASKD_REASONS_VIABLE_PARTS_H_
#define MASKD_REASONS_VIABLE_PARTS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/frontend/places/place_network.h"

namespace maskd::reasons {

inline constexpr std::size_t kMostViable = 48;
inline constexpr std::size_t kMostViableBytes = 1 << 20;

// Whether some text of the grammar begins so; null: the caller cannot say.
using IsViable = std::function<bool(absl::string_view text)>;

// What may follow behind one text. The caller's question outlives it.
class ViableParts {
 public:
  // How a character is written behind the text.
  enum class Writing : unsigned char { kPlain, kInJsonString };

  ViableParts(absl::string_view taken, const IsViable& viable);

  // Whether anything can be said of the text.
  [[nodiscard]] bool can_say() const { return can_say_; }
  // `parts` are those of `network` that may come next. True where some character of a part may not
  // follow: then it is held by more than its part.
  bool LeaveOutDead(const PlaceNetwork& network, Writing writing, std::vector<NextPart>* parts);

 private:
  [[nodiscard]] bool Follows(std::uint32_t character, Writing writing) const;

  const absl::string_view taken_;
  const IsViable& viable_;
  const bool can_say_;
  const std::size_t most_;
  std::size_t asked_ = 0;
};

}  // namespace maskd::reasons

#endif  // MASKD_REASONS_VIABLE_PARTS_H_
