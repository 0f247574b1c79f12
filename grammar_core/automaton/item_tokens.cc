#include "grammar_core/automaton/item_tokens.h"

#include <algorithm>
#include <span>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

#include "grammar_core/automaton/automaton.h"

namespace maskd {
namespace {

// Whether some comma of `bytes` may stand behind an item or a member.
bool HasItemComma(absl::string_view bytes) {
  for (std::size_t at = bytes.find(','); at != absl::string_view::npos;
       at = bytes.find(',', at + 1)) {
    const absl::string_view before = absl::StripTrailingAsciiWhitespace(bytes.substr(0, at));
    if (before.empty()) return true;
    const char last = before.back();
    if (absl::ascii_isdigit(static_cast<unsigned char>(last)) ||
        absl::string_view("\"]}el").find(last) != absl::string_view::npos) {
      return true;
    }
  }
  return false;
}

// Whether some comma of `bytes` stands outside of strings where they begin within one, perhaps in
// the middle of an escape.
bool HasCommaBehindString(absl::string_view bytes) {
  for (const bool first_escaped : {false, true}) {
    bool in_string = true;
    bool escaped = first_escaped;
    for (const char c : bytes) {
      if (!in_string && c == ',') return true;
      if (c == '"' && !escaped) in_string = !in_string;
      escaped = c == '\\' && !escaped;
    }
  }
  return false;
}

// Whether an array, or an object whose names must differ, may begin in `bytes` and have more than
// one part.
bool MayBeginArray(absl::string_view bytes) {
  const std::size_t open = bytes.find_first_of("[{");
  return open != absl::string_view::npos && open < bytes.rfind(',');
}

std::size_t CommonPrefix(absl::string_view a, absl::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

ItemTokens::ItemTokens(const GrammarIr& ir, const TokenIndex* index) : index_(index) {
  if (std::ranges::any_of(ir.objects,
                          [](const ObjectSpec& spec) { return RemembersTexts(spec); })) {
    FindOfStrings(ir);
  }
  if (!ir.distinct.empty()) FindOfValues();
}

// A token that ends an item has one quote, and a second one where it begins another: of the texts
// that begin as it does after that, too few may be left. Where any character may follow any, it
// must end that one as well.
void ItemTokens::FindOfStrings(const GrammarIr& ir) {
  const auto is_free = [&](const ObjectSpec& spec) {
    return !RemembersTexts(spec) || IsEndless(ir, spec.others.front().name);
  };
  const int quotes = std::ranges::all_of(ir.objects, is_free) ? 3 : 2;
  for (const TokenId id : index_->TokensHolding('"')) {
    const absl::string_view bytes = index_->vocabulary().TokenBytes(id);
    if (std::count(bytes.begin(), bytes.end(), '"') >= quotes) of_strings_.push_back(id);
  }
}

void ItemTokens::FindOfValues() {
  for (const TokenId id : index_->TokensHolding(',')) {
    const absl::string_view bytes = index_->vocabulary().TokenBytes(id);
    if (!HasItemComma(bytes)) continue;
    const bool out_of_string = HasCommaBehindString(bytes);
    with_comma_.push_back(id);
    if (out_of_string) out_of_string_.push_back(id);
    if (!MayBeginArray(bytes)) continue;
    with_array_.push_back(id);
    if (out_of_string && bytes.find('"') < bytes.find_last_of("[{"))
      array_out_of_string_.push_back(id);
  }
  for (Tokens* tokens : {&with_comma_, &out_of_string_, &with_array_, &array_out_of_string_}) {
    Sort(tokens);
  }
}

void ItemTokens::Sort(Tokens* tokens) const {
  std::ranges::sort(*tokens, {}, [&](TokenId id) { return index_->vocabulary().TokenBytes(id); });
}

TokenMask ItemTokens::Exact(Automaton* automaton, TermId state, const TokenMask& mask,
                            Work& work) const {
  TokenMask exact = mask;
  TryStrings(automaton, state, &exact, work);
  if (with_comma_.empty()) return exact;
  const bool in_string = automaton->InString(state);
  if (!automaton->term(state).in_distinct) {
    ForbidOf(in_string ? array_out_of_string_ : with_array_, automaton, state, &exact, work);
    return exact;
  }
  ForbidOf(in_string ? out_of_string_ : with_comma_, automaton, state, &exact, work);
  if (automaton->MayRepeat(state)) ForbidRepeated(automaton, state, &exact, work);
  return exact;
}

void ItemTokens::TryStrings(Automaton* automaton, TermId state, TokenMask* mask, Work& work) const {
  for (const TokenId id : of_strings_) {
    if (!work.ok()) return;
    std::size_t taken = 0;
    if (automaton->StepToken(state, id, &taken, work) == kNothingTerm) {
      mask->Forbid(id);
    } else {
      mask->Allow(id);
    }
  }
}

bool ItemTokens::MayMatter(Automaton* automaton, TermId state, absl::string_view rest) {
  if (!automaton->term(state).in_distinct) return MayBeginArray(rest);
  return automaton->MayRepeat(state) || automaton->MayBeginAnother(state, rest);
}

void ItemTokens::ForbidOf(const Tokens& tokens, Automaton* automaton, TermId state, TokenMask* mask,
                          Work& work) const {
  std::vector<TermId> path = {state};
  absl::string_view taken;  // one byte for each state behind the first
  for (const TokenId id : tokens) {
    if (!mask->Allows(id)) continue;
    const absl::string_view bytes = index_->vocabulary().TokenBytes(id);
    path.resize(CommonPrefix(taken, bytes) + 1);
    while (path.size() <= bytes.size() && path.back() != kNothingTerm &&
           MayMatter(automaton, path.back(), bytes.substr(path.size() - 1))) {
      const auto byte = static_cast<unsigned char>(bytes[path.size() - 1]);
      const TermId next = automaton->Take(path.back(), byte, work);
      if (next == kFailedTerm) return;
      path.push_back(next);
    }
    if (path.back() == kNothingTerm) mask->Forbid(id);
    taken = bytes.substr(0, path.size() - 1);
  }
}

void ItemTokens::ForbidBelow(std::size_t node, TokenMask* mask) const {
  const std::span<const TrieNode> nodes = index_->trie().nodes();
  const std::size_t end = node + nodes[node].skip;
  for (std::size_t i = node; i < end; ++i) {
    if (nodes[i].token == TokenTrie::kNoToken) continue;
    index_->trie().VisitTokens(nodes[i], [&](TokenId id) { mask->Forbid(id); });
  }
}

// What the rest of the array does not take is forbidden already.
void ItemTokens::ForbidRepeated(Automaton* automaton, TermId state, TokenMask* mask,
                                Work& work) const {
  struct Level {
    TermId state;
    FirstClasses::Set first;
  };
  const std::span<const TrieNode> nodes = index_->trie().nodes();
  std::vector<Level> path = {{state, automaton->FirstOf(state)}};
  for (std::size_t i = 0; i < nodes.size();) {
    path.resize(nodes[i].depth);
    const auto byte = static_cast<unsigned char>(nodes[i].byte);
    const bool repeats = path.back().first.test(automaton->classes().Of(byte)) &&
                         automaton->MayRepeatBehind(path.back().state, byte);
    const TermId next = repeats ? automaton->Take(path.back().state, byte, work) : kNothingTerm;
    if (next == kFailedTerm) return;
    if (repeats && next == kNothingTerm) ForbidBelow(i, mask);
    const bool deeper = next != kNothingTerm && automaton->MayRepeat(next);
    if (deeper) path.push_back({next, automaton->FirstOf(next)});
    i += deeper ? 1 : nodes[i].skip;
  }
  for (const TokenId id : index_->trie().long_tokens()) {
    if (!mask->Allows(id)) continue;
    std::size_t taken = 0;
    if (automaton->StepToken(state, id, &taken, work) == kNothingTerm) mask->Forbid(id);
  }
}

}  // namespace maskd
