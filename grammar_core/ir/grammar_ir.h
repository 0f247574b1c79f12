// The one middle form: rules whose right-hand sides are regular operators over bytes and
// characters, rule calls and JSON objects. Front ends make it, the compiler reads it. Immutable
// once built.
//
// Levels   A node speaks either of bytes or of characters (Unicode code points). Characters live
//          only below an Encode node, which spells each as bytes: as UTF-8, or as the inside of a
//          JSON string (raw or escaped, an escaped surrogate pair being one character). So lengths,
//          patterns, intersections and complements mean characters, whatever their spelling.
//            bytes       Bytes ByteSet Tokens Concat Alt Repeat Call Encode Number Object Distinct
//                        Break Block
//            characters  Text TextSet CharSet Concat Alt Repeat And Not
// Tokens   A Tokens node takes one token by its id, whatever the bytes that it stands for; its
//          names are looked up when the grammar meets a vocabulary.
// Depth    of a Break: the Blocks, and the objects whose members have lines of their own, that are
//          around it when it is met, whatever rules were called on the way.
// Calls    Only byte-level nodes may call rules. A front end may make rules that begin with
//          themselves (left recursion); passes/left_recursion.h rewrites those.
// Layout   nodes are numbered in the order of their making; children have smaller numbers than
//          their parents, so passes are loops, not recursions. Equal nodes have equal ids
//          (hash-consed).
// Threads  a built GrammarIr is immutable; a builder belongs to one thread.
#ifndef MASKD_GRAMMAR_CORE_IR_GRAMMAR_IR_H_
#define MASKD_GRAMMAR_CORE_IR_GRAMMAR_IR_H_

#include <bitset>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "grammar_core/base/char_set.h"
#include "grammar_core/ir/number/number_spec.h"

namespace maskd {

using NodeId = std::uint32_t;
using RuleId = std::uint32_t;
using ByteBits = std::bitset<256>;

// "No upper bound" in Repeat.
inline constexpr std::uint32_t kUnbounded = std::numeric_limits<std::uint32_t>::max();

// What a node is. The comment of each says which texts it has; `ir_views.h` says what it holds.
enum class IrKind : std::uint8_t {
  kNothing,   // no string at all
  kEmpty,     // the empty string
  kBytes,     // a byte string
  kByteSet,   // one byte of a set
  kTokens,    // one token of a set, by its id
  kText,      // a character string
  kTextSet,   // one of several character strings
  kCharSet,   // one character of a set
  kConcat,    // children in order
  kAlt,       // any child
  kRepeat,    // the child, min to max times
  kAnd,       // every child (characters only)
  kNot,       // not the child (characters only)
  kEncode,    // the characters of the child, spelled as bytes
  kCall,      // a rule
  kNumber,    // a JSON number, by its value
  kObject,    // a JSON object
  kDistinct,  // JSON arrays (the first child), less those with an item that equals one before it;
              // or objects, less those with a name twice
  kLimited,  // the child (bytes), which ends where it may end first once so many tokens hold a part
             // of it: nothing where texts have no tokens
  kBreak,    // a line feed, and a number of spaces for each level around it
  kBlock,    // '[' or '{', the child a level deeper, a Break, and ']' or '}'
};

// How an Encode node spells characters.
enum class Spelling : std::uint8_t {
  kUtf8,        // UTF-8
  kJsonString,  // inside of a JSON string: UTF-8 or any escape of RFC 8259, quotes not included
  // The same as a serializer writes it: escapes only where JSON asks for one, \" \\ \b \f \n \r \t
  // and, for the other control characters, \u00 with lower-case digits.
  kCanonicalJson,
};
inline constexpr int kSpellings = 3;
constexpr bool IsJsonString(Spelling spelling) { return spelling != Spelling::kUtf8; }

// A JSON object: '{' members '}' with `space` between the tokens. Or a JSON array of distinct
// items, which is an object of names without values: '[' items ']'. There a member is an item, the
// string `name` or, if it is `bare`, the texts of `value`; others are items too, the strings
// `name`, and none of them may be written twice. Its order is any, no member is required, values
// but those of bare members are the empty string, and others have at least kAmpleTexts texts.
struct ObjectSpec {
  // What a member leaves behind for the conditions once it is written. Numbered from 0.
  using Mark = std::uint32_t;
  struct Way {
    NodeId value;
    std::vector<Mark> marks;
  };
  // A declared member, in the order of declaration.
  struct Member {
    std::string name;  // UTF-8, decoded
    NodeId value;
    bool required;
    // What `value` consists of, where conditions tell one part from another; else none.
    std::vector<Way> ways = {};
    bool bare = false;
  };
  // Members with other names than the declared ones, which the engine takes out of `name`.
  struct Others {
    NodeId name;  // characters
    NodeId value;
    std::vector<Mark> marks = {};
  };
  // At the closing brace one of `some` has been left, or one of `unless_all` has not.
  struct Condition {
    std::vector<Mark> some;
    std::vector<Mark> unless_all = {};
  };

