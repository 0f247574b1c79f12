// JSON objects as terms: which names may come next, and what follows each.
//
// Objects   are told apart by their depth, too: TermStore::PlaceObject().
// Progress  a number for what an object has behind it: see ObjectProgress.
// Names     kept sorted by code points, so that the names that continue a prefix are a range.
// Errors    declared names that can have no value are never offered, and never count as
//           others. By Work: those of ObjectProgress.
// Threads   the automaton's lock.
#ifndef MASKD_GRAMMAR_CORE_TERMS_OBJECT_TERMS_H_
#define MASKD_GRAMMAR_CORE_TERMS_OBJECT_TERMS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grammar_core/base/held_bytes.h"
#include "grammar_core/base/work.h"
#include "grammar_core/terms/object_progress.h"
#include "grammar_core/terms/term_store.h"
#include "grammar_core/terms/text_walk.h"

namespace maskd {

// From IR nodes to terms; implemented by Lowering.
class NodeLowering {
 public:
  virtual ~NodeLowering() = default;
  // `depth`: the levels of indentation around the node.
  virtual AnyTerm Lower(NodeId node, std::uint32_t depth) = 0;
};

// All objects of one automaton: their steps, and the sets of their names.
class ObjectTerms {
 public:
  // Both must outlive this. The search for an object's end visits at most `max_end_states`.
  ObjectTerms(TermStore* store, NodeLowering* lowering, std::int64_t max_end_states);

  // The whole object, from its '{' on. `min_bytes` is a lower bound of its length.
  TermId Start(std::uint32_t object, std::uint32_t min_bytes);

  // The step of an Object term by `byte`.
  TermId Step(std::uint32_t object, std::uint32_t progress, ObjectPhase phase, unsigned char byte,
              Work& work);

  // What follows the closing quote of the name that a nullable NameSet begins with.
  TermId AfterName(std::uint32_t object, std::uint32_t progress, std::uint32_t first, Work& work);

  // The same as spines, the first one first and none of them empty: no term is made of them all.
  std::vector<TermId> SpinesAfterName(std::uint32_t object, std::uint32_t progress,
                                      std::uint32_t first, Work& work);

  // The next characters of a NameSet, ascending, each with the NameSet behind it.
  struct NameEdge {
    std::uint32_t character;
    CharTerm names;
  };
  // Spends work for each name that it looks at; meaningless when `work` failed.
  std::vector<NameEdge> NameEdges(std::uint32_t object, std::uint32_t progress, std::uint32_t first,
                                  std::uint32_t depth, Work& work);
  // The NameSet behind `text`, at least a character; kNothingTerm where there is none.
  CharTerm NamesBehind(std::uint32_t object, std::uint32_t progress, std::uint32_t first,
                       std::uint32_t depth, std::u32string_view text, Work& work);

  // The name of a NameSet that is `text` and nothing more, if it may be written.
  std::optional<std::uint32_t> NameOf(std::uint32_t object, std::uint32_t progress,
                                      std::uint32_t first, std::uint32_t depth,
                                      std::u32string_view text, Work& work);

  // The texts of a NameSet, and which name of the object each is.
  struct NameTexts {
    TextList list;
    std::vector<std::uint32_t> names;
  };
  // In the order of NameEdges(). The texts are the store's and live as long as it.
  NameTexts TextsOf(std::uint32_t object, std::uint32_t progress, std::uint32_t first,
                    std::uint32_t depth, Work& work);

  // Characters of name `name`.
  std::uint32_t NameLength(std::uint32_t object, std::uint32_t name);

  // The NameSet of the names that share their first `depth` characters with name `first`; its
  // progress is narrowed to them.
  CharTerm Names(std::uint32_t object, std::uint32_t progress, std::uint32_t first,
                 std::uint32_t depth, Work& work);

  // An Encode term of a NameSet, within its object; see TermStore::EncodeNames.
  TermId EncodeNames(CharTerm names, PartialChar partial, std::uint32_t partial_bytes = 0);

