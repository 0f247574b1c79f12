// One function a group of kinds, each a step down the term; what has been printed is counted, so
// that a term of a million others ends soon.
//
// Invariant  equal terms have equal texts, in whatever order they were made: lists are sorted.
// Bounds     kMaxDepth levels and about kMaxBytes bytes; the rest is "...".
#include "grammar_core/terms/term_printer.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "grammar_core/ir/payload_text.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

// The recursion ends by the first, the length by the second: a term shares its parts, so written
// out in full it can be exponentially longer than it is in memory.
constexpr int kMaxDepth = 24;
constexpr std::size_t kMaxBytes = 4000;

const char* PhaseName(CharPhase phase) {
  switch (phase) {
    case CharPhase::kStart:
      return "";
    case CharPhase::kUtf8:
      return "@utf8";
    case CharPhase::kEscape:
      return "@escape";
    case CharPhase::kHex:
      return "@hex";
    case CharPhase::kLowBackslash:
    case CharPhase::kLowU:
    case CharPhase::kLowHex:
      return "@low_surrogate";
  }
  return "";
}

const char* PhaseName(ObjectPhase phase) {
  switch (phase) {
    case ObjectPhase::kOpen:
      return "before {";
    case ObjectPhase::kFirst:
      return "before the first member";
    case ObjectPhase::kNext:
      return "behind a member";
    case ObjectPhase::kMust:
      return "before a further member";
  }
  return "";
}

class Printer {
 public:
  explicit Printer(const TermStore& store) : store_(store) {}

  std::string Print(AnyTerm id, int depth) {
    if (depth > kMaxDepth || printed_ > kMaxBytes) return "...";
    std::string text = PrintKind(id, store_.term(id), depth + 1);
    printed_ += text.size();
    return text;
  }

 private:
  std::string PrintKind(AnyTerm id, const Term& term, int depth) {
    switch (term.kind) {
      case TermKind::kNothing:
        return "nothing";
      case TermKind::kEmpty:
        return "empty";
      case TermKind::kCat:
        return PrintSpine(id, depth);
      case TermKind::kAlt:
        return PrintList(term, " | ", depth);
      case TermKind::kAnd:
        return PrintList(term, " & ", depth);
      case TermKind::kNot:
        return absl::StrCat("!", PrintUnit(AnyTerm(NegatedOf(term)), depth));
      case TermKind::kRepeat: {
        const auto repeat = AsRepeat<AnyTerm>(term);
        return PrintUnit(repeat.body, depth) + RepeatText(repeat.min, repeat.max);
      }
      default:
        return PrintLeaf(term, depth);
    }
  }

  std::string PrintLeaf(const Term& term, int depth) {
    switch (term.kind) {
      case TermKind::kByteSet:
        return absl::StrCat("b", ByteClassText(BytesOf(store_, term)));
      case TermKind::kBytes:
        return absl::StrCat("b", QuotedText(RestOfBytes(store_, term)));
      case TermKind::kTokens:
        return TokenListText(store_.ir().token_specs[TokensOf(term)]);
      case TermKind::kCall:
        return PrintCall(AsCall(term));
      case TermKind::kEncode:
        return PrintEncode(AsEncode(term), depth);
      case TermKind::kNumber:
        return absl::StrCat("number ", AsNumber(term).number, "@", AsNumber(term).state);
      case TermKind::kObject: {
        const ObjectView object = AsObject(term);
        return absl::StrCat("object ", object.object, "@", object.progress, "(",
                            PhaseName(object.phase), ")");
      }
      case TermKind::kDistinct:
        return absl::StrCat("distinct(", AsDistinct(term).begun ? "... " : "",
                            Print(AnyTerm(AsDistinct(term).array), depth), ")");
      case TermKind::kLimited:
        return absl::StrCat("limited", AsLimited(term).touched ? "*" : "", "(",
                            AsLimited(term).tokens_left, ", ",
                            Print(AnyTerm(AsLimited(term).text), depth), ")");
      default:
        return PrintCharacters(term);
    }
  }

  std::string PrintCharacters(const Term& term) const {
    switch (term.kind) {
      case TermKind::kCharSet:
        return CharClassText(store_.ir().char_sets[CharSetOf(term)].ranges());
      case TermKind::kText:
        return QuotedText(RestOfText(store_, term));
      case TermKind::kTextSet: {
        const TextSetView texts = AsTextSet(term);
        std::vector<std::u32string> rests;
        for (std::uint32_t i = texts.first; i < texts.end; ++i)
          rests.push_back(store_.text_set(texts.set)[i].substr(texts.depth));
        return TextListText(rests);
      }
      case TermKind::kNameSet: {
        const NameSetView names = AsNameSet(term);
        return absl::StrCat("names of object ", names.object, "@", names.progress, " from ",
                            names.first, " behind ", names.depth);
      }
      default:
        return "?";
    }
  }

  std::string PrintCall(const CallView& call) const {
    const std::string name = absl::StrCat("rule ", QuotedText(store_.ir().rules[call.rule].name));
    return call.depth == 0 ? name : absl::StrCat(name, "@", call.depth);
  }

  std::string PrintEncode(const EncodeView& encode, int depth) {
    std::string text =
        absl::StrCat(SpellingName(encode.partial.spelling), PhaseName(encode.partial.phase), "(",
                     Print(AnyTerm(encode.characters), depth), ")");
    if (encode.object != kNoObject) absl::StrAppend(&text, ":object ", encode.object);
    return text;
  }

  // A loop, not a recursion into the tail: a spine may have any number of cells, and each of them
  // is at the same depth for a reader.
  std::string PrintSpine(AnyTerm id, int depth) {
    std::vector<std::string> cells;
    for (; store_.term(id).kind == TermKind::kCat; id = AsCat<AnyTerm>(store_.term(id)).tail) {
      if (static_cast<int>(cells.size()) > kMaxDepth) break;
      cells.push_back(PrintUnit(AsCat<AnyTerm>(store_.term(id)).head, depth));
    }
    cells.push_back(store_.term(id).kind == TermKind::kCat ? "..." : PrintUnit(id, depth));
    return absl::StrJoin(cells, " . ");
  }

  std::string PrintList(const Term& term, const char* between, int depth) {
    std::vector<std::string> parts;
    for (const AnyTerm part : BranchesOf<AnyTerm>(store_, term))
      parts.push_back(Print(part, depth));
    std::ranges::sort(parts);  // else their order would be that in which terms were made
    return absl::StrCat("(", absl::StrJoin(parts, between), ")");
  }

  // In parentheses where what stands around `id` binds more closely.
  std::string PrintUnit(AnyTerm id, int depth) {
    const bool is_loose = store_.term(id).kind == TermKind::kCat;
    return is_loose ? absl::StrCat("(", Print(id, depth), ")") : Print(id, depth);
  }

  const TermStore& store_;
  std::size_t printed_ = 0;
};

}  // namespace

// Ids that are no terms get a text too: a failed assertion may name one.
std::string PrintTerm(const TermStore& store, AnyTerm id) {
  if (id == kUnknownTerm) return "unknown";
  if (id == kFailedTerm) return "failed";
  if (id.value() >= store.size()) return absl::StrCat("no term of this store: ", id.value());
  return Printer(store).Print(id, 0);
}

}  // namespace maskd