  std::vector<Member> members;  // names are distinct
  std::vector<Others> others;
  // White space (bytes) allowed after '{', around ':' and ',', before '}'; behind ':' and ',' there
  // may be other.
  NodeId space = {};
  // True: declared members in any order, mixed with others. False: declared order, then the others.
  bool any_order = false;
  std::vector<Condition> conditions = {};
  // Members at least and at most; one of the others counts each time it is written.
  std::uint32_t min_members = 0;
  std::uint32_t max_members = kUnbounded;
  // Items, as above.
  bool is_array = false;
  // What stands behind ':' and ','.
  NodeId after_colon = kAsSpace;
  NodeId after_comma = kAsSpace;
  // Unless kOneLine: each member is on its own line, as in a Block of so many spaces a level,
  // and no `space` stands anywhere. '{' and '}' of no member stand side by side.
  std::uint32_t indent = kOneLine;
  // That of all names, kJsonString or kCanonicalJson.
  Spelling spelling = Spelling::kJsonString;

  static constexpr std::uint32_t kOneLine = std::numeric_limits<std::uint32_t>::max();
  // Whether each member begins a line.
  [[nodiscard]] bool is_block() const { return indent != kOneLine; }
  // Levels around a member of an object that has `depth` around it.
  [[nodiscard]] std::uint32_t DepthWithin(std::uint32_t depth) const {
    return is_block() ? depth + 1 : depth;
  }
  static constexpr NodeId kAsSpace = std::numeric_limits<NodeId>::max();
  // The white space that is in force, whether the object says it or takes `space`.
  [[nodiscard]] NodeId space_after_colon() const {
    return after_colon == kAsSpace ? space : after_colon;
  }
  [[nodiscard]] NodeId space_after_comma() const {
    return after_comma == kAsSpace ? space : after_comma;
  }

  // The byte that begins, and the one that ends.
  [[nodiscard]] char open() const { return is_array ? '[' : '{'; }
  [[nodiscard]] char close() const { return is_array ? ']' : '}'; }
};

// A Distinct node. Items are equal as JSON Schema has it: 1 and 1.0 are, and objects whatever the
// order of their members. No object within an item has a name twice; nor has one within an object
// that is the node's child. The further children of the
// node are the values of items that must be there beside others; each must have so many values that
// one is left whatever the others are: see passes/unfit_arrays.h.
struct DistinctSpec {
  std::string place;    // where it stands in the source
  std::string keyword;  // what asks for it
  std::uint32_t min_items = 0;
  bool operator==(const DistinctSpec&) const = default;
};

// So many texts that no array holds them all.
inline constexpr std::int64_t kAmpleTexts = 1 << 20;

// Whether a text of the grammar is to remember strings of any length (others of an array).
bool RemembersTexts(const ObjectSpec& spec);

// Tokens that a grammar names. Their union; `negated`: every other token that is not a stop id.
struct TokenSpec {
  std::vector<std::string> names = {};  // special tokens, as the vocabulary spells them
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ids = {};  // first and last, both included
  bool negated = false;
  std::string place = {};  // where it stands in the source
  // Whether `names` may be the bytes of ordinary tokens, too, where no special token has the name.
  bool any_name = false;

