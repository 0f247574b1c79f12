// Nodes are hash-consed: a node is looked for by its kind, payload and children, and made only
// where there is none. One whose payload is in a pool (a text, a set, an object) is found by a key
// of the payload's bytes.
//
// Invariant  children have smaller numbers than their parent, so every pass is a loop over numbers.
//            Nothing and Empty are the first two nodes of every IR.
// Cost       a look-up in a hash table for each node, by its contents or by its payload's key.
#include "grammar_core/ir/ir_builder.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/sort_unique.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/ir/ir_views.h"
#include "grammar_core/ir/pool_keys.h"

namespace maskd {
namespace {

constexpr NodeId kNothingId = 0;
constexpr NodeId kEmptyId = 1;
// Room in each of a builder's two tables before it grows: a schema of a few members needs it.
constexpr std::size_t kUsualNodes = 28;
// A set with more characters in a row is a class rather than a list.
constexpr std::uint32_t kMaxListedRange = 64;

std::u32string Decoded(absl::string_view utf8) {
  std::optional<std::u32string> text = Utf8ToCodePoints(utf8);
  assert(text.has_value());
  return std::move(text).value_or(std::u32string());
}

bool IsOneChar(const std::u32string& text) { return text.size() == 1; }

CharSet CharsOf(const std::vector<std::u32string>& texts) {
  std::vector<CharRange> ranges;
  for (const std::u32string& text : texts) ranges.push_back({text.front(), text.front()});
  return CharSet(std::move(ranges));
}

}  // namespace

IrBuilder::IrBuilder(const Limits& limits) : max_nodes_(limits.ir_nodes), nodes_(ByContent{this}) {
  Reserve(kUsualNodes);
  [[maybe_unused]] const NodeId nothing = Intern(IrNode(IrKind::kNothing), {});
  [[maybe_unused]] const NodeId empty = Intern(IrNode(IrKind::kEmpty), {});
  assert(nothing == kNothingId && empty == kEmptyId);
}

IrBuilder::IrBuilder(const IrBuilder& begun)
    : max_nodes_(begun.max_nodes_),
      charged_(begun.charged_),
      nodes_(ByContent{this}, begun.nodes_, kUsualNodes) {
  assert(begun.ir_.rules.empty() && begun.error_.ok() && begun.distinct_ids_.empty());
  // Room for a schema of a few members behind it.
  constexpr std::size_t kUsualKeys = kUsualNodes / 2;
  constexpr std::size_t kUsualKeyBytes = 16;
  ir_.nodes.reserve(begun.ir_.nodes.size() + kUsualNodes);
  ir_.children.reserve(begun.ir_.children.size() + 2 * kUsualNodes);
  ir_.byte_strings.reserve(begun.ir_.byte_strings.size() + kUsualNodes / 4);
  made_.reserve(begun.made_.size() + kUsualNodes);
  keys_.reserve(begun.keys_.size() + kUsualKeys * kUsualKeyBytes);
  key_ends_.reserve(begun.key_ends_.size() + kUsualKeys);
  ir_ = begun.ir_;
  made_ = begun.made_;
  keys_ = begun.keys_;
  key_ends_ = begun.key_ends_;
}

NodeId IrBuilder::Nothing() { return kNothingId; }

NodeId IrBuilder::Empty() { return kEmptyId; }

NodeId IrBuilder::Bytes(absl::string_view bytes) {
  if (bytes.empty()) return kEmptyId;
  std::string& key = BeginKey(IrKind::kBytes);
  key.append(bytes.data(), bytes.size());
  // `bytes` may be a view of an entry of the pool.
  return InternEntry(IrKind::kBytes, key, absl::string_view(key).substr(1), &ir_.byte_strings);
}

NodeId IrBuilder::ByteSet(const ByteBits& bytes) {
  const std::size_t count = bytes.count();
  if (count == 0) return kNothingId;
  if (count == 1) {
    int member = 0;
    while (!bytes.test(member)) ++member;
    return Bytes(std::string(1, static_cast<char>(member)));
  }
  static_assert(std::is_trivially_copyable_v<ByteBits> && sizeof(ByteBits) == 256 / 8);
  std::string& key = BeginKey(IrKind::kByteSet);
  key.append(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
  return InternEntry(IrKind::kByteSet, key, bytes, &ir_.byte_sets);
}

NodeId IrBuilder::AnyByteOf(absl::string_view bytes) {
  ByteBits set;
  for (const char byte : bytes) set.set(static_cast<unsigned char>(byte));
  return ByteSet(set);
}

NodeId IrBuilder::Tokens(TokenSpec spec) {
  Charge(spec.names.size() + spec.ids.size());
  const std::string key = TokensKey(spec);
  return InternEntry(IrKind::kTokens, key, std::move(spec), &ir_.token_specs);
}

NodeId IrBuilder::Encode(Spelling spelling, NodeId characters) {
  assert(characters < ir_.nodes.size());
  if (characters == kNothingId || characters == kEmptyId) return characters;
  IrNode encode(IrKind::kEncode);
  encode.spelling = spelling;
  return Intern(encode, {characters});
}

NodeId IrBuilder::Call(RuleId rule) {
  assert(rule < ir_.rules.size());
  return InternLeaf(IrKind::kCall, rule);
}

NodeId IrBuilder::Number(NumberSpec spec) {
  Charge(spec.intervals.size());
  key_ = NumberKey(spec, std::move(key_));
  return InternEntry(IrKind::kNumber, key_, std::move(spec), &ir_.numbers);
}

NodeId IrBuilder::Object(ObjectSpec spec) {
  assert(spec.space < ir_.nodes.size());
  const auto is_nothing = [](const auto& part) { return part.value == kNothingId; };
  std::erase_if(spec.others, [&](const ObjectSpec::Others& others) {
    return is_nothing(others) || others.name == kNothingId;
  });
  for (ObjectSpec::Member& member : spec.members) {
    std::erase_if(member.ways, is_nothing);
    Charge(1 + member.ways.size());
  }
  Charge(spec.others.size() + spec.conditions.size());
  key_ = ObjectKey(spec, std::move(key_));
  return InternEntry(IrKind::kObject, key_, std::move(spec), &ir_.objects);
}

NodeId IrBuilder::Limited(NodeId bytes, std::uint32_t tokens) {
  assert(bytes < ir_.nodes.size());
  if (bytes == kNothingId || bytes == kEmptyId) return bytes;
  return Intern(IrPayload::Node(IrKind::kLimited, tokens), {bytes});
}

NodeId IrBuilder::Distinct(NodeId arrays, const std::vector<NodeId>& beside, DistinctSpec spec) {
  if (arrays == kNothingId) return kNothingId;
  std::vector<NodeId> children = {arrays};
  children.insert(children.end(), beside.begin(), beside.end());
  std::string& key = BeginKey(IrKind::kDistinct);
  AppendNumber(spec.min_items, &key);
  AppendText(spec.place, &key);
  AppendText(spec.keyword, &key);
  const auto [known, is_new] =
      distinct_ids_.try_emplace(key, static_cast<std::uint32_t>(ir_.distinct.size()));
  if (is_new) ir_.distinct.push_back(std::move(spec));
  return Intern(IrPayload::Node(IrKind::kDistinct, known->second), children);
}

NodeId IrBuilder::Text(absl::string_view utf8) { return CodePoints(Decoded(utf8)); }

NodeId IrBuilder::CodePoints(std::u32string text) {
  if (text.empty()) return kEmptyId;
  std::string& key = BeginKey(IrKind::kText);
  AppendText(text, &key);
  return InternEntry(IrKind::kText, key, std::move(text), &ir_.texts);
}

NodeId IrBuilder::TextSet(const std::vector<std::string>& utf8_texts) {
  std::vector<std::u32string> texts;
  texts.reserve(utf8_texts.size());
  for (const std::string& text : utf8_texts) texts.push_back(Decoded(text));
  return CodePointSet(std::move(texts));
}

NodeId IrBuilder::CodePointSet(std::vector<std::u32string> texts) {
  SortUnique(&texts);
  if (texts.empty()) return kNothingId;
  if (texts.front().empty()) {
    texts.erase(texts.begin());
    return texts.empty() ? kEmptyId : Repeat(CodePointSet(std::move(texts)), 0, 1);
  }
  if (texts.size() == 1) return CodePoints(std::move(texts.front()));
  assert(!texts.front().empty());
  if (std::all_of(texts.begin(), texts.end(), IsOneChar)) return Chars(CharsOf(texts));
  std::string& key = BeginKey(IrKind::kTextSet);
  for (const std::u32string& text : texts) AppendText(text, &key);
  Charge(texts.size());
  return InternEntry(IrKind::kTextSet, key, std::move(texts), &ir_.text_sets);
}

NodeId IrBuilder::Chars(const CharSet& set) {
  if (set.empty()) return kNothingId;
  const std::vector<CharRange>& ranges = set.ranges();
  if (ranges.size() == 1 && ranges[0].lo == ranges[0].hi)
    return CodePoints(std::u32string(1, static_cast<char32_t>(ranges[0].lo)));
  std::string& key = BeginKey(IrKind::kCharSet);
  for (const CharRange& range : ranges) {
    AppendNumber(range.lo, &key);
    AppendNumber(range.hi, &key);
  }
  return InternEntry(IrKind::kCharSet, key, set, &ir_.char_sets);
}

NodeId IrBuilder::AnyChar() { return Chars(CharSet::All()); }

std::optional<std::vector<std::string>> IrBuilder::ListedTexts(NodeId node) const {
  assert(node < ir_.nodes.size());
  std::vector<std::string> texts;
  const auto add = [&](const std::u32string& text) { texts.push_back(CodePointsToUtf8(text)); };
  const IrNode* n = &ir_.nodes[node];
  if (n->kind == IrKind::kRepeat && AsRepeat(*n).min == 0 && AsRepeat(*n).max == 1) {
    texts.emplace_back();
    n = &ir_.nodes[ir_.children[n->first_child]];
  }
  if (n->kind == IrKind::kEmpty) {
    texts.emplace_back();
  } else if (n->kind == IrKind::kText) {
    add(TextOf(ir_, *n));
  } else if (n->kind == IrKind::kTextSet) {
    for (const std::u32string& text : TextSetOf(ir_, *n)) add(text);
  } else if (n->kind == IrKind::kCharSet) {
    for (const CharRange& range : CharSetOf(ir_, *n).ranges()) {
      if (range.hi - range.lo >= kMaxListedRange) return std::nullopt;
      for (char32_t c = range.lo; c <= range.hi; ++c) add({c});
    }
  } else {
    return std::nullopt;
  }
  return texts;
}

RuleId IrBuilder::DeclareRule(absl::string_view name, absl::string_view place) {
  Charge(1);
  ir_.rules.push_back({std::string(name), std::string(place), kNothingId});
  rule_defined_.push_back(false);
  return static_cast<RuleId>(ir_.rules.size() - 1);
}

void IrBuilder::DefineRule(RuleId rule, NodeId body) {
  assert(body < ir_.nodes.size());
  assert(rule < ir_.rules.size() && !rule_defined_[rule]);
  ir_.rules[rule].body = body;
  rule_defined_[rule] = true;
}

void IrBuilder::Charge(std::size_t units) {
  charged_ += static_cast<std::int64_t>(units);
  if (charged_ > max_nodes_ && error_.ok())
    error_ = LimitExceeded("", "ir_nodes", max_nodes_, charged_);
}

std::string& IrBuilder::BeginKey(IrKind kind) {
  key_ = PoolKey(kind, std::move(key_));
  return key_;
}

template <typename T, typename Value>
NodeId IrBuilder::InternEntry(IrKind kind, absl::string_view key, Value&& value,
                              std::vector<T>* pool) {
  if (!error_.ok()) return kNothingId;
  const auto [known, hash] = nodes_.Find(key);
  if (known != nodes_.kNone) return known;
  Charge(1);
  const NodeId node =
      Append(IrPayload::Node(kind, static_cast<std::uint32_t>(pool->size())), {}, hash);
  made_.back().key = static_cast<std::uint32_t>(key_ends_.size());
  keys_.append(key.data(), key.size());
  key_ends_.push_back(keys_.size());
  pool->emplace_back(std::forward<Value>(value));
  return error_.ok() ? node : kNothingId;
}

NodeId IrBuilder::InternLeaf(IrKind kind, std::uint32_t payload) {
  return Intern(IrPayload::Node(kind, payload), {});
}

absl::string_view IrBuilder::KeyOf(std::uint32_t key) const {
  const std::size_t begin = key == 0 ? 0 : key_ends_[key - 1];
  return absl::string_view(keys_).substr(begin, key_ends_[key] - begin);
}

std::size_t IrBuilder::ByContent::operator()(const Content& content) const {
  const IrNode& node = content.node;
  constexpr int kBits = 8;
  const std::uint64_t kinds =
      (static_cast<std::uint64_t>(node.kind) << kBits) + static_cast<std::uint64_t>(node.spelling);
  const std::uint64_t payload =
      (std::uint64_t{IrPayload::First(node)} << 32U) + IrPayload::Second(node);
  return static_cast<std::uint32_t>(absl::HashOf(kinds, payload, content.children));
}

std::size_t IrBuilder::ByContent::operator()(absl::string_view key) const {
  return static_cast<std::uint32_t>(absl::HashOf(key));
}

bool IrBuilder::ByContent::operator()(NodeId made, const Content& content) const {
  if (builder->made_[made].key != Made::kNoKey) return false;
  const GrammarIr& ir = builder->ir_;
  const IrNode& node = ir.nodes[made];
  assert(std::size_t{node.first_child} + node.child_count <= ir.children.size());
  return node.kind == content.node.kind && node.spelling == content.node.spelling &&
         IrPayload::First(node) == IrPayload::First(content.node) &&
         IrPayload::Second(node) == IrPayload::Second(content.node) &&
         absl::MakeConstSpan(ir.children).subspan(node.first_child, node.child_count) ==
             content.children;
}

bool IrBuilder::ByContent::operator()(NodeId made, absl::string_view key) const {
  const std::uint32_t its = builder->made_[made].key;
  return its != Made::kNoKey && builder->KeyOf(its) == key;
}

NodeId IrBuilder::Intern(const IrNode& node, absl::Span<const NodeId> children) {
  if (!error_.ok()) return kNothingId;
  const auto [known, hash] = nodes_.Find(Content{node, children});
  if (known != nodes_.kNone) return known;
  Charge(1 + children.size());
  const NodeId made = Append(node, children, hash);
  return error_.ok() ? made : kNothingId;
}

NodeId IrBuilder::Append(IrNode node, absl::Span<const NodeId> children, std::size_t hash) {
  // Children have smaller numbers than their parent: passes walk the nodes in order.
  assert(std::ranges::all_of(children, [&](NodeId child) { return child < ir_.nodes.size(); }));
  node.first_child = static_cast<std::uint32_t>(ir_.children.size());
  node.child_count = static_cast<std::uint32_t>(children.size());
  ir_.children.insert(ir_.children.end(), children.begin(), children.end());
  ir_.nodes.push_back(node);
  made_.push_back({.hash = static_cast<std::uint32_t>(hash)});
  nodes_.Add(hash);
  return static_cast<NodeId>(ir_.nodes.size() - 1);
}

absl::StatusOr<GrammarIr> IrBuilder::Build(RuleId start) && {
  if (!error_.ok()) return error_;
  assert(start < ir_.rules.size());
  for (std::size_t rule = 0; rule < ir_.rules.size(); ++rule) {
    if (!rule_defined_[rule]) {
      return InvalidAt(ir_.rules[rule].place,
                       absl::StrCat("rule ", ir_.rules[rule].name, " is not defined"));
    }
  }
  ir_.start = start;
  return std::move(ir_);
}

}  // namespace maskd
