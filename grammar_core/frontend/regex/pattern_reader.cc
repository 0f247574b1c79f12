// One loop with a stack of open groups. A group keeps its alternatives and the sequence that is
// being read; each element is a part, a language by what stands beside it (context_language.h), and
// look-around stays a part of its own until the pattern is whole.
//
// Invariant  groups_ is never empty: its first is the pattern itself. Flags that a group sets end
//            with it.
// Cost       linear in the text, besides what look_around.cc takes. A character's language is made
//            once for each of the two ways to fold.
// Bounds     limits.source_depth groups.
// Source     ECMA-262 and RE2, where they agree.
#include "grammar_core/frontend/regex/pattern_reader.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/frontend/regex/char_classes.h"
#include "grammar_core/frontend/regex/escape_reader.h"

namespace maskd {
namespace {

constexpr std::uint32_t kMaxCount = std::numeric_limits<std::int32_t>::max();

bool IsDigit(std::uint32_t c) { return c >= '0' && c <= '9'; }

bool IsGroupName(absl::string_view name) {
  return !name.empty() && !absl::ascii_isdigit(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '_' || c == '$'; });
}

// What "(?" may begin that is known and not supported.
struct Unsupported {
  absl::string_view spelling;
  absl::string_view name;
};
constexpr Unsupported kUnsupportedGroups[] = {
    {">", "atomic group"}, {"P=", "back-reference"},   {"P>", "recursion"},
    {"#", "comment"},      {"(", "conditional group"}, {"|", "branch reset"},
};

}  // namespace

PatternReader::PatternReader(absl::string_view pattern, const RegexOptions& options,
                             const Limits& limits, Budget* budget, IrBuilder* builder)
    : limits_(limits),
      search_(options.search),
      looks_around_(options.look_around),
      free_spacing_(options.free_spacing),
      shorthands_(options.shorthands),
      syntax_(options.syntax),
      budget_(budget),
      builder_(builder),
      cursor_(pattern, options.place),
      algebra_(builder),
      look_around_(builder, &algebra_, &cursor_, limits, budget),
      flags_{options.fold, options.dot_all} {
  cursor_.MoveTo(options.begin);
  groups_.push_back({options.begin, flags_});
}

absl::StatusOr<NodeId> PatternReader::Read() {
  assert(groups_.size() == 1 && groups_.back().sequence.empty());
  if (absl::Status status = ReadParts(); !status.ok()) return status;
  PatternPart whole = EndOf(&groups_.back());
  if (search_) {
    std::vector<PatternPart> parts;
    parts.push_back({algebra_.Anything()});
    parts.push_back(std::move(whole));
    parts.push_back({algebra_.Anything()});
    whole = look_around_.Sequence(std::move(parts));
  }
  return look_around_.WholeText(whole);
}

absl::Status PatternReader::ReadParts() {
  if (absl::Status status = cursor_.CheckUtf8(); !status.ok()) return status;
  while (!cursor_.done()) {
    if (absl::Status status = budget_->Spend(); !status.ok()) return status;
    if (absl::Status status = ReadNext(); !status.ok()) return status;
    if (!builder_->status().ok()) return builder_->status();
  }
  if (groups_.size() > 1)
    return cursor_.Invalid(groups_.back().begin, "the group has no end, expected ')'");
  return absl::OkStatus();
}

absl::Status PatternReader::ReadNext() {
  const std::size_t begin = cursor_.at();
  part_begin_ = begin;
  const std::uint32_t c = cursor_.Next();
  if (free_spacing_ && PassSpacing(c)) return absl::OkStatus();
  switch (c) {
    case '\\':
      return ReadBackslash(begin);
    case '[':
      return ReadBrackets();
    case '(':
      return ReadGroupOpening(begin);
    case ')':
      return CloseGroup(begin);
    case '|':
      EndAlternative();
      break;
    case '^':
      AddCondition(algebra_.TextBegin(), PatternSyntax::Kind::kTextBegin);
      break;
    case '$':
      AddCondition(algebra_.TextEnd(), PatternSyntax::Kind::kTextEnd);
      break;
    case '.':
      AddChars(flags_.dot_all ? CharSet::All() : shorthands_.dot);
      break;
    case '*':
      return Quantify(begin, {0, kUnbounded});
    case '+':
      return Quantify(begin, {1, kUnbounded});
    case '?':
      return Quantify(begin, {0, 1});
    case '{': {
      const absl::StatusOr<std::optional<Counts>> counts = ReadCounts(begin);
      if (!counts.ok()) return counts.status();
      if (counts->has_value()) return Quantify(begin, **counts);
      AddCharacter(c);
      break;
    }
    default:
      AddCharacter(c);
      break;
  }
  return absl::OkStatus();
}

