#include "tests/frontend/ir_recognizer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "nlohmann/json.hpp"

#include "grammar_core/base/utf8.h"
#include "grammar_core/ir/ir_views.h"
#include "tests/frontend/number_judge.h"

namespace maskd {
namespace {

// An escape letter and what it stands for (RFC 8259, section 7).
struct Escape {
  char letter;
  std::uint32_t code_point;
};
constexpr Escape kEscapes[] = {{'"', '"'}, {'\\', '\\'}, {'/', '/'}, {'b', 0x8},
                               {'f', 0xC}, {'n', 0xA},   {'r', 0xD}, {'t', 0x9}};

std::vector<std::uint32_t> Sorted(const std::set<std::uint32_t>& places) {
  return {places.begin(), places.end()};
}

}  // namespace

bool IrRecognizer::Accepts(absl::string_view text) {
  text_ = text;
  known_.clear();
  const NodeId start = ir_.rules[ir_.start].body;
  Places ends;
  do {
    ++round_;
    reentered_ = grew_ = false;
    ends = Ends(start, 0, Spelling::kUtf8);
  } while (reentered_ && grew_);
  return std::binary_search(ends.begin(), ends.end(), static_cast<Place>(text.size()));
}

const IrRecognizer::Places& IrRecognizer::Ends(NodeId node, Place at, Spelling spelling) {
  const auto key = std::make_tuple(node, at, spelling, depth_);
  Known& known = known_[key];
  if (known.round == round_) {
    reentered_ = reentered_ || known.open;
    return known.ends;
  }
  known.round = round_;
  known.open = true;
  Places ends = Compute(node, at, spelling);
  // Computing may have moved the table.
  Known& now = known_[key];
  now.open = false;
  grew_ = grew_ || ends.size() > now.ends.size();
  now.ends = std::move(ends);
  return now.ends;
}

IrRecognizer::Places IrRecognizer::Compute(NodeId node, Place at, Spelling spelling) {
  const IrNode& n = ir_.nodes[node];
  switch (n.kind) {
    case IrKind::kNothing:
      return {};
    case IrKind::kEmpty:
      return {at};
    case IrKind::kBytes:
      return OfBytes(maskd::BytesOf(ir_, n), at);
    case IrKind::kByteSet:
      if (at < text_.size() && ByteSetOf(ir_, n).test(static_cast<unsigned char>(text_[at])))
        return {at + 1};
      return {};
    case IrKind::kTokens:
      return {};  // no text is a token
    case IrKind::kText:
      return OfText(TextOf(ir_, n), at, spelling);
    case IrKind::kTextSet:
      return OfTextSet(TextSetOf(ir_, n), at, spelling);
    case IrKind::kCharSet: {
      const std::optional<Character> c = Next(at, spelling);
      if (c.has_value() && CharSetOf(ir_, n).Contains(c->code_point)) return {c->end};
      return {};
    }
    case IrKind::kConcat:
      return OfConcat(n, at, spelling);
    case IrKind::kAlt:
      return OfAlt(n, at, spelling);
    case IrKind::kRepeat:
      return OfRepeat(n, at, spelling);
    case IrKind::kAnd:
      return OfAnd(n, at, spelling);
    case IrKind::kNot:
      return OfNot(n, at, spelling);
    case IrKind::kEncode:
      return Ends(ir_.children[n.first_child], at, n.spelling);
    case IrKind::kCall:
      return Ends(ir_.rules[CalledRuleOf(n)].body, at, spelling);
    case IrKind::kNumber:
      return OfNumber(NumberOf(ir_, n), at);
    case IrKind::kObject:
      return OfObject(ObjectOf(ir_, n), at);
    case IrKind::kDistinct:
      return OfDistinct(n, at);
    case IrKind::kLimited:  // it knows no tokens
      return Ends(ir_.children[n.first_child], at, spelling);
    case IrKind::kBreak:
      return AfterBreak({at}, BreakSpacesOf(n));
    case IrKind::kBlock:
      return OfBlock(n, at);
  }
  return {};
}

IrRecognizer::Places IrRecognizer::After(const Places& from, NodeId node, Spelling spelling) {
  std::set<Place> ends;
  for (const Place at : from) {
    // A copy: computing may grow the table of what is known.
    const Places some = Ends(node, at, spelling);
    ends.insert(some.begin(), some.end());
  }
  return Sorted(ends);
}

IrRecognizer::Places IrRecognizer::AfterByte(const Places& from, char byte) const {
  Places ends;
  for (const Place at : from)
    if (at < text_.size() && text_[at] == byte) ends.push_back(at + 1);
  return ends;
}

IrRecognizer::Places IrRecognizer::AfterBreak(const Places& from, std::uint32_t spaces) const {
  const std::string line = "\n" + std::string(std::size_t{spaces} * depth_, ' ');
  Places ends;
  for (const Place at : from)
    for (const Place end : OfBytes(line, at)) ends.push_back(end);
  return ends;
}

IrRecognizer::Places IrRecognizer::OfBlock(const IrNode& n, Place at) {
  const Places opened = AfterByte({at}, AsBlock(n).open);
  ++depth_;
  const Places lines = After(opened, ir_.children[n.first_child]);
  --depth_;
  return AfterByte(AfterBreak(lines, AsBlock(n).spaces), AsBlock(n).close());
}

IrRecognizer::Places IrRecognizer::OfBytes(const std::string& bytes, Place at) const {
  if (text_.substr(at, bytes.size()) != bytes) return {};
  return {at + static_cast<Place>(bytes.size())};
}

IrRecognizer::Places IrRecognizer::OfText(const std::u32string& text, Place at,
                                          Spelling spelling) const {
  for (const char32_t expected : text) {
    const std::optional<Character> c = Next(at, spelling);
    if (!c.has_value() || c->code_point != expected) return {};
    at = c->end;
  }
  return {at};
}

IrRecognizer::Places IrRecognizer::OfTextSet(const std::vector<std::u32string>& texts, Place at,
                                             Spelling spelling) const {
  std::set<Place> ends;
  for (const std::u32string& text : texts)
    for (const Place end : OfText(text, at, spelling)) ends.insert(end);
  return Sorted(ends);
}

IrRecognizer::Places IrRecognizer::OfNumber(const NumberSpec& spec, Place at) const {
  const absl::string_view rest = text_.substr(at);
  const std::size_t most = std::min(rest.find_first_not_of("0123456789+-.eE"), rest.size());
  Places ends;
  for (std::size_t size = 1; size <= most; ++size)
    if (IsNumberOf(spec, rest.substr(0, size))) ends.push_back(at + static_cast<Place>(size));
  return ends;
}

IrRecognizer::Places IrRecognizer::OfConcat(const IrNode& n, Place at, Spelling spelling) {
  Places ends = {at};
  for (std::uint32_t i = 0; i < n.child_count && !ends.empty(); ++i)
    ends = After(ends, ir_.children[n.first_child + i], spelling);
  return ends;
}

IrRecognizer::Places IrRecognizer::OfAlt(const IrNode& n, Place at, Spelling spelling) {
  std::set<Place> ends;
  for (std::uint32_t i = 0; i < n.child_count; ++i) {
    const Places some = Ends(ir_.children[n.first_child + i], at, spelling);
    ends.insert(some.begin(), some.end());
  }
  return Sorted(ends);
}

// Round by round; without an upper bound it ends when the required rounds are over and a round
// brings no new place.
IrRecognizer::Places IrRecognizer::OfRepeat(const IrNode& n, Place at, Spelling spelling) {
  const NodeId body = ir_.children[n.first_child];
  const auto [min, max] = AsRepeat(n);
  std::set<Place> ends;
  Places round = {at};
  for (std::uint32_t count = 0; !round.empty(); ++count) {
    const std::size_t before = ends.size();
    if (count >= min) ends.insert(round.begin(), round.end());
    if (count == max || (count > min && ends.size() == before)) break;
    // Rounds that match nothing more can go on for ever, but only over the same places.
    if (count > min + text_.size()) break;
    round = After(round, body, spelling);
  }
  return Sorted(ends);
}

IrRecognizer::Places IrRecognizer::OfAnd(const IrNode& n, Place at, Spelling spelling) {
  Places ends = Ends(ir_.children[n.first_child], at, spelling);
  for (std::uint32_t i = 1; i < n.child_count; ++i) {
    const Places more = Ends(ir_.children[n.first_child + i], at, spelling);
    Places both;
    std::set_intersection(ends.begin(), ends.end(), more.begin(), more.end(),
                          std::back_inserter(both));
    ends = std::move(both);
  }
  return ends;
}

IrRecognizer::Places IrRecognizer::OfNot(const IrNode& n, Place at, Spelling spelling) {
  const Places not_these = Ends(ir_.children[n.first_child], at, spelling);
  Places all = {at};
  for (std::optional<Character> c = Next(at, spelling); c.has_value(); c = Next(c->end, spelling))
    all.push_back(c->end);
  Places ends;
  std::set_difference(all.begin(), all.end(), not_these.begin(), not_these.end(),
                      std::back_inserter(ends));
  return ends;
}

IrRecognizer::Places IrRecognizer::OfObject(const ObjectSpec& spec, Place at) {
  std::set<Place> ends;
  std::set<BetweenMembers> seen;
  std::vector<BetweenMembers> queue;
  const auto close = [&](const BetweenMembers& state) {
    if (!MayClose(spec, state)) return;
    const Places before = state.count > 0 ? AfterBreak({state.at}, spec) : Places{state.at};
    for (const Place end : AfterByte(before, spec.close())) ends.insert(end);
  };
  for (const Place place : After(AfterByte({at}, spec.open()), spec.space)) close({place});
  const std::uint32_t around = depth_;
  depth_ = spec.DepthWithin(around);
  for (const Place place : AfterBreak(After(AfterByte({at}, spec.open()), spec.space), spec))
    queue.push_back({place});
  while (!queue.empty()) {
    const BetweenMembers state = std::move(queue.back());
    queue.pop_back();
    for (BetweenMembers next : Member(spec, state)) {
      if (!seen.insert(next).second) continue;
      depth_ = around;
      close(next);
      depth_ = spec.DepthWithin(around);
      const Places behind = After(AfterByte({next.at}, ','), spec.space_after_comma());
      for (const Place place : AfterBreak(behind, spec)) {
        next.at = place;
        queue.push_back(next);
      }
    }
  }
  depth_ = around;
  return Sorted(ends);
}

// Whether no object of `text` has a name twice, which the values of nlohmann's library do not show.
bool HasNamesOnce(absl::string_view text) {
  std::vector<std::set<std::string>> names;
  bool once = true;
  const auto look = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& part) {
    if (event == nlohmann::json::parse_event_t::object_start) names.emplace_back();
    if (event == nlohmann::json::parse_event_t::object_end) names.pop_back();
    if (event == nlohmann::json::parse_event_t::key)
      once &= names.back().insert(part.get<std::string>()).second;
    return true;
  };
  return !nlohmann::json::parse(text.begin(), text.end(), look).is_discarded() && once;
}

