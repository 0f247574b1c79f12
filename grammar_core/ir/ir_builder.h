// The only way to make a GrammarIr. Normalises on the way: flattens Concat and Alt, merges sets,
// drops what is Nothing, folds repeats of repeats and repeats side by side; equal nodes get equal
// ids.
//
//   IrBuilder b(limits);
//   RuleId value = b.DeclareRule("/", "");
//   b.DefineRule(value, b.Concat({b.Bytes("["), b.Repeat(b.Call(value), 0, kUnbounded),
//   b.Bytes("]")})); absl::StatusOr<GrammarIr> ir = std::move(b).Build(value);
//
// Errors   methods never fail; a node over limits.ir_nodes (rules, children, members and listed
//          texts count as well) or a misuse is remembered and returned by Build():
//          RESOURCE_EXHAUSTED, or INVALID_ARGUMENT for an undefined rule. Counts that multiply
//          to more than kMaxRepeats are RESOURCE_EXHAUSTED, too: repeat_count.
// Threads  one thread.
#ifndef MASKD_GRAMMAR_CORE_IR_IR_BUILDER_H_
#define MASKD_GRAMMAR_CORE_IR_IR_BUILDER_H_

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "grammar_core/base/index_table.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/ir/counts.h"
#include "grammar_core/ir/grammar_ir.h"
#include "grammar_core/ir/ir_views.h"

namespace maskd {

// One for each IR: Build() ends it. Methods give a node's id, the same one for the same node.
class IrBuilder {
 public:
  // The limits are copied.
  explicit IrBuilder(const Limits& limits);
  // Goes on from where `begun` is, which has no rules and no error: cheaper than making it again.
  explicit IrBuilder(const IrBuilder& begun);
  IrBuilder& operator=(const IrBuilder&) = delete;

  // Room for so many nodes before any is moved.
  void Reserve(std::size_t nodes) {
    ir_.nodes.reserve(nodes);
    ir_.children.reserve(2 * nodes);
    made_.reserve(nodes);
    nodes_.Reserve(nodes);
  }

  // No text at all, and the empty text alone.
  NodeId Nothing();
  NodeId Empty();

  // Bytes.
  NodeId Bytes(absl::string_view bytes);
  NodeId ByteSet(const ByteBits& bytes);
  // Any byte of `bytes`.
  NodeId AnyByteOf(absl::string_view bytes);
  NodeId Tokens(TokenSpec spec);
  NodeId Encode(Spelling spelling, NodeId characters);
  NodeId Call(RuleId rule);
  // `spec` must leave some text; NumberLanguage tells.
  NodeId Number(NumberSpec spec);
  NodeId Object(ObjectSpec spec);
  // `bytes` ending within so many tokens, if it may; see IrKind.
  NodeId Limited(NodeId bytes, std::uint32_t tokens);
  // See kBreak and kBlock; `open` is '[' or '{'.
  NodeId Break(std::uint32_t spaces) { return InternLeaf(IrKind::kBreak, spaces); }
  NodeId Block(char open, NodeId lines, std::uint32_t spaces) {
    assert(open == '[' || open == '{');
    if (lines == Nothing()) return lines;
    const auto first = static_cast<unsigned char>(open);
    return Intern(IrPayload::Node(IrKind::kBlock, spaces, first), {lines});
  }
  // The arrays `arrays`, less those with equal items; `beside` are the node's further children.
  NodeId Distinct(NodeId arrays, const std::vector<NodeId>& beside, DistinctSpec spec);

  // Characters. `utf8` must be valid UTF-8.
  NodeId Text(absl::string_view utf8);
  NodeId TextSet(const std::vector<std::string>& utf8_texts);
  // The same of code points.
  NodeId CodePoints(std::u32string text);
  NodeId CodePointSet(std::vector<std::u32string> texts);
  NodeId Chars(const CharSet& set);
  NodeId AnyChar();
  NodeId And(std::vector<NodeId> nodes);
  NodeId Not(NodeId node);

  // Either level.
  NodeId Concat(absl::Span<const NodeId> nodes);
  NodeId Alt(std::vector<NodeId> nodes);
  NodeId Repeat(NodeId node, std::uint32_t min, std::uint32_t max);
  NodeId Optional(NodeId node) { return Repeat(node, 0, 1); }