bool PatternReader::PassSpacing(std::uint32_t c) {
  if (c == '#') {
    while (!cursor_.done() && cursor_.Next() != '\n') {
    }
    return true;
  }
  return c < 0x80 && absl::ascii_isspace(static_cast<unsigned char>(c));
}

absl::Status PatternReader::ReadWordBoundary(std::size_t begin, bool negated) {
  if (shorthands_.words != WordChars()) return cursor_.Unsupported(begin, "word boundary");
  AddCondition(algebra_.WordBoundary(negated),
               negated ? PatternSyntax::Kind::kNoBoundary : PatternSyntax::Kind::kBoundary);
  return absl::OkStatus();
}

absl::Status PatternReader::ReadBackslash(std::size_t begin) {
  if (free_spacing_ && cursor_.Take(" ")) {
    AddCharacter(' ');
    return absl::OkStatus();
  }
  switch (cursor_.Next()) {
    case 'A':
      AddCondition(algebra_.TextBegin(), PatternSyntax::Kind::kTextBegin);
      return absl::OkStatus();
    case 'z':
      AddCondition(algebra_.TextEnd(), PatternSyntax::Kind::kTextEnd);
      return absl::OkStatus();
    case 'b':
      return ReadWordBoundary(begin, false);
    case 'B':
      return ReadWordBoundary(begin, true);
    default:
      cursor_.MoveTo(begin + 1);
      break;
  }
  const absl::StatusOr<Escaped> escaped = ReadEscape(cursor_, false, {flags_.fold, shorthands_});
  if (!escaped.ok()) return escaped.status();
  if (escaped->character.has_value()) {
    AddCharacter(*escaped->character);
    return absl::OkStatus();
  }
  AddChars(escaped->set);
  return budget_->Spend(SetUnits(escaped->set.ranges().size(), flags_.fold));
}

absl::Status PatternReader::ReadBrackets() {
  const absl::StatusOr<CharSet> set = ReadClass(cursor_, {flags_.fold, shorthands_}, *budget_);
  if (!set.ok()) return set.status();
  AddChars(*set);
  return absl::OkStatus();
}

absl::Status PatternReader::ReadGroupOpening(std::size_t begin) {
  if (cursor_.Take("?")) return ReadGroupKind(begin);
  return OpenGroup(begin, flags_);
}

absl::Status PatternReader::ReadGroupKind(std::size_t begin) {
  for (const Unsupported& unsupported : kUnsupportedGroups)
    if (cursor_.Take(unsupported.spelling)) return cursor_.Unsupported(begin, unsupported.name);
  if (cursor_.Take("=")) return OpenLook(begin, {Side::kAhead, false});
  if (cursor_.Take("!")) return OpenLook(begin, {Side::kAhead, true});
  if (cursor_.Take("<=")) return OpenLook(begin, {Side::kBehind, false});
  if (cursor_.Take("<!")) return OpenLook(begin, {Side::kBehind, true});
  if (cursor_.Take("<") || cursor_.Take("P<")) {
    if (absl::Status status = ReadGroupName(); !status.ok()) return status;
    return OpenGroup(begin, flags_);
  }
  return ReadFlags(begin);
}

absl::Status PatternReader::ReadGroupName() {
  const std::size_t begin = cursor_.at();
  absl::string_view name;
  if (!cursor_.TakeUntil(">", &name)) return cursor_.Expected("a group's name and '>'");
  if (!IsGroupName(name))
    return cursor_.Invalid(begin, "a group's name is letters, digits, _ and $, and no digit first");
  if (!names_.insert(name).second)
    return cursor_.Invalid(begin, absl::StrCat("a second group has the name ", name.substr(0, 64)));
  return absl::OkStatus();
}