// The arrays whose items differ by the judgement of nlohmann's library: numbers by value, objects
// whatever their order.
IrRecognizer::Places IrRecognizer::OfDistinct(const IrNode& n, Place at) {
  Places ends = Ends(ir_.children[n.first_child], at, Spelling::kUtf8);
  std::erase_if(ends, [&](Place end) {
    const std::string text(text_.substr(at, end - at));
    if (!HasNamesOnce(text)) return true;
    const auto array = nlohmann::json::parse(text);
    if (array.is_object()) return false;
    for (auto item = array.begin(); item != array.end(); ++item)
      if (std::find(array.begin(), item, *item) != item) return true;
    return false;
  });
  return ends;
}

bool IrRecognizer::MayClose(const ObjectSpec& spec, const BetweenMembers& state) {
  for (std::size_t i = 0; i < spec.members.size(); ++i)
    if (spec.members[i].required && state.seen.count(i) == 0) return false;
  const auto left = [&](ObjectSpec::Mark mark) { return state.marks.count(mark) > 0; };
  for (const ObjectSpec::Condition& condition : spec.conditions) {
    const auto& [some, unless] = condition;
    if (std::none_of(some.begin(), some.end(), left) &&
        std::all_of(unless.begin(), unless.end(), left)) {
      return false;
    }
  }
  return spec.min_members <= state.count && state.count <= spec.max_members;
}

