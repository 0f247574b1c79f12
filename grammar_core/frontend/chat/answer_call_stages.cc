// The stages of an AnswerReader within a call, behind its head: the parts in order, and the members
// of arguments that are elements. The tool's schema says what a member's text is. If it can only be
// a string, it is written out as it comes; if it can be both, it is held until it ends.
//
// Invariant  what is written to `arguments` is a prefix of one JSON text, and is never taken back
//            but by Rollback().
// Cost       linear in the symbols; a held value is parsed once.
#include <cassert>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "grammar_core/frontend/chat/answer_reader.h"
#include "grammar_core/frontend/json/json_document.h"

namespace maskd {

bool AnswerReader::PartOfCall() {
  using Kind = AnswerPlan::Part::Kind;
  State& s = state_;
  if (s.part >= plan_->parts.size()) {
    Go(Stage::kNext, s.done);
    return true;
  }
  const AnswerPlan::Part& part = plan_->parts[s.part];
  switch (part.kind) {
    case Kind::kText:
      if (!PassLiteral(part.text, Stage::kPart)) return false;
      ++s.part;
      return true;
    case Kind::kName:
      if (!PassLiteral(CutIntoSymbols(plan_->tools[s.tool].name, nullptr), Stage::kPart))
        return false;
      ++s.part;
      return true;
    case Kind::kPattern:
      return Pattern(part);
    case Kind::kJson:
      if (!PassJson(Region::kArguments)) return false;
      NextPart(s.done);
      return true;
    case Kind::kMembers:
      message_.calls.back().arguments.push_back('{');
      Go(Stage::kMember, s.done);
      return true;
    case Kind::kLiterals:
      message_.calls.back().arguments.push_back('{');
      s.is_comma_owed = false;
      Go(Stage::kLiterals, s.done);
      return true;
  }
  return false;
}

bool AnswerReader::Pattern(const AnswerPlan::Part& part) {
  assert(part.kind == AnswerPlan::Part::Kind::kPattern && !message_.calls.empty());
  State& s = state_;
  Span found;
  if (!Find(part.until, &found)) return false;
  if (!plan_->id.empty()) SetCallId({s.done, found.begin});
  NextPart(found.begin);
  return true;
}

bool AnswerReader::Member() {
  assert(plan_->members.has_value() && !message_.calls.empty());
  State& s = state_;
  PassSpace();
  int way = SymbolChoice::kNone;
  if (!Choose(plan_->members->next, &way)) return false;
  if (way == AnswerPlan::kMember) {
    Go(Stage::kName, s.done);
    return true;
  }
  if (way == SymbolChoice::kNone && s.done == size()) return false;
  message_.calls.back().arguments.push_back('}');
  NextPart(s.done, way == AnswerPlan::kArgumentsEnd ? 2 : 1);
  return true;
}

const ArgumentType& AnswerReader::TypeOfMember() const {
  assert(state_.tool < plan_->tools.size());
  return plan_->tools[state_.tool].types.Of(BytesOf(state_.name));
}

bool AnswerReader::BehindName() {
  assert(plan_->members.has_value() && !message_.calls.empty());
  State& s = state_;
  const AnswerPlan::Members& members = *plan_->members;
  ValueTypes types = ValueTypes().set();
  if (members.style->space_in_head) PassSpace();
  if (members.style->type_names[0].empty()) {
    if (!PassLiteral(members.before_value, Stage::kBehindName)) return false;
  } else {
    Span found;
    if (!Find(members.type_end, &found)) return false;
    const std::string name = BytesOf({s.done, found.begin});
    for (std::size_t i = 0; i < types.size(); ++i)
      types.set(i, members.style->type_names[i] == name);
    s.done = found.end;
  }
  s.types = types;
  std::string& arguments = message_.calls.back().arguments;
  if (!s.is_first_member) arguments += ", ";
  s.is_first_member = false;
  AppendJsonString(BytesOf(s.name), &arguments);
  arguments += ": ";
  const bool may_be_text = TypeOfMember().text && types.test(0);
  Go(may_be_text ? Stage::kValue : Stage::kJson, s.done);
  return true;
}

// Of a member that may be a string.
bool AnswerReader::Value() {
  assert(plan_->members.has_value() && !message_.calls.empty());
  State& s = state_;
  int way = SymbolChoice::kNone;
  if (!Choose(plan_->members->cdata, &way)) return false;
  const ArgumentType& type = TypeOfMember();
  const bool may_be_json = (type.json & s.types).any();
  const bool is_cdata = way == AnswerPlan::kCdata;
  if (!is_cdata && (may_be_json || !type.endless)) {
    Go(Stage::kHeld, s.done);
    return true;
  }
  message_.calls.back().arguments.push_back('"');
  s.is_value_begun = false;
  Go(is_cdata ? Stage::kCdata : Stage::kText, s.done);
  return true;
}

bool AnswerReader::CdataValue() {
  assert(plan_->members.has_value() && !message_.calls.empty());
  Span found;
  if (!PassText(plan_->members->cdata_end, Region::kArgumentText, &found)) return false;
  message_.calls.back().arguments.push_back('"');
  Go(Stage::kClose, found.end);
  return true;
}

bool AnswerReader::TextValue() {
  assert(plan_->members.has_value() && !message_.calls.empty());
  State& s = state_;
  const AnswerPlan::Members& members = *plan_->members;
  const absl::string_view pad = members.style->pad;
  if (!s.is_value_begun) {
    if (s.done == size()) return false;
    s.is_value_begun = true;
    const bool is_padded = !pad.empty() && input_[s.done] == static_cast<unsigned char>(pad[0]);
    if (is_padded) Go(Stage::kText, s.done + 1);
  }
  Span found;
  if (!PassText(members.value_end, Region::kArgumentText, &found)) return false;
  message_.calls.back().arguments.push_back('"');
  Go(Stage::kMember, found.end);
  return true;
}

bool AnswerReader::HeldValue() {
  assert(plan_->members.has_value() && !message_.calls.empty());
  State& s = state_;
  const AnswerPlan::Members& members = *plan_->members;
  Span found;
  if (!Find(members.value_end, &found)) return false;
  std::string text =
      BytesOf({s.done, found.end - static_cast<std::uint32_t>(members.close.size())});
  std::string& arguments = message_.calls.back().arguments;
  ArgumentType type = TypeOfMember();
  type.json &= s.types;
  if (type.IsJson(text)) {
    absl::StrAppend(&arguments, WithoutSpace(text));
  } else {
    absl::string_view value = text;
    const absl::string_view pad = members.style->pad;
    if (!pad.empty()) {
      absl::ConsumePrefix(&value, pad);
      absl::ConsumeSuffix(&value, pad);
    }
    if (type.listed.contains(WithoutSpace(text))) value = WithoutSpace(text);
    AppendJsonString(value, &arguments);
  }
  Go(Stage::kMember, found.end);
  return true;
}

}  // namespace maskd
