// The stages of an AnswerReader within an array or object that is written as elements, as some
// styles do at any depth:
//
//   <days><item>3</item></days><at><city>Oslo</city></at>   {"days": [3], "at": {"city": "Oslo"}}
//
// A value whose schema allows one of these and others is held until an element within it begins, or
// its own ends. An empty value is an empty string where that may be, else an empty array, else an
// empty object.
//
// Invariant  a frame is never changed once it is there, so a rollback has only to count them.
// Cost       linear in the symbols; a frame for each array and object.
#include <algorithm>
#include <cassert>
#include <iterator>
#include <span>

#include "absl/algorithm/container.h"

#include "grammar_core/frontend/chat/answer_reader.h"

namespace maskd {

bool AnswerReader::MixedValue() {
  assert(plan_->members.has_value() && plan_->members->style->nests());
  State& s = state_;
  Span found;
  if (!Find(plan_->members->text_end, &found)) return false;
  const std::string text = BytesOf({s.done, found.begin});
  const auto end = std::span(input_).subspan(found.begin, found.end - found.begin);
  const bool is_empty = WithoutSpace(text).empty();
  if (!std::ranges::equal(end, plan_->members->close)) {
    Go(is_empty ? Stage::kOpen : Stage::kLeft, is_empty ? found.begin : s.done);
    return is_empty;
  }
  const ArgumentType& type = Types().At(s.type);
  if (is_empty && !(type.text && s.types.test(0)))
    message_.calls.back().arguments += Allows(ValueType::kArray) ? "[]" : "{}";
  else
    WriteHeld(text);
  EndValue(found.end);
  return true;
}

bool AnswerReader::Allows(ValueType type) const {
  return (Types().At(state_.type).json & state_.types).test(static_cast<std::size_t>(type));
}

bool AnswerReader::Open() {
  State& s = state_;
  assert(s.frames == frames_.size() && s.frame <= s.frames);
  const std::uint32_t begin = s.done;
  int way = SymbolChoice::kNone;
  if (!Choose(plan_->members->within, &way)) return false;
  const bool is_array = way == AnswerPlan::kItem && Allows(ValueType::kArray);
  if (!is_array && !Allows(ValueType::kObject)) {
    Go(Stage::kLeft, begin);
    return false;
  }
  frames_.push_back({.around = s.frame,
                     .type = s.type,
                     .name = s.name,
                     .is_item = s.is_item,
                     .is_array = is_array});
  s.frame = ++s.frames;
  s.is_first_member = true;
  message_.calls.back().arguments.push_back(is_array ? '[' : '{');
  return BeginElement(way, begin);
}

bool AnswerReader::Within() {
  assert(state_.frame > 0 && state_.frame <= frames_.size());
  State& s = state_;
  PassSpace();
  const std::uint32_t begin = s.done;
  int way = SymbolChoice::kNone;
  if (!Choose(plan_->members->within, &way)) return false;
  if (way != AnswerPlan::kValueEnd) return BeginElement(way, begin);
  const Frame& frame = Innermost();
  message_.calls.back().arguments.push_back(frame.is_array ? ']' : '}');
  s.name = frame.name;
  s.is_item = frame.is_item;
  s.frame = frame.around;
  Go(Stage::kTail, s.done);
  return true;
}

bool AnswerReader::BeginElement(int way, std::uint32_t begin) {
  State& s = state_;
  const Frame& frame = Innermost();
  const std::uint32_t open_size = plan_->members->open_size;
  s.is_item = frame.is_array;
  if (frame.is_array && way == AnswerPlan::kItem) {
    s.type = Types().At(frame.type).items;
    Go(Stage::kBehindName, s.done);
  } else if (!frame.is_array && way == AnswerPlan::kMember) {
    Go(Stage::kName, s.done);
  } else if (!frame.is_array && way == AnswerPlan::kItem && open_size > 0) {
    Go(Stage::kName, begin + open_size);
  } else {
    Go(Stage::kLeft, begin);
    return false;
  }
  return true;
}

bool AnswerReader::Tail() {
  assert(plan_->members.has_value() && !message_.calls.empty());
  const State& s = state_;
  const AnswerPlan::Members& members = *plan_->members;
  Symbols end = members.item_end;
  if (!s.is_item) {
    end.clear();
    if (members.style->closes_by_name)
      end.assign(input_.begin() + s.name.begin, input_.begin() + s.name.end);
    absl::c_copy(members.name_end, std::back_inserter(end));
  }
  return PassLiteral(end, s.frame == 0 ? Stage::kMember : Stage::kWithin);
}

}  // namespace maskd