std::vector<IrRecognizer::BetweenMembers> IrRecognizer::Member(const ObjectSpec& spec,
                                                               const BetweenMembers& from) {
  const Places key = AfterByte({from.at}, '"');
  if (key.empty()) return BareMember(spec, from);
  Place key_end = key.front();
  for (std::optional<Character> c = NextInJson(key_end); c.has_value(); c = NextInJson(key_end))
    key_end = c->end;
  Places colons = After(AfterByte({key_end}, '"'), spec.space);
  if (!spec.is_array) colons = After(AfterByte(colons, ':'), spec.space_after_colon());
  std::vector<BetweenMembers> states = BareMember(spec, from);
  for (auto& [value, state] : ValuesOf(spec, key.front(), key_end, from)) {
    for (const Place end : After(After(colons, value), spec.space)) {
      state.at = end;
      states.push_back(state);
    }
  }
  return states;
}

// Items that are not written as a name; those of a string may begin with a quote as well.
std::vector<IrRecognizer::BetweenMembers> IrRecognizer::BareMember(const ObjectSpec& spec,
                                                                   const BetweenMembers& from) {
  std::vector<BetweenMembers> states;
  for (std::size_t i = 0; i < spec.members.size(); ++i) {
    if (!spec.members[i].bare || from.seen.count(i) > 0) continue;
    BetweenMembers next = from;
    next.seen.insert(i);
    ++next.count;
    for (const Place end : After(After({from.at}, spec.members[i].value), spec.space)) {
      next.at = end;
      states.push_back(next);
    }
  }
  return states;
}