// (?:...), (?is:...), (?i-s:...), or (?i) which holds until the group around it ends.
absl::Status PatternReader::ReadFlags(std::size_t begin) {
  Flags flags = flags_;
  bool value = true;
  bool any = false;
  while (true) {
    const std::size_t at = cursor_.at();
    const std::uint32_t c = cursor_.Next();
    if (c == ':' && (any || value)) return OpenGroup(begin, flags);
    if (c == ')' && any) {
      flags_ = flags;
      groups_.back().last = Last::kNothing;
      return absl::OkStatus();
    }
    if (c == '-' && value) {
      value = false;
      any = false;
      continue;
    }
    cursor_.MoveTo(at);
    if (absl::Status status = SetFlag(c, value, &flags); !status.ok()) return status;
    cursor_.Next();
    any = true;
  }
}

absl::Status PatternReader::SetFlag(std::uint32_t letter, bool value, Flags* flags) {
  switch (letter) {
    case 'i':
      flags->fold = value;
      return absl::OkStatus();
    case 's':
      flags->dot_all = value;
      return absl::OkStatus();
    case 'U':
      return absl::OkStatus();  // laziness by default: the language is the same
    case 'm':
      return value ? cursor_.Unsupported(cursor_.at(), "flag m (lines)") : absl::OkStatus();
    case 'x':
      return value ? cursor_.Unsupported(cursor_.at(), "flag x (free spacing)") : absl::OkStatus();
    default:
      return cursor_.Expected("a kind of group: one of : = ! < > P or flags");
  }
}

absl::Status PatternReader::OpenLook(std::size_t begin, LookKind look) {
  if (!looks_around_)
    return cursor_.Unsupported(begin, look.side == Side::kAhead ? "look-ahead" : "look-behind");
  return OpenGroup(begin, flags_, look);
}

absl::Status PatternReader::OpenGroup(std::size_t begin, Flags inside,
                                      std::optional<LookKind> look) {
  const auto depth = static_cast<std::int64_t>(groups_.size());
  if (depth > limits_.source_depth)
    return cursor_.Limit(begin, "source_depth", limits_.source_depth, depth);
  groups_.push_back({begin, flags_, look});
  if (syntax_ != nullptr) syntax_->Open(begin, look.has_value());
  flags_ = inside;
  return absl::OkStatus();
}

absl::Status PatternReader::CloseGroup(std::size_t begin) {
  if (groups_.size() == 1) return cursor_.Invalid(begin, "no group is open here");
  Group group = std::move(groups_.back());
  groups_.pop_back();
  flags_ = group.flags_outside;
  if (syntax_ != nullptr) syntax_->Close(cursor_.at());
  PatternPart part = EndOf(&group);
  if (!group.look.has_value()) {
    AddPart(std::move(part), Last::kAtom);
    return absl::OkStatus();
  }
  absl::StatusOr<PatternPart> look =
      look_around_.Look(group.look->side, group.look->negated, part, group.begin);
  if (!look.ok()) return look.status();
  AddPart(*std::move(look), Last::kNothing);
  return absl::OkStatus();
}

absl::Status PatternReader::Quantify(std::size_t begin, Counts counts) {
  Group& group = groups_.back();
  if (group.last == Last::kNothing) return cursor_.Invalid(begin, "there is nothing to repeat");
  if (group.last == Last::kQuantified)
    return cursor_.Invalid(begin, "a quantifier stands before; put a group around what it repeats");
  if (!cursor_.Take("?") && cursor_.Peek() == '+')
    return cursor_.Unsupported(cursor_.at(), "possessive quantifier");
  assert(!group.sequence.empty() && counts.min <= counts.max);
  PatternPart part = std::move(group.sequence.back());
  group.sequence.pop_back();
  std::optional<PatternPart> repeated =
      look_around_.Repeat(std::move(part), counts.min, counts.max, begin);
  if (!repeated.has_value()) return cursor_.Unsupported(begin, "repetition of a word boundary");
  if (syntax_ != nullptr) syntax_->Repeat(counts.min, counts.max, cursor_.at());
  group.sequence.push_back(*std::move(repeated));
  group.last = Last::kQuantified;
  return absl::OkStatus();
}