  // What `from`, another automaton's of the same grammar, says of `object` (placed there, and here
  // as `placed`), as this says it. Needs the locks of both.
  std::uint32_t AdoptProgress(const ObjectTerms& from, std::uint32_t object, std::uint32_t placed,
                              std::uint32_t progress);
  // The set of an object's names that is `set` there.
  std::uint32_t AdoptNames(const ObjectTerms& from, std::uint32_t set);

  // The names are the store's.
  [[nodiscard]] std::int64_t held_bytes() const { return held_bytes_ + HeldBytes(shapes_); }

 private:
  // An object's spec with what is derived of it at any depth, made on first use.
  struct Shape {
    Shape(const GrammarFacts& facts, std::uint32_t object, std::int64_t max_end_states,
          std::int64_t* held_bytes)
        : progress(facts, object, max_end_states, held_bytes) {}

    ObjectProgress progress;
    std::uint32_t name_set = 0;          // the names, sorted, as a text set of the store
    std::vector<std::uint32_t> members;  // the member of each name of the set; no bare ones
    TermId space = kNothingTerm;
    TermId colon = kNothingTerm;
    TermId after_colon = kNothingTerm;
    TermId after_comma = kNothingTerm;
    // The names of each of the spec's others, declared ones taken out.
    std::vector<CharTerm> other_names;
  };

  Shape& ShapeOf(std::uint32_t object);
  // What asking whether a name may be written takes, in parts of effort.
  [[nodiscard]] std::size_t NameEffort(std::uint32_t object) const {
    return 3 + Spec(object).conditions.size() / 4;
  }
  [[nodiscard]] const ObjectSpec& Spec(std::uint32_t object) const {
    return store_->object(object);
  }
  [[nodiscard]] std::uint32_t DepthOf(std::uint32_t object) const {
    return store_->placed_object(object).depth;
  }
  // The structural key of a place in an object.
  [[nodiscard]] Hash128 KeyOf(std::uint32_t object, std::uint32_t progress) {
    return store_->KeyAt(DepthOf(object), ShapeOf(object).progress.Key(progress));
  }
  TermId Value(std::uint32_t object, NodeId value) {
    return TermId(lowering_->Lower(value, Spec(object).DepthWithin(DepthOf(object))));
  }

  // A quote has been read: any name that may come next, to the end of the object.
  TermId Member(std::uint32_t object, std::uint32_t progress, Work& work);
  // The same for one of the others.
  TermId Others(std::uint32_t object, std::uint32_t progress, std::uint32_t index);
  // After a name's quote: colon, value, and the object from `progress` on.
  TermId ValueAndRest(std::uint32_t object, NodeId value, std::uint32_t progress);
  std::vector<TermId> SpinesOfValue(std::uint32_t object, NodeId value, std::uint32_t progress);
  TermId Phase(std::uint32_t object, std::uint32_t progress, ObjectPhase phase);
  // The step of an object whose members have lines of their own, behind its '{'.
  TermId StepInBlock(std::uint32_t object, std::uint32_t progress, ObjectPhase phase,
                     unsigned char byte, Work& work);
  // Where a member may begin.
  TermId Begin(std::uint32_t object, std::uint32_t progress, ObjectPhase phase, Work& work);

  // Lower bound of what an object still needs, '}' included.
  std::uint32_t MinBytes(std::uint32_t object, std::uint32_t progress, ObjectPhase phase);
  // Names [first, end) of an object, those that go on with `text` behind `depth` characters.
  struct NameRange {
    std::uint32_t first;
    std::uint32_t end;
  };
  [[nodiscard]] NameRange NamesWith(const Shape& shape, NameRange within, std::uint32_t depth,
                                    std::u32string_view text) const;
  // The end of the range of names that share their first `depth` characters with name `first`.
  std::uint32_t RangeEnd(const Shape& shape, std::uint32_t first, std::uint32_t depth) const;
  void SortNames(std::uint32_t object, Shape* shape);

  TermStore* store_;
  NodeLowering* lowering_;
  const std::int64_t max_end_states_;
  std::int64_t held_bytes_ = 0;
  std::vector<std::unique_ptr<Shape>> shapes_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TERMS_OBJECT_TERMS_H_
