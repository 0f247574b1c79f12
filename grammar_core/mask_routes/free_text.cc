// The form is read from the terms as derivatives leave them: each character that is read of a text
// that may not come adds the rest of that text to what the text may not begin with.
//
// Invariant  all texts together have finitely many characters, so some character is in none of
//            them: behind it nothing has begun, and a free text goes on.
// Cost       one look at each text; nothing is kept.
#include "grammar_core/mask_routes/free_text.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "absl/strings/match.h"

#include "grammar_core/base/utf8.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

constexpr char32_t kFirstBeyondAscii = 128;
// Of more characters one alone may leave none that no text has.
constexpr std::uint32_t kMaxSetSize = 16;

bool IsSmallAscii(const CharSet& set) {
  std::uint32_t size = 0;
  for (const CharRange& range : set.ranges()) {
    if (range.hi >= kFirstBeyondAscii) return false;
    size += range.hi - range.lo + 1;
  }
  return size > 0 && size <= kMaxSetSize;
}

// Whether a term is of texts as AbsentTextsOf() has them.
bool IsTexts(const TermStore& store, CharTerm id) {
  const Term& term = store.term(id);
  switch (term.kind) {
    case TermKind::kCharSet:
      return IsSmallAscii(store.ir().char_sets[CharSetOf(term)]);
    case TermKind::kText:
      return LengthOfRest(store, term) > 0 &&
             store.ir().texts[AsText(term).text].back() < kFirstBeyondAscii;
    case TermKind::kTextSet: {
      const auto [set, first, end, depth] = AsTextSet(term);
      const std::vector<std::u32string>& texts = store.text_set(set);
      return std::all_of(texts.begin() + first, texts.begin() + end,
                         [&](const std::u32string& text) {
                           return text.size() > depth && text.back() < kFirstBeyondAscii;
                         });
    }
    case TermKind::kAlt: {
      const auto branches = BranchesOf<CharTerm>(store, term);
      return std::ranges::all_of(branches, [&](CharTerm branch) {
        return store.term(branch).kind != TermKind::kAlt && IsTexts(store, branch);
      });
    }
    default:
      return false;
  }
}

// Adds what `part`, one of what a free text is not, says; false for another form.
bool AddPart(const TermStore& store, CharTerm part, AbsentTexts* text) {
  if (IsTexts(store, part)) {  // the rest of a last one
    text->may_end = false;
    return true;
  }
  const auto [head, tail] = store.PartsOf(part);
  if (tail == kEmptyTerm) return false;
  if (!store.IsAllText(head)) {
    if (!IsTexts(store, head) || !store.IsAllText(tail)) return false;
    text->begun.push_back(head);
    return true;
  }
  const auto [within, behind] = store.PartsOf(tail);
  if (!IsTexts(store, within)) return false;
  if (behind == kEmptyTerm) {  // a last one
    text->may_end = false;
    return true;
  }
  if (!store.IsAllText(behind)) return false;
  text->held.push_back(within);
  return true;
}

bool AddNot(const TermStore& store, CharTerm id, AbsentTexts* text) {
  const Term& term = store.term(id);
  if (term.kind != TermKind::kNot) return false;
  const CharTerm negated = NegatedOf(term);
  if (store.term(negated).kind != TermKind::kAlt || IsTexts(store, negated))
    return AddPart(store, negated, text);
  return std::ranges::all_of(BranchesOf<CharTerm>(store, store.term(negated)),
                             [&](CharTerm part) { return AddPart(store, part, text); });
}

}  // namespace

std::optional<AbsentTexts> AbsentTextsOf(const TermStore& store, CharTerm characters) {
  AbsentTexts text;
  if (store.IsAllText(characters)) return text;
  const Term& term = store.term(characters);
  const bool fits =
      term.kind == TermKind::kAnd
          ? std::ranges::all_of(BranchesOf<CharTerm>(store, term),
                                [&](CharTerm part) { return AddNot(store, part, &text); })
          : AddNot(store, characters, &text);
  return fits ? std::optional(std::move(text)) : std::nullopt;
}

void VisitTexts(const TermStore& store, CharTerm texts,
                absl::FunctionRef<void(absl::string_view)> visit) {
  const Term& term = store.term(texts);
  switch (term.kind) {
    case TermKind::kCharSet:
      for (const CharRange& range : store.ir().char_sets[CharSetOf(term)].ranges())
        for (std::uint32_t c = range.lo; c <= range.hi; ++c)
          visit(CodePointsToUtf8(std::u32string(1, static_cast<char32_t>(c))));
      return;
    case TermKind::kText:
      return visit(CodePointsToUtf8(RestOfText(store, term)));
    case TermKind::kTextSet: {
      const auto [set, first, end, depth] = AsTextSet(term);
      for (std::uint32_t i = first; i < end; ++i)
        visit(CodePointsToUtf8(store.text_set(set)[i].substr(depth)));
      return;
    }
    default:
      assert(term.kind == TermKind::kAlt && "a term of AbsentTextsOf()");
      for (const CharTerm branch : BranchesOf<CharTerm>(store, term))
        VisitTexts(store, branch, visit);
  }
}

std::size_t FirstEnd(const TermStore& store, const AbsentTexts& text, absl::string_view token) {
  std::size_t end = absl::string_view::npos;
  for (const CharTerm texts : text.held) {
    VisitTexts(store, texts, [&](absl::string_view held) {
      const std::size_t at = token.find(held);
      if (at != absl::string_view::npos) end = std::min(end, at + held.size());
    });
  }
  for (const CharTerm texts : text.begun) {
    VisitTexts(store, texts, [&](absl::string_view begun) {
      if (absl::StartsWith(token, begun)) end = std::min(end, begun.size());
    });
  }
  return end;
}

}  // namespace maskd