// None where the member whose key stands at [key, key_end) may not stand here.
IrRecognizer::Values IrRecognizer::ValuesOf(const ObjectSpec& spec, Place key, Place key_end,
                                            BetweenMembers from) {
  std::u32string name;
  for (Place at = key; at < key_end;) {
    const Character c = *NextInJson(at);
    name.push_back(static_cast<char32_t>(c.code_point));
    at = c.end;
  }
  Values values;
  ++from.count;
  const auto add = [&](NodeId value, const std::vector<ObjectSpec::Mark>& marks) {
    values.emplace_back(value, from);
    values.back().second.marks.insert(marks.begin(), marks.end());
  };
  for (std::size_t i = 0; i < spec.members.size(); ++i) {
    const ObjectSpec::Member& member = spec.members[i];
    if (member.bare || Utf8ToCodePoints(member.name) != name) continue;
    const bool late = from.others || (!from.seen.empty() && *from.seen.rbegin() > i);
    if (from.seen.count(i) > 0 || (late && !spec.any_order)) return {};
    from.seen.insert(i);
    if (member.ways.empty()) add(member.value, {});
    for (const ObjectSpec::Way& way : member.ways) add(way.value, way.marks);
    return values;
  }
  from.others = true;
  if (spec.is_array && !from.others_seen.insert(name).second) return {};
  for (const ObjectSpec::Others& others : spec.others) {
    const Places ends = Ends(others.name, key, spec.spelling);
    if (std::binary_search(ends.begin(), ends.end(), key_end)) add(others.value, others.marks);
  }
  return values;
}

std::optional<IrRecognizer::Character> IrRecognizer::Next(Place at, Spelling spelling) const {
  if (spelling == Spelling::kJsonString) return NextInJson(at);
  if (spelling == Spelling::kCanonicalJson) {
    const std::optional<Character> next = NextInJson(at);
    if (!next.has_value()) return std::nullopt;
    std::string character;
    AppendUtf8(next->code_point, &character);
    const std::string written = nlohmann::json(character).dump();
    const absl::string_view bytes = absl::string_view(text_).substr(at, next->end - at);
    return absl::string_view(written).substr(1, written.size() - 2) == bytes ? next : std::nullopt;
  }
  std::size_t end = at;
  const std::optional<std::uint32_t> code_point = DecodeUtf8(text_, &end);
  if (!code_point.has_value()) return std::nullopt;
  return Character{*code_point, static_cast<Place>(end)};
}

std::optional<IrRecognizer::Character> IrRecognizer::NextInJson(Place at) const {
  if (at >= text_.size() || text_[at] == '"') return std::nullopt;
  if (static_cast<unsigned char>(text_[at]) < 0x20) return std::nullopt;
  return text_[at] == '\\' ? Escaped(at) : Next(at, Spelling::kUtf8);
}

std::optional<IrRecognizer::Character> IrRecognizer::Escaped(Place at) const {
  const char letter = at + 1 < text_.size() ? text_[at + 1] : '\0';
  for (const Escape& escape : kEscapes)
    if (escape.letter == letter) return Character{escape.code_point, at + 2};
  const std::optional<std::uint32_t> unit = Hex4(at);
  if (!unit.has_value()) return std::nullopt;
  if (*unit < 0xD800 || *unit > 0xDFFF) return Character{*unit, at + 6};
  const std::optional<std::uint32_t> low = Hex4(at + 6);
  if (*unit > 0xDBFF || !low.has_value() || *low < 0xDC00 || *low > 0xDFFF) return std::nullopt;
  return Character{0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00), at + 12};
}

std::optional<std::uint32_t> IrRecognizer::Hex4(Place at) const {
  const absl::string_view escape = text_.substr(std::min<std::size_t>(at, text_.size()), 6);
  std::uint32_t unit = 0;
  if (escape.size() < 6 || escape.substr(0, 2) != "\\u") return std::nullopt;
  for (const char c : escape.substr(2)) {
    if (!absl::ascii_isxdigit(c)) return std::nullopt;
    const int digit = absl::ascii_isdigit(c) ? c - '0' : absl::ascii_tolower(c) - 'a' + 10;
    unit = unit * 16 + static_cast<std::uint32_t>(digit);
  }
  return unit;
}

}  // namespace maskd
