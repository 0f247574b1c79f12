// Items of uniqueItems as the members of an object, since a member may be written only once.
//
// Each listed string is a declared member, any other listed value a bare member, and strings that
// are not listed are the others. Items are taken apart by a worklist of conjunctions, one branch of
// a choice at a time.
//
// Source  JSON Schema Validation 2020-12, section 6.4.3; equality: Core, section 4.2.2.
#include "grammar_core/frontend/json_schema/rules/distinct_items.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json/equality.h"
#include "grammar_core/frontend/json_schema/logic/choice_reducer.h"
#include "grammar_core/ir/text_counts.h"

namespace maskd {
namespace {

// Branches of the items' choices, and values of an item that are no strings, at most: each of these
// is a way of its own wherever an item may begin.
constexpr std::int64_t kMaxBranches = 1'000;
constexpr std::int64_t kMaxBareItems = 256;

// A type that is neither a word nor a string, for the error.
absl::string_view OtherType(TypeSet types) {
  if ((types & kObjectType) != 0) return "objects";
  if ((types & kArrayType) != 0) return "arrays";
  return "numbers";
}

}  // namespace

absl::Status DistinctItems::Unsupported(absl::string_view why) const {
  return UnsupportedAt(at_.Pointer(), at_.key(), why);
}

absl::StatusOr<NodeId> DistinctItems::Make() {
  assert(items_.is_array && items_.members.empty());
  if (schema_.prefix_size() > 0) return Unsupported("beside items with schemas of their own");
  std::vector<Conjunction> open = {context_.logic.Expand(schema_.ItemClaims(0))};
  for (std::int64_t branches = 0; !open.empty(); ++branches) {
    if (branches == kMaxBranches) return Unsupported("of items with this many alternatives");
    const Conjunction all = std::move(open.back());
    open.pop_back();
    if (absl::Status added = Add(context_.choices.Reduce(all), &open); !added.ok()) return added;
  }
  IrBuilder& b = context_.builder;
  if (!strings_.empty()) {
    const NodeId strings = b.Alt(strings_);
    if (MostTexts(b.ir(), strings) < kAmpleTexts) return Unsupported("of few strings");
    items_.others.push_back({strings, b.Empty()});
  }
  items_.min_members = schema_.item_count.min;
  items_.max_members = schema_.item_count.max;
  const auto values = static_cast<std::uint32_t>(items_.members.size());
  if (strings_.empty() && values < items_.min_members) {
    return InvalidAt(at_.Pointer(), absl::StrCat("there are ", values, " different items, but ",
                                                 items_.min_members, " are needed"));
  }
  return b.Object(std::move(items_));
}

// Listed values need no look at choices: each is checked. Otherwise one choice is opened.
absl::Status DistinctItems::Add(const Conjunction& all, std::vector<Conjunction>* open) {
  const MergedSchema item = Merge(context_.logic, all);
  if (all.is_false || item.types == kNoType) return absl::OkStatus();
  const bool watched = std::any_of(all.choices.begin(), all.choices.end(),
                                   [](const Claim& choice) { return choice.watchers != 0; });
  if (item.has_listed_values() && !watched) return AddListed(all, item);
  if (all.choices.empty()) return AddTypes(item);
  Conjunction rest = all;
  rest.choices.pop_back();
  for (const std::vector<Claim>& way : context_.choices.AlternativesOf(all.choices.back()))
    open->push_back(context_.logic.Expand(way, rest));
  return absl::OkStatus();
}

absl::Status DistinctItems::AddListed(const Conjunction& all, const MergedSchema& item) {
  for (const JsonValue& value : item.ListedValues()) {
    const absl::StatusOr<bool> fits = context_.checker.Fits(value, all, item);
    if (!fits.ok()) return fits.status();
    if (!*fits) continue;
    if (value.is_string()) {
      AddMember({std::string(value.text()), context_.builder.Empty(), false}, EqualityKey(value));
      continue;
    }
    const NodeId text = LiteralRule({value}, SpellingOf(item, context_.options), context_);
    AddMember({"", text, false, {}, true}, EqualityKey(value));
  }
  const auto bare = std::count_if(items_.members.begin(), items_.members.end(),
                                  [](const ObjectSpec::Member& member) { return member.bare; });
  if (bare <= kMaxBareItems) return absl::OkStatus();
  return LimitExceeded(at_.Pointer(), "different items that are no strings", kMaxBareItems, bare);
}

// Strings may have schemas of any kind; of other types only null, true and false are few enough.
absl::Status DistinctItems::AddTypes(const MergedSchema& item) {
  const TypeSet others = item.types & ~(kNullType | kBooleanType | kStringType);
  if (others != 0) return Unsupported(absl::StrCat("of items that may be ", OtherType(others)));
  for (const Claim& atom : item.atoms)
    if (atom.kind == Claim::Kind::kSchema) return Unsupported("of items with such a \"not\"");
  if ((item.types & kNullType) != 0) AddWord(item, JsonType::kNull, "null");
  if ((item.types & kBooleanType) != 0) AddWord(item, JsonType::kTrue, "true");
  if ((item.types & kBooleanType) != 0) AddWord(item, JsonType::kFalse, "false");
  if ((item.types & kStringType) == 0) return absl::OkStatus();
  const absl::StatusOr<NodeId> characters = StringCharacters(item, context_);
  if (absl::IsInvalidArgument(characters.status())) return absl::OkStatus();
  if (characters.ok()) strings_.push_back(*characters);
  return characters.status();
}

void DistinctItems::AddWord(const MergedSchema& item, JsonType word, absl::string_view text) {
  if (item.Excludes(word)) return;
  const NodeId value = context_.builder.Bytes(text);
  AddMember({"", value, false, {}, true}, std::string(text));
}

// Equal values of several branches are one member.
void DistinctItems::AddMember(ObjectSpec::Member member, const std::string& key) {
  if (keys_.insert(key).second) items_.members.push_back(std::move(member));
}

}  // namespace maskd