absl::StatusOr<std::optional<PatternReader::Counts>> PatternReader::ReadCounts(std::size_t begin) {
  const std::size_t inside = cursor_.at();
  if (cursor_.Take(",") && IsDigit(cursor_.Peek()))
    return cursor_.Invalid(begin, "dialects differ on {,n}; write {0,n}, or \\{ for the character");
  cursor_.MoveTo(inside);
  // Looks for the whole of {n}, {n,} or {n,m} first: else the brace is a character.
  const auto pass_digits = [&] {
    const std::size_t from = cursor_.at();
    while (IsDigit(cursor_.Peek())) cursor_.Next();
    return cursor_.at() > from;
  };
  const bool has_min = pass_digits();
  if (has_min && cursor_.Take(",")) pass_digits();
  const bool whole = has_min && cursor_.Take("}");
  cursor_.MoveTo(inside);
  if (!whole) return std::optional<Counts>();
  const absl::StatusOr<std::uint32_t> min = ReadCount();
  if (!min.ok()) return min.status();
  Counts counts = {*min, *min};
  if (cursor_.Take(",")) {
    counts.max = kUnbounded;
    if (IsDigit(cursor_.Peek())) {
      const absl::StatusOr<std::uint32_t> max = ReadCount();
      if (!max.ok()) return max.status();
      counts.max = *max;
    }
  }
  cursor_.Take("}");
  if (counts.max < counts.min)
    return cursor_.Invalid(begin, absl::StrCat(counts.max, " is less than ", counts.min));
  return std::optional<Counts>(counts);
}

absl::StatusOr<std::uint32_t> PatternReader::ReadCount() {
  const std::size_t begin = cursor_.at();
  std::int64_t count = 0;
  while (IsDigit(cursor_.Peek())) {
    count = std::min<std::int64_t>(count * 10 + (cursor_.Next() - '0'),
                                   std::numeric_limits<std::int64_t>::max() / 20);
  }
  if (count > kMaxCount) return cursor_.Limit(begin, "repeat_count", kMaxCount, count);
  return static_cast<std::uint32_t>(count);
}

void PatternReader::AddAtom(ContextLanguage atom) { AddPart({std::move(atom)}, Last::kAtom); }

void PatternReader::AddChars(const CharSet& set) {
  if (syntax_ != nullptr) syntax_->Characters(part_begin_, cursor_.at(), set);
  AddAtom(algebra_.Chars(set));
}

void PatternReader::AddCondition(ContextLanguage condition, PatternSyntax::Kind kind) {
  if (syntax_ != nullptr) syntax_->Condition(kind, part_begin_, cursor_.at());
  AddAtom(std::move(condition));
}

void PatternReader::AddPart(PatternPart part, Last last) {
  assert(!groups_.empty());
  groups_.back().sequence.push_back(std::move(part));
  groups_.back().last = last;
}

void PatternReader::AddCharacter(std::uint32_t c) {
  absl::flat_hash_map<std::uint32_t, Language>& known = characters_[flags_.fold ? 1 : 0];
  auto found = known.find(c);
  if (found == known.end()) {
    const CharSet one = CharSet::One(c);
    const ContextLanguage made = algebra_.Chars(flags_.fold ? FoldCase(one) : one);
    found = known.emplace(c, made.In(Neighbour::kNone, Neighbour::kNone)).first;
  }
  if (syntax_ != nullptr) {
    const CharSet one = CharSet::One(c);
    syntax_->Characters(part_begin_, cursor_.at(), flags_.fold ? FoldCase(one) : one);
  }
  AddAtom(ContextLanguage(found->second));
}

void PatternReader::EndAlternative() {
  assert(!groups_.empty());
  if (syntax_ != nullptr) syntax_->EndAlternative();
  Group& group = groups_.back();
  group.alternatives.push_back(look_around_.Sequence(std::exchange(group.sequence, {})));
  group.last = Last::kNothing;
}

PatternPart PatternReader::EndOf(Group* group) {
  PatternPart last = look_around_.Sequence(std::move(group->sequence));
  if (group->alternatives.empty()) return last;
  group->alternatives.push_back(std::move(last));
  return look_around_.Alternatives(std::move(group->alternatives));
}

}  // namespace maskd
