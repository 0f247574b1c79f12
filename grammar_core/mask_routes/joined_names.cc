// Names are kept in the order of their texts, each with the objects that declare it and those whose
// other names it is not. So one walk along sorted texts serves all objects, and the state behind a
// whole name is the choice of what follows it in each object that may have it.
#include "grammar_core/mask_routes/joined_names.h"

#include <algorithm>
#include <cassert>

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/state_terms.h"

namespace maskd {

// What has been read of a name is the same in all.
bool JoinedNames::Fits(const TextList& list) const {
  // Sorted by characters is sorted by bytes for ASCII alone, and the trie is in bytes.
  if (!list.IsAscii()) return false;
  if (names_.empty() || list.texts.empty()) return true;
  const std::u32string_view known = names_.begin()->first;
  const std::u32string_view added = *list.texts.front();
  return list.depth == depth_ && list.spelling == spelling_ &&
         added.substr(0, depth_) == known.substr(0, depth_);
}

JoinedNames::Name& JoinedNames::NameOf(const std::u32string* text) {
  Name& name = names_[*text];
  name.text = text;
  return name;
}

bool JoinedNames::Add(TermId cell, TermId tail) {
  constexpr std::int64_t kNamesPerUnit = 4;
  const ObjectTerms::NameTexts names = StateTerms(*automaton_).NamesOf(cell, *work_);
  work_->Spend(1 + static_cast<std::int64_t>(names.names.size()) / kNamesPerUnit);
  if (!Fits(names.list)) return false;
  depth_ = names.list.depth;
  spelling_ = names.list.spelling;
  for (std::size_t i = 0; i < names.names.size(); ++i)
    NameOf(names.list.texts[i]).of.emplace_back(named_.size(), names.names[i]);
  named_.push_back({cell, tail});
  return true;
}

bool JoinedNames::Add(OtherNames others) {
  if (!automaton_->store().IsAllText(others.any) || !Fits(others.declared)) return false;
  depth_ = others.declared.depth;
  spelling_ = others.declared.spelling;
  for (const std::u32string* text : others.declared.texts)
    NameOf(text).not_of.push_back(others_.size());
  others_.push_back(std::move(others));
  return true;
}

TextList JoinedNames::Texts() {
  TextList list = {.depth = depth_, .spelling = spelling_};
  by_text_.clear();
  for (const auto& [text, name] : names_) {
    list.texts.push_back(name.text);
    by_text_.push_back(&name);
  }
  return list;
}

TermId JoinedNames::EndOf(std::uint32_t text) {
  assert(text < by_text_.size() && "Texts() numbers them, and nothing was added since");
  const Name& name = *by_text_[text];
  std::vector<TermId> ends;
  for (const auto& [object, number] : name.of) {
    const TermId end = StateTerms(*automaton_).EndOfName(named_[object].cell, number, *work_);
    ends.push_back(StateTerms(*automaton_).Join(end, named_[object].tail));
  }
  for (std::size_t i = 0; i < others_.size(); ++i)
    if (std::ranges::find(name.not_of, i) == name.not_of.end()) ends.push_back(others_[i].tail);
  return StateTerms(*automaton_).Choice(ends);
}

std::optional<JoinedNames::Owner> JoinedNames::OnlyOwner(std::uint32_t text) const {
  const Name& name = *by_text_[text];
  if (name.of.size() != 1 || name.not_of.size() != others_.size()) return std::nullopt;
  const auto& [object, number] = name.of.front();
  return Owner{named_[object].cell, named_[object].tail, number};
}

std::optional<OtherNames> JoinedNames::Others() {
  if (others_.empty()) return std::nullopt;
  OtherNames all = {.any = others_.front().any,
                    .declared = {.depth = depth_, .spelling = spelling_}};
  std::vector<TermId> tails;
  for (const OtherNames& others : others_) tails.push_back(others.tail);
  all.tail = StateTerms(*automaton_).Choice(tails);
  for (const auto& [text, name] : names_)
    if (!name.not_of.empty()) all.declared.texts.push_back(name.text);
  return all;
}

}  // namespace maskd