  // `name` and `place` are for people (see IrRule).
  RuleId DeclareRule(absl::string_view name, absl::string_view place);
  void DefineRule(RuleId rule, NodeId body);

  // The texts of a node that is a list of texts and nothing else, in UTF-8.
  [[nodiscard]] std::optional<std::vector<std::string>> ListedTexts(NodeId node) const;

  // As made so far; the reference is good until the next node is made.
  [[nodiscard]] const IrNode& node(NodeId id) const {
    assert(id < ir_.nodes.size());
    return ir_.nodes[id];
  }
  // How often a node is repeated, where it is `x{min,max}`; else once.
  [[nodiscard]] Power PowerOf(NodeId node) const;
  // Calls `visit` with each that `node` is a choice of; the empty text is not told. No node may be
  // made meanwhile.
  template <typename Visit>
  void ForEachAlternative(NodeId node, Visit visit) const {
    const Power power = PowerOf(node);
    const NodeId choice = power.counts == Counts{0, 1} ? power.base : node;
    const IrNode& n = ir_.nodes[choice];
    if (n.kind != IrKind::kAlt) return visit(choice);
    for (std::uint32_t i = 0; i < n.child_count; ++i) visit(ir_.children[n.first_child + i]);
  }
  // All that was made so far.
  [[nodiscard]] const GrammarIr& ir() const { return ir_; }
  // The error remembered so far: a long loop may stop early.
  [[nodiscard]] const absl::Status& status() const { return error_; }

  // Ends the building. Errors: see above.
  absl::StatusOr<GrammarIr> Build(RuleId start) &&;

 private:
  // The nodes of an alternation, sorted out by what merges with what.
  struct AltParts;

  // What a node holds, whether it is made already or not. One with an entry of a pool is told by
  // the entry's key, any other one by its fields.
  struct Content {
    IrNode node;
    absl::Span<const NodeId> children;
  };
  struct ByContent {
    const IrBuilder* builder;
    std::size_t operator()(NodeId made) const { return builder->made_[made].hash; }
    std::size_t operator()(const Content& content) const;
    std::size_t operator()(absl::string_view key) const;
    bool operator()(NodeId made, const Content& content) const;
    bool operator()(NodeId made, absl::string_view key) const;
  };
  struct Made {
    static constexpr std::uint32_t kNoKey = 0xFFFFFFFF;
    std::uint32_t hash;
    std::uint32_t key = kNoKey;  // its number, for one with an entry of a pool
  };

  NodeId Intern(const IrNode& node, absl::Span<const NodeId> children);
  // A leaf whose payload is in no pool.
  NodeId InternLeaf(IrKind kind, std::uint32_t payload);
  // A leaf whose payload is `value`, kept in `pool`; `key` tells it from all other nodes.
  template <typename T, typename Value>
  NodeId InternEntry(IrKind kind, absl::string_view key, Value&& value, std::vector<T>* pool);
  // A node that is not there yet.
  NodeId Append(IrNode node, absl::Span<const NodeId> children, std::size_t hash);
  [[nodiscard]] absl::string_view KeyOf(std::uint32_t key) const;
  // The key of a pool's entry as far as PoolKey(kind). Good until the next one is begun.
  std::string& BeginKey(IrKind kind);
  // Appends `node`, or its children where it is itself of `kind`.
  void AppendFlat(IrKind kind, NodeId node, std::vector<NodeId>* out) const;
  void AppendFactor(NodeId node, std::vector<NodeId>* sequence);
  void UnitePowers(AltParts* parts);
  void SortOut(NodeId node, AltParts* parts) const;
  void AddMerged(AltParts* parts);
  [[nodiscard]] const CharSet* AsCharSet(NodeId node) const;
  void Charge(std::size_t units);

  GrammarIr ir_;
  const std::int64_t max_nodes_;
  std::int64_t charged_ = 0;
  // The nodes by what they hold: looked for before a node is made.
  IndexTable<ByContent> nodes_;
  std::vector<Made> made_;  // of each node
  // Of entries of pools, one behind the other, and where each ends.
  std::string keys_;
  std::vector<std::size_t> key_ends_;
  // Entries of kDistinct, which several nodes may have, by their contents.
  absl::flat_hash_map<std::string, std::uint32_t> distinct_ids_;
  std::string key_;  // the one that was begun last
  std::vector<bool> rule_defined_;
  absl::Status error_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_IR_BUILDER_H_
