// Each way is a sequence of factors that is read from its front. Ways with the same first
// character, or the same first factor, are a group; all that a group shares is one sequence, and
// its rests are grouped again.
//
// Invariant  the rests of a group do not all begin alike, so each beginning splits the ways and
//            there are fewer of them than ways.

#include "grammar_core/ir/shared_beginnings.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/string_view.h"

#include "grammar_core/base/utf8.h"
#include "grammar_core/ir/ir_views.h"

namespace maskd {
namespace {

// What a way begins with: a character of a literal, kBytes and a byte that begins no character,
// kFactors and the node of a factor, or that it has ended.
using First = std::uint64_t;
constexpr First kBytes = 0x110000;
constexpr First kFactors = First{1} << 32U;
constexpr First kEnd = UINT64_MAX;

// Reads what `literal` begins with.
First ReadCharacter(absl::string_view literal, std::size_t* at) {
  const std::optional<std::uint32_t> character = DecodeUtf8(literal, at);
  return character.has_value() ? First{*character}
                               : kBytes + static_cast<unsigned char>(literal[(*at)++]);
}

// How many bytes of two literals are the same characters.
std::size_t SameBytes(absl::string_view x, absl::string_view y) {
  std::size_t same = 0;
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  for (std::size_t end = 0; end < x.size() && end < y.size(); same = end) {
    if (is_ascii(x[end])) {
      if (x[end] != y[end]) break;
      ++end;
      continue;
    }
    const First character = ReadCharacter(x, &end);
    end = same;
    if (ReadCharacter(y, &end) != character) break;
  }
  return same;
}

// What is left of a way that was read so far.
struct Rest {
  NodeId way;
  std::uint32_t factor = 0;  // that is read next
  std::uint32_t bytes = 0;   // that were read of it, a literal
  First first = kEnd;
};

class Sharing {
 public:
  explicit Sharing(IrBuilder& builder) : builder_(builder) {}

  // All of `way`.
  [[nodiscard]] Rest Whole(NodeId way) const {
    Rest whole = {.way = way};
    whole.first = FirstOf(whole);
    return whole;
  }

  // `shared`: how many beginnings it stands behind.
  NodeId Join(std::span<Rest> ways, int shared) {
    if (shared == kMostShared) return AsTheyAre(ways);
    std::ranges::sort(ways, {}, &Rest::first);
    std::vector<NodeId> groups;
    for (std::size_t begin = 0; begin < ways.size();) {
      std::size_t end = begin + 1;
      while (end < ways.size() && ways[end].first == ways[begin].first) ++end;
      groups.push_back(JoinGroup(ways.subspan(begin, end - begin), shared));
      begin = end;
    }
    return builder_.Alt(std::move(groups));
  }

 private:
  NodeId JoinGroup(std::span<Rest> ways, int shared) {
    if (ways.size() == 1) return Made(ways.front());
    std::vector<NodeId> sequence;
    while (ReadShared(ways, &sequence)) {
    }
    if (AllBeginWith(kEnd, ways)) return builder_.Concat(sequence);
    assert(!sequence.empty() && "ways of a group begin alike");
    sequence.push_back(Join(ways, shared + 1));
    return builder_.Concat(sequence);
  }

  // Reads one factor, or characters of a literal, that all ways have next. False: there is none.
  bool ReadShared(std::span<Rest> ways, std::vector<NodeId>* sequence) {
    const First first = ways.front().first;
    if (first == kEnd || !AllBeginWith(first, ways)) return false;
    if (first >= kFactors) {
      sequence->push_back(FactorsOf(ways.front()).front());
      for (Rest& way : ways) {
        ++way.factor;
        way.first = FirstOf(way);
      }
      return true;
    }
    absl::string_view same = LiteralOf(ways.front());
    for (const Rest& way : ways) same = same.substr(0, SameBytes(same, LiteralOf(way)));
    for (Rest& way : ways) {
      const bool is_whole = LiteralOf(way).size() == same.size();
      way.bytes = is_whole ? 0 : way.bytes + static_cast<std::uint32_t>(same.size());
      way.factor += is_whole ? 1 : 0;
      way.first = FirstOf(way);
    }
    sequence->push_back(builder_.Bytes(same));
    return true;
  }

  static bool AllBeginWith(First first, std::span<const Rest> ways) {
    return std::ranges::all_of(ways, [&](const Rest& way) { return way.first == first; });
  }

  [[nodiscard]] First FirstOf(const Rest& way) const {
    const std::span<const NodeId> factors = FactorsOf(way);
    if (factors.empty()) return kEnd;
    if (builder_.node(factors.front()).kind != IrKind::kBytes) return kFactors + factors.front();
    std::size_t at = 0;
    return ReadCharacter(LiteralOf(way), &at);
  }

  // What is left, of the first factor perhaps a part. Good until the next node is made.
  [[nodiscard]] std::span<const NodeId> FactorsOf(const Rest& way) const {
    const IrNode& node = builder_.node(way.way);
    if (node.kind == IrKind::kEmpty) return {};
    const std::span<const NodeId> all =
        node.kind == IrKind::kConcat
            ? std::span(builder_.ir().children).subspan(node.first_child, node.child_count)
            : std::span(&way.way, 1);
    return all.subspan(way.factor);
  }

  // What is left of the literal that it begins with. Good until the next node is made.
  [[nodiscard]] absl::string_view LiteralOf(const Rest& way) const {
    const IrNode& node = builder_.node(FactorsOf(way).front());
    return absl::string_view(BytesOf(builder_.ir(), node)).substr(way.bytes);
  }

  NodeId AsTheyAre(std::span<const Rest> ways) {
    std::vector<NodeId> nodes;
    for (const Rest& way : ways) nodes.push_back(Made(way));
    return builder_.Alt(std::move(nodes));
  }

  NodeId Made(const Rest& way) {
    if (way.factor == 0 && way.bytes == 0) return way.way;
    const std::span<const NodeId> factors = FactorsOf(way);
    std::vector<NodeId> sequence(factors.begin(), factors.end());
    if (way.bytes > 0) sequence.front() = builder_.Bytes(LiteralOf(way));
    return builder_.Concat(sequence);
  }

  IrBuilder& builder_;
};

}  // namespace

NodeId AltWithSharedBeginnings(const std::vector<NodeId>& ways, IrBuilder& builder) {
  Sharing sharing(builder);
  std::vector<Rest> rests;
  rests.reserve(ways.size());
  for (const NodeId way : ways) {
    builder.ForEachAlternative(way, [&](NodeId one) { rests.push_back(sharing.Whole(one)); });
    if (builder.PowerOf(way).counts == Counts{0, 1}) rests.push_back({.way = builder.Empty()});
  }
  return sharing.Join(rests, 0);
}

}  // namespace maskd
