#include "grammar_core/frontend/notation/part.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "grammar_core/base/saturating.h"

namespace maskd {
namespace {

bool AllCharacters(const std::vector<Part>& parts) {
  return std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.characters; });
}

std::uint32_t SizeOf(const std::vector<Part>& parts) {
  std::uint32_t size = 0;
  for (const Part& part : parts) size = SaturatingAdd(size, part.size);
  return size;
}

std::vector<NodeId> NodesOf(const std::vector<Part>& parts) {
  std::vector<NodeId> nodes;
  nodes.reserve(parts.size());
  for (const Part& part : parts) nodes.push_back(part.node);
  return nodes;
}

}  // namespace

Part PartBuilder::Empty() const { return {builder_->Empty(), true, 0}; }

Part PartBuilder::Nothing() const { return {builder_->Nothing(), true, 0}; }

NodeId PartBuilder::Bytes(const Part& part) const {
  return part.characters ? builder_->Encode(Spelling::kUtf8, part.node) : part.node;
}

// Characters next to each other come under one Encode node.
Part PartBuilder::Sequence(const std::vector<Part>& parts) const {
  if (AllCharacters(parts)) return {builder_->Concat(NodesOf(parts)), true, SizeOf(parts)};
  std::vector<NodeId> bytes;
  std::vector<NodeId> characters;
  const auto end_characters = [&] {
    bytes.push_back(builder_->Encode(Spelling::kUtf8, builder_->Concat(characters)));
    characters.clear();
  };
  for (const Part& part : parts) {
    if (part.characters) {
      characters.push_back(part.node);
    } else {
      end_characters();
      bytes.push_back(part.node);
    }
  }
  end_characters();
  return {builder_->Concat(bytes), false, SizeOf(parts)};
}

Part PartBuilder::Choice(const std::vector<Part>& parts) const {
  if (AllCharacters(parts)) return {builder_->Alt(NodesOf(parts)), true, SizeOf(parts)};
  std::vector<NodeId> bytes;
  bytes.reserve(parts.size());
  for (const Part& part : parts) bytes.push_back(Bytes(part));
  return {builder_->Alt(std::move(bytes)), false, SizeOf(parts)};
}

Part PartBuilder::Repeat(const Part& part, std::uint32_t min, std::uint32_t max) const {
  assert(min <= max);
  return {builder_->Repeat(part.node, min, max), part.characters, 1};
}

Part PartBuilder::Limited(const Part& part, std::uint32_t tokens) const {
  return tokens == 0 ? Empty() : Part{builder_->Limited(Bytes(part), tokens), false, 1};
}

Part PartBuilder::Both(const std::vector<Part>& parts) const {
  assert(AllCharacters(parts));
  return {builder_->And(NodesOf(parts)), true, SizeOf(parts)};
}

Part PartBuilder::Not(const Part& part) const { return {builder_->Not(part.node), true, 1}; }

NodeId PartBuilder::AnyChars(std::uint32_t min) const {
  return builder_->Repeat(builder_->AnyChar(), min, kUnbounded);
}

Part PartBuilder::Shortest(const Part& part) const {
  assert(part.characters);
  const NodeId longer = builder_->Concat({part.node, AnyChars(1)});
  return {builder_->And({part.node, builder_->Not(longer)}), true, 2};
}

Part PartBuilder::AtMost(const Part& part, std::uint32_t count) const {
  assert(part.characters);
  const NodeId may_end = builder_->And({part.node, AnyChars(count)});
  const NodeId too_long = builder_->Concat({may_end, AnyChars(1)});
  return {builder_->And({part.node, builder_->Not(too_long)}), true, 2};
}

}  // namespace maskd
