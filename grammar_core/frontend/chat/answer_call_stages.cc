// The stages of an AnswerReader within a call, behind its head: the parts in order, and the members
// of arguments that are elements. The tool's schema says what a member's text is. If it can only be
// a string, it is written out as it comes; if it can be both, it is held until it ends. Arrays and
// objects that are elements themselves are answer_nested_stages.cc.
//
// Invariant  what is written to `arguments` is a prefix of one JSON text, and is never taken back
//            but by Rollback().
// Cost       linear in the symbols; a held value is parsed once.
#include <cassert>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

#include "grammar_core/frontend/chat/answer_reader.h"
#include "grammar_core/frontend/json/json_document.h"

namespace maskd {
namespace {

// The types that some styles write as elements.
const ValueTypes kNestedTypes = ValueTypes()
                                    .set(static_cast<std::size_t>(ValueType::kArray))
                                    .set(static_cast<std::size_t>(ValueType::kObject));

// As xml_style.cc writes them.
std::string WithoutEntities(absl::string_view text) {
  return absl::StrReplaceAll(text,
                             {{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}});
}

}  // namespace

bool AnswerReader::AdvanceCall() {
  State& s = state_;
  Span found;
  switch (s.stage) {
    case Stage::kSection:
      return Section();
    case Stage::kLead:
      return Lead();
    case Stage::kLeadId:
      return LeadId();
    case Stage::kHead:
      return Head();
    case Stage::kNext:
      return Next();
    case Stage::kPart:
      return PartOfCall();
    case Stage::kMember:
      return Member();
    case Stage::kName:
      if (!Find(plan_->members->behind_name, &found)) return false;
      s.name = {s.done, found.begin};
      Go(Stage::kBehindName, found.end);
      return true;
    case Stage::kBehindName:
      return BehindName();
    case Stage::kValue:
      return Value();
    case Stage::kCdata:
      return CdataValue();
    case Stage::kText:
      return TextValue();
    case Stage::kHeld:
      return HeldValue();
    case Stage::kJson:
      if (!PassJson(Region::kArguments)) return false;
      Go(Stage::kClose, s.done);
      return true;
    case Stage::kTail:
      return Tail();
    case Stage::kMixed:
      return MixedValue();
    case Stage::kOpen:
      return Open();
    case Stage::kWithin:
      return Within();
    case Stage::kClose:
      PassSpace();
      return PassLiteral(plan_->members->close,
                         plan_->members->style->nests() ? Stage::kTail : Stage::kMember);
    default:
      return AdvanceLiteral();
  }
}

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
    s.is_item = false;
    Go(Stage::kName, s.done);
    return true;
  }
  if (way == SymbolChoice::kNone && s.done == size()) return false;
  message_.calls.back().arguments.push_back('}');
  NextPart(s.done, way == AnswerPlan::kArgumentsEnd ? 2 : 1);
  return true;
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
  BeginValue();
  return true;
}

void AnswerReader::BeginValue() {
  State& s = state_;
  std::string& arguments = message_.calls.back().arguments;
  if (!s.is_first_member) arguments += ", ";
  s.is_first_member = false;
  if (!s.is_item) {
    std::string name = BytesOf(s.name);
    if (plan_->members->style->escapes_names) name = WithoutEntities(name);
    s.type = Types().MemberOf(s.frame == 0 ? ArgumentTypes::kRoot : Innermost().type, name);
    AppendJsonString(name, &arguments);
    arguments += ": ";
  }
  const ArgumentType& type = Types().At(s.type);
  const bool may_be_text = type.text && s.types.test(0);
  const bool may_nest =
      plan_->members->style->nests() && (type.json & s.types & kNestedTypes).any();
  Go(may_nest ? Stage::kMixed : may_be_text ? Stage::kValue : Stage::kJson, s.done);
}

void AnswerReader::EndValue(std::uint32_t at) {
  Go(plan_->members->style->nests() ? Stage::kTail : Stage::kMember, at);
}

// Begins the value of a member, which may be a string.
bool AnswerReader::Value() {
  assert(plan_->members.has_value() && !message_.calls.empty());
  State& s = state_;
  int way = SymbolChoice::kNone;
  if (!Choose(plan_->members->cdata, &way)) return false;
  const ArgumentType& type = Types().At(s.type);
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
  EndValue(found.end);
  return true;
}

bool AnswerReader::HeldValue() {
  assert(plan_->members.has_value() && !message_.calls.empty());
  State& s = state_;
  const AnswerPlan::Members& members = *plan_->members;
  Span found;
  if (!Find(members.value_end, &found)) return false;
  WriteHeld(BytesOf({s.done, found.end - static_cast<std::uint32_t>(members.close.size())}));
  EndValue(found.end);
  return true;
}

void AnswerReader::WriteHeld(const std::string& text) {
  const State& s = state_;
  std::string& arguments = message_.calls.back().arguments;
  const ArgumentType& type = Types().At(s.type);
  const bool is_nesting = plan_->members->style->nests();
  if (type.IsJson(text, is_nesting ? s.types & ~kNestedTypes : s.types)) {
    absl::StrAppend(&arguments, WithoutSpace(text));
    return;
  }
  absl::string_view value = text;
  const absl::string_view pad = plan_->members->style->pad;
  if (!pad.empty()) {
    absl::ConsumePrefix(&value, pad);
    absl::ConsumeSuffix(&value, pad);
  }
  if (type.listed.contains(WithoutSpace(text))) value = WithoutSpace(text);
  AppendJsonString(value, &arguments);
}

}  // namespace maskd
