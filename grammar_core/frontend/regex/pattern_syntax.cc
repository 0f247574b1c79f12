#include "grammar_core/frontend/regex/pattern_syntax.h"

#include <cassert>
#include <utility>

namespace maskd {

using Kind = PatternSyntax::Kind;

std::uint32_t PatternSyntaxMaker::Add(PatternSyntax::Part part) {
  assert(part.begin <= part.end && "a part has a begin and an end");
  syntax_.parts.push_back(std::move(part));
  return static_cast<std::uint32_t>(syntax_.parts.size() - 1);
}

void PatternSyntaxMaker::Characters(std::size_t begin, std::size_t end, const CharSet& set) {
  AddToSequence({.kind = Kind::kCharacters, .begin = begin, .end = end, .characters = set});
}

void PatternSyntaxMaker::Condition(Kind kind, std::size_t begin, std::size_t end) {
  AddToSequence({.kind = kind, .begin = begin, .end = end});
}

void PatternSyntaxMaker::Open(std::size_t begin, bool is_look) {
  open_.push_back({.begin = begin, .is_look = is_look});
}

void PatternSyntaxMaker::Close(std::size_t end) {
  assert(open_.size() > 1 && "the pattern itself is closed by Finish()");
  Group group = std::move(open_.back());
  open_.pop_back();
  const std::size_t begin = group.begin;
  const bool is_look = group.is_look;
  const std::uint32_t whole = WholeOf(std::move(group), end);
  if (is_look)
    AddToSequence({.kind = Kind::kLook, .begin = begin, .end = end, .parts = {whole}});
  else
    open_.back().sequence.push_back(whole);
}

void PatternSyntaxMaker::EndAlternative() {
  Group& group = open_.back();
  group.alternatives.push_back(
      Add({.kind = Kind::kSequence, .parts = std::exchange(group.sequence, {})}));
}

void PatternSyntaxMaker::Repeat(std::uint32_t min, std::uint32_t max, std::size_t end) {
  assert(!open_.back().sequence.empty() && min <= max);
  const std::uint32_t part = open_.back().sequence.back();
  open_.back().sequence.pop_back();
  AddToSequence({.kind = Kind::kRepeat,
                 .begin = syntax_.parts[part].begin,
                 .end = end,
                 .parts = {part},
                 .min = min,
                 .max = max});
}

std::uint32_t PatternSyntaxMaker::WholeOf(Group group, std::size_t end) {
  const std::uint32_t last = Add({.kind = Kind::kSequence,
                                  .begin = group.begin,
                                  .end = end,
                                  .parts = std::move(group.sequence)});
  if (group.alternatives.empty()) return last;
  group.alternatives.push_back(last);
  return Add({.kind = Kind::kAlternatives,
              .begin = group.begin,
              .end = end,
              .parts = std::move(group.alternatives)});
}

PatternSyntax PatternSyntaxMaker::Finish() && {
  assert(open_.size() == 1 && "every group has its end");
  WholeOf(std::move(open_.back()), 0);
  return std::move(syntax_);
}

}  // namespace maskd