  bool operator==(const TokenSpec&) const = default;
};

// Calls `visit` with each node that `spec` speaks of, some of them perhaps more than once.
template <typename Visit>
void ForEachNode(const ObjectSpec& spec, Visit visit) {
  for (const ObjectSpec::Member& member : spec.members) {
    visit(member.value);
    for (const ObjectSpec::Way& way : member.ways) visit(way.value);
  }
  for (const ObjectSpec::Others& others : spec.others) {
    visit(others.name);
    visit(others.value);
  }
  visit(spec.space);
  for (const NodeId space : {spec.space_after_colon(), spec.space_after_comma()})
    if (space != spec.space) visit(space);
}
// Appends them.
void AppendNodes(const ObjectSpec& spec, std::vector<NodeId>* out);

// Makes `spec` speak of places[node] where it spoke of `node`.
void MapNodes(ObjectSpec* spec, absl::Span<const NodeId> places);

// Read it by the views of ir_views.h; IrBuilder makes it. Twenty bytes, so that passes read an IR
// from front to back.
struct IrNode {
  // Without a payload: of a kind that has none, or one that IrPayload fills in.
  explicit IrNode(IrKind its_kind) : kind(its_kind) {}

  IrKind kind;
  Spelling spelling = Spelling::kUtf8;  // kEncode
  // Children: [first_child, first_child + child_count) of GrammarIr::children.
  std::uint32_t first_child = 0;
  std::uint32_t child_count = 0;

 private:
  friend class IrPayload;

  // kRepeat: min and max. kLimited: tokens. kBytes, kText, kTextSet, kByteSet, kTokens, kCharSet,
  // kNumber, kObject, kDistinct: index into the pool of that kind in `a_`. kCall: the rule in `a_`.
  // kBreak, kBlock: spaces a level in `a_`. kBlock: the opening byte in `b_`.
  std::uint32_t a_ = 0;
  std::uint32_t b_ = 0;
};
static_assert(sizeof(IrNode) == 20);

// The payload itself, for who makes nodes, moves them to another IR, hashes or compares them.
class IrPayload {
 public:
  // A node of a kind with a payload; what `first` and `second` are, IrNode says.
  static IrNode Node(IrKind kind, std::uint32_t first, std::uint32_t second = 0) {
    IrNode node(kind);
    node.a_ = first;
    node.b_ = second;
    return node;
  }
  // Whatever the kind: 0 where it has no such field.
  static std::uint32_t First(const IrNode& node) { return node.a_; }
  static std::uint32_t Second(const IrNode& node) { return node.b_; }
  // For a pass that moves what the field names.
  static void SetFirst(IrNode* node, std::uint32_t first) { node->a_ = first; }
};

// A rule of the grammar. Its number is its index in GrammarIr::rules.
struct IrRule {
  std::string name;   // for people: a JSON Pointer, or the name in the source
  std::string place;  // where it stands in the source
  NodeId body;
};

// Made by IrBuilder::Build() alone. Nodes name each other, rules and entries of the pools by index.
struct GrammarIr {
  std::vector<IrNode> nodes;
  std::vector<NodeId> children;
  std::vector<IrRule> rules;
  RuleId start = 0;
  // Pools.
  std::vector<std::string> byte_strings;               // kBytes
  std::vector<ByteBits> byte_sets;                     // kByteSet
  std::vector<TokenSpec> token_specs;                  // kTokens
  std::vector<std::u32string> texts;                   // kText
  std::vector<std::vector<std::u32string>> text_sets;  // kTextSet, sorted and distinct
  std::vector<CharSet> char_sets;                      // kCharSet
  std::vector<NumberSpec> numbers;                     // kNumber
  std::vector<ObjectSpec> objects;                     // kObject
  std::vector<DistinctSpec> distinct;                  // kDistinct
};

// The same of any of its objects, or of arrays that are Distinct.
bool RemembersTexts(const GrammarIr& ir);

// Whether the tokens of any of its parts are counted.
bool LimitsTokens(const GrammarIr& ir);

// Whether lines break anywhere: in a Break, a Block or an object.
bool BreaksLines(const GrammarIr& ir);

// Whether `node` is the endless repetition of a set of characters, as of any: that less some texts
// is never empty, whatever it begins with.
bool IsEndless(const GrammarIr& ir, NodeId node);

// The IR as text, one rule a line, for people and golden tests.
std::string PrintIr(const GrammarIr& ir);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_GRAMMAR_IR_H_
