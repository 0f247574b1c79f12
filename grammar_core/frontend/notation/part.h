// A part of a grammar as IR, at the level of characters as long as that can be: from where a rule
// is called or a token is named, at the level of bytes.
//
// Characters are worth the trouble: a sequence of them is one state machine under one Encode node,
// with masks that other grammars share, and only they can be intersected or complemented.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_PART_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_PART_H_

#include <cstdint>
#include <vector>

#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// A plain value; `node` is of the builder that made it.
struct Part {
  NodeId node;
  bool characters;
  // About how many nodes are copied where the part is put into a larger one.
  std::uint32_t size;
};

// Makes parts from smaller ones. The builder must outlive it. One thread.
class PartBuilder {
 public:
  // Keeps nothing but the builder.
  explicit PartBuilder(IrBuilder* builder) : builder_(builder) {}

  // The empty text, and no text.
  [[nodiscard]] Part Empty() const;
  [[nodiscard]] Part Nothing() const;

  // At the level of bytes as soon as one of the parts is.
  [[nodiscard]] Part Sequence(const std::vector<Part>& parts) const;
  [[nodiscard]] Part Choice(const std::vector<Part>& parts) const;
  [[nodiscard]] Part Repeat(const Part& part, std::uint32_t min, std::uint32_t max) const;

  // `part` ending within so many tokens, if it may; the empty text where that is none.
  [[nodiscard]] Part Limited(const Part& part, std::uint32_t tokens) const;

  // These take parts of characters.
  [[nodiscard]] Part Both(const std::vector<Part>& parts) const;
  [[nodiscard]] Part Not(const Part& part) const;
  // The texts of `part` that do not begin with a shorter one.
  [[nodiscard]] Part Shortest(const Part& part) const;
  // The texts of `part` that end at the first end from `count` characters on: up to `count`
  // characters, or more where no text of `part` ends in between.
  [[nodiscard]] Part AtMost(const Part& part, std::uint32_t count) const;

  // `part` as bytes: UTF-8.
  [[nodiscard]] NodeId Bytes(const Part& part) const;

 private:
  [[nodiscard]] NodeId AnyChars(std::uint32_t min) const;

  IrBuilder* const builder_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_PART_H_
