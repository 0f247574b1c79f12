// Numbers of one kind of thing, as a type of their own: a number of another kind is refused by the
// compiler where a plain integer would be taken for one.
//
//   using CellId = StrongId<struct CellIdTag>;
//
// Layout   that of the number: equally large, copied as it is, not set unless it is told to be.
// Threads  plain values.
#ifndef MASKD_GRAMMAR_CORE_BASE_STRONG_ID_H_
#define MASKD_GRAMMAR_CORE_BASE_STRONG_ID_H_

#include <compare>
#include <cstdint>
#include <string>
#include <utility>

namespace maskd {

// Whether an id of the kind `To` may be made of one of the kind `From`, by naming `To`. Kinds say
// so beside their tags.
template <typename To, typename From>
inline constexpr bool kMayBecome = false;

// An id of the kind that `Tag`, any type, stands for.
template <typename Tag>
class StrongId {
 public:
  // As with an integer, `StrongId x;` is not set and `StrongId x = {};` is 0.
  StrongId() = default;
  // The id of that number. Explicit, as is the way back.
  constexpr explicit StrongId(std::uint32_t value) : value_(value) {}
  // One of a kind that is related.
  template <typename Other>
    requires kMayBecome<Tag, Other>
  constexpr explicit StrongId(StrongId<Other> other) : value_(other.value()) {}

  // The number.
  [[nodiscard]] constexpr std::uint32_t value() const { return value_; }

  friend constexpr bool operator==(StrongId, StrongId) = default;
  friend constexpr auto operator<=>(StrongId, StrongId) = default;
  // Ids are keys of tables.
  template <typename H>
  friend H AbslHashValue(H state, StrongId id) {
    return H::combine(std::move(state), id.value_);
  }
  // For absl::StrCat() of later releases than Debian's, and for messages of tests.
  template <typename Sink>
  friend void AbslStringify(Sink& sink, StrongId id) {
    sink.Append(std::to_string(id.value_));
  }

 private:
  std::uint32_t value_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_STRONG_ID_H_
