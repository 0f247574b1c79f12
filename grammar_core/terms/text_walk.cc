// A cursor is a range of the sorted texts and a depth, as a term of names is, but on the stack: the
// walk follows the trie and the range together and keeps one cursor a level.
//
// Cost  a few comparisons a trie node; no term, no allocation.
#include "grammar_core/terms/text_walk.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cassert>

#include "grammar_core/terms/encoding.h"

namespace maskd {
namespace {

// The texts are ASCII (see TextList::IsAscii), so 128 bits say which characters may come next.
constexpr int kAsciiEnd = 128;

// How far the texts [begin, end) are read, and what of the next character's escape.
struct Cursor {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t depth = 0;
  PartialChar partial;
  std::bitset<kAsciiEnd> next = {};  // the characters that may come next
};

class TextCursors {
 public:
  explicit TextCursors(const TextList& list) : list_(list) {}

  [[nodiscard]] Cursor Start() const {
    Cursor start = {.partial = {list_.spelling}};
    start.end = static_cast<std::uint32_t>(list_.texts.size());
    start.depth = list_.depth;
    FindNext(&start);
    return start;
  }

  // Whether a text ends at `at`: it is the first of its range then.
  [[nodiscard]] bool EndsText(const Cursor& at) const {
    return at.partial.phase == CharPhase::kStart && list_.texts[at.begin]->size() == at.depth;
  }

  // In {"ab", "ac"}: behind `a` the range is both texts and the next characters are b and c; behind
  // `b` the range is the first text alone. An escape such as `\u0061` keeps the range until its
  // last digit; it goes on only while one of the next characters can still come of it.
  // The cursor behind `byte`, which is no closing quote; false if there is none.
  bool Step(const Cursor& at, unsigned char byte, Cursor* next) const {
    // What a raw character leads to is seen at once; the rest is escapes, which are few.
    if (at.partial.phase == CharPhase::kStart && byte != '\\') {
      return byte < kAsciiEnd && at.next[byte] && byte != '"' && byte >= ' ' &&
             After(at, byte, next);
    }
    if (at.next.none()) return false;
    const CharStep step = StepChar(at.partial, byte);
    if (step.result == CharStep::Result::kRefused) return false;
    if (step.result == CharStep::Result::kCharacter) {
      return step.character < kAsciiEnd && at.next[step.character] &&
             After(at, step.character, next);
    }
    *next = at;
    next->partial = step.partial;
    return CanComplete(*next);
  }

 private:
  [[nodiscard]] char32_t At(std::uint32_t text, std::uint32_t depth) const {
    return (*list_.texts[text])[depth];
  }

  void FindNext(Cursor* at) const {
    at->next.reset();
    for (std::uint32_t i = at->begin; i < at->end; ++i)
      if (list_.texts[i]->size() > at->depth) at->next.set(At(i, at->depth));
  }

  // The texts of `at` that go on with `character`, of which there is one.
  bool After(const Cursor& at, std::uint32_t character, Cursor* next) const {
    // A text that ends here is before all that go on, as the texts are sorted.
    std::uint32_t begin = at.begin;
    while (list_.texts[begin]->size() == at.depth || At(begin, at.depth) < character) ++begin;
    std::uint32_t end = begin;
    while (end < at.end && At(end, at.depth) == character) ++end;
    *next = {.begin = begin, .end = end, .depth = at.depth + 1, .partial = {list_.spelling}};
    FindNext(next);
    return true;
  }

  [[nodiscard]] static bool CanComplete(const Cursor& at) {
    const Completions completions = CompletionsOf(at.partial);
    for (int i = 0; i < completions.count; ++i) {
      const std::uint32_t end = std::min<std::uint32_t>(completions.ranges[i].hi + 1, kAsciiEnd);
      for (std::uint32_t c = completions.ranges[i].lo; c < end; ++c)
        if (at.next[c]) return true;
    }
    return false;
  }

  const TextList& list_;
};

class TextWalk {
 public:
  TextWalk(const TokenTrie& trie, const TextList& list, OnToken on_token, OnQuote on_quote)
      : nodes_(trie.nodes()), cursors_(list), on_token_(on_token), on_quote_(on_quote) {}

  // Nothing of the texts has been read behind `depth` bytes.
  void Start(std::size_t depth) { path_[depth] = cursors_.Start(); }
  [[nodiscard]] std::bitset<kAsciiEnd> first_characters() const { return cursors_.Start().next; }
  [[nodiscard]] std::int64_t visited() const { return visited_; }

  // The nodes are in the order of a depth-first walk, and `skip` leads past a node's subtree. So
  // one loop suffices, and the cursor of a node's parent is still in path_ when the node is read.
  void Nodes(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++visited_) {
      const TrieNode node = nodes_[i];
      const Cursor& at = path_[node.depth - 1];
      if (node.byte == '"' && cursors_.EndsText(at)) {
        on_quote_(i, at.begin);
        i += node.skip;
      } else if (!cursors_.Step(at, static_cast<unsigned char>(node.byte), &path_[node.depth])) {
        i += node.skip;
      } else {
        on_token_(i);
        ++i;
      }
    }
  }

 private:
  const std::span<const TrieNode> nodes_;
  const TextCursors cursors_;
  const OnToken on_token_;
  const OnQuote on_quote_;
  std::array<Cursor, TokenTrie::kMaxDepth + 1> path_;  // path_[d]: behind d bytes
  std::int64_t visited_ = 0;
};

}  // namespace

bool TextList::IsAscii() const {
  return std::all_of(texts.begin(), texts.end(), [&](const std::u32string* text) {
    return std::all_of(text->begin() + depth, text->end(),
                       [](char32_t c) { return c < kAsciiEnd; });
  });
}

std::int64_t WalkTexts(const TokenTrie& trie, const TextList& list, OnToken on_token,
                       OnQuote on_quote) {
  TextWalk walk(trie, list, on_token, on_quote);
  const std::bitset<kAsciiEnd> first = walk.first_characters();
  walk.Start(0);
  const auto below = [&](unsigned char byte) {
    const std::size_t node = trie.First(byte);
    if (node < trie.nodes().size()) walk.Nodes(node, node + trie.nodes()[node].skip);
  };
  // Only these bytes can begin: the quote of an empty rest, a backslash, or a character of a text.
  // The other children of the root are not looked at.
  below('"');
  below('\\');
  for (std::size_t c = first._Find_first(); c < kAsciiEnd; c = first._Find_next(c))
    if (c != '"' && c != '\\') below(static_cast<unsigned char>(c));
  return walk.visited();
}

std::int64_t WalkTextsBelow(const TokenTrie& trie, std::size_t parent, const TextList& list,
                            OnToken on_token, OnQuote on_quote) {
  assert(parent < trie.nodes().size());
  TextWalk walk(trie, list, on_token, on_quote);
  const TrieNode node = trie.nodes()[parent];
  walk.Start(node.depth);
  walk.Nodes(parent + 1, parent + node.skip);
  return walk.visited();
}

}  // namespace maskd
