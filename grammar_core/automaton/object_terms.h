// JSON objects as terms: which names may come next, and what follows each.
//
// Progress  what an object has behind it, as a number. Declared order: the index of the next
//           declared member, all those before it being written or skipped. Any order: the number of
//           an interned set of the members written.
// Names     kept sorted by code points, so that the names that continue a prefix are a range.
// Errors    none: declared names that can have no value are never offered, and never count as
//           others.
// Threads   the automaton's lock.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_OBJECT_TERMS_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_OBJECT_TERMS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/automaton/term_store.h"
#include "grammar_core/automaton/text_walk.h"

namespace maskd {

// From IR nodes to terms; implemented by Lowering.
class NodeLowering {
 public:
  virtual ~NodeLowering() = default;
  virtual TermId Lower(NodeId node) = 0;
};

class ObjectTerms {
 public:
  ObjectTerms(TermStore* store, NodeLowering* lowering);

  // The whole object, from its '{' on. `min_bytes` is a lower bound of its length.
  TermId Start(std::uint32_t object, std::uint32_t min_bytes);

  // The step of an Object term by `byte`.
  TermId Step(std::uint32_t object, std::uint32_t progress, ObjectPhase phase, unsigned char byte);

  // What follows the closing quote of the name that a nullable NameSet begins with.
  TermId AfterName(std::uint32_t object, std::uint32_t progress, std::uint32_t first);

  // The next characters of a NameSet, ascending, each with the NameSet behind it.
  struct NameEdge {
    std::uint32_t character;
    TermId names;
  };
  std::vector<NameEdge> NameEdges(std::uint32_t object, std::uint32_t progress, std::uint32_t first,
                                  std::uint32_t depth);

  // The texts of a NameSet, and which name of the object each is.
  struct NameTexts {
    TextList list;
    std::vector<std::uint32_t> names;
  };
  NameTexts TextsOf(std::uint32_t object, std::uint32_t progress, std::uint32_t first,
                    std::uint32_t depth);

  // Characters of name `name`.
  std::uint32_t NameLength(std::uint32_t object, std::uint32_t name);

  // The NameSet of the names that share their first `depth` characters with name `first`.
  TermId Names(std::uint32_t object, std::uint32_t progress, std::uint32_t first,
               std::uint32_t depth);

  // An Encode term of `names`, within this object; see TermStore::EncodeNames.
  TermId EncodeNames(TermId names, PartialChar partial, std::uint32_t object,
                     std::uint32_t progress, std::uint32_t partial_bytes = 0);

 private:
  // An object's spec with what is derived of it, made on first use.
  struct Shape {
    std::uint32_t name_set;              // the names, sorted, as a text set of the store
    std::vector<std::uint32_t> members;  // the member of each name of the set
    // From member i on: the first required one, or the count; and the bytes that the required ones
    // take at least, each with a comma. One element more than there are members.
    std::vector<std::uint32_t> next_required;
    std::vector<std::uint32_t> required_bytes;
    // Bytes of the shortest member there is.
    std::uint32_t any_member_bytes;
    TermId space;
    TermId other_name;  // kNothingTerm: no other member
    TermId other_value;
  };

  Shape& ShapeOf(std::uint32_t object);
  [[nodiscard]] const ObjectSpec& Spec(std::uint32_t object) const {
    return store_->ir().objects[object];
  }
  // Whether `member` may be the next one.
  bool Allowed(const Shape& shape, std::uint32_t object, std::uint32_t progress,
               std::uint32_t member) const;
  bool OthersAllowed(const Shape& shape, std::uint32_t object, std::uint32_t progress) const;
  bool AnyMemberAllowed(const Shape& shape, std::uint32_t object, std::uint32_t progress) const;
  bool MayClose(const Shape& shape, std::uint32_t object, std::uint32_t progress) const;
  std::uint32_t After(std::uint32_t object, std::uint32_t progress, std::uint32_t member);
  std::uint32_t AfterOther(std::uint32_t object, std::uint32_t progress) const;

  // A brace has been read.
  TermId Opened(std::uint32_t object);
  // A quote has been read: any name that may come next, to the end of the object.
  TermId Member(std::uint32_t object, std::uint32_t progress);
  // After a name's quote: colon, value, and the object from `progress` on.
  TermId ValueAndRest(std::uint32_t object, TermId value, std::uint32_t progress);
  TermId Phase(std::uint32_t object, std::uint32_t progress, ObjectPhase phase);

  // The bytes that the required members still to come take at least, each with a comma.
  std::uint32_t RequiredBytes(const Shape& shape, std::uint32_t object,
                              std::uint32_t progress) const;
  // Lower bound of what an object still needs, '}' included.
  std::uint32_t MinBytes(std::uint32_t object, std::uint32_t progress, ObjectPhase phase);
  // The same after a member whose name has been written, colon and value included.
  std::uint32_t MinBytesAfterName(const Shape& shape, std::uint32_t object, std::uint32_t progress,
                                  std::uint32_t member) const;
  Hash128 ProgressKey(std::uint32_t object, std::uint32_t progress) const;
  // The end of the range of names that share their first `depth` characters with name `first`.
  std::uint32_t RangeEnd(const Shape& shape, std::uint32_t first, std::uint32_t depth) const;
  void SortNames(std::uint32_t object, Shape* shape);
  void FindRequired(std::uint32_t object, Shape* shape) const;
  [[nodiscard]] std::uint32_t ShortestMember(const ObjectSpec& spec) const;
  [[nodiscard]] std::uint32_t MemberBytes(const ObjectSpec::Member& member) const;
  std::uint32_t InternSeen(std::string seen);

  TermStore* store_;
  NodeLowering* lowering_;
  std::vector<std::unique_ptr<Shape>> shapes_;
  // One character '0' or '1' a member.
  std::vector<std::string> seen_sets_;
  absl::flat_hash_map<std::string, std::uint32_t> seen_ids_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_AUTOMATON_OBJECT_TERMS_H_
