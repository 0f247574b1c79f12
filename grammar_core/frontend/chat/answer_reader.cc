// A machine of stages over the symbols of the answer. A stage either settles something and says
// where the next one goes on, or waits. `done` is where the symbols that are not settled begin:
// what lies between it and the end is held back. A symbol is looked at again only where a stage
// hands it back, and those are fewer than the family's longest text.
//
// Invariant  done <= scan <= the end of the input; what is in the message is settled.
// Cost       linear in the text; Rollback() past kMarks tokens reads the answer again.
#include "grammar_core/frontend/chat/answer_reader.h"

#include <algorithm>
#include <cassert>
#include <span>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

#include "grammar_core/frontend/json/json_document.h"

namespace maskd {
namespace {

bool IsSpace(Symbol symbol) {
  return symbol == ' ' || symbol == '\t' || symbol == '\n' || symbol == '\r';
}

}  // namespace

MessageSize SizeOf(const ChatMessage& message) {
  MessageSize size = {.reasoning = message.reasoning.size(),
                      .content = message.content.size(),
                      .calls = message.calls.size()};
  if (message.calls.empty()) return size;
  size.id = message.calls.back().id.size();
  size.arguments = message.calls.back().arguments.size();
  return size;
}

void AnswerReader::ReadToken(TokenId token) {
  assert(plan_->markers != nullptr);
  const MarkerTable& markers = *plan_->markers;
  const absl::string_view bytes = markers.vocabulary().TokenBytes(token);
  if (markers.Find(bytes) != token) return ReadBytes(bytes);
  BeginToken();
  input_.push_back(kFirstMarker + static_cast<Symbol>(token));
  Run();
}

void AnswerReader::ReadBytes(absl::string_view bytes) {
  BeginToken();
  for (const char byte : bytes) input_.push_back(static_cast<unsigned char>(byte));
  Run();
}

void AnswerReader::ReadText(absl::string_view text) {
  BeginToken();
  Append(CutIntoSymbols(text, plan_->markers));
  Run();
}

void AnswerReader::End() {
  BeginToken();
  is_ending_ = true;
  Run();
  is_ending_ = false;
}

void AnswerReader::BeginToken() {
  token_begins_.push_back(size());
  marks_.push_back({state_, SizeOf(message_)});
  if (marks_.size() > kMarks) marks_.pop_front();
}

void AnswerReader::Run() {
  while (Advance()) {
  }
  const bool is_over = state_.stage == Stage::kLeft || state_.stage == Stage::kDone;
  if (!is_over || rest_ == Rest::kNothing) return;
  Emit({state_.done, size()}, Region::kContent);
  Go(state_.stage, size());
}

void AnswerReader::Rollback(std::size_t tokens) {
  assert(tokens <= token_begins_.size());
  if (tokens == 0) return;
  const std::size_t left = token_begins_.size() - tokens;
  const std::uint32_t begin = token_begins_[left];
  token_begins_.resize(left);
  input_.resize(begin);
  if (tokens <= marks_.size()) {
    Restore(marks_[marks_.size() - tokens]);
    marks_.erase(marks_.end() - static_cast<std::ptrdiff_t>(tokens), marks_.end());
    return;
  }
  // Once more from the start; an end that was taken back leaves no trace.
  marks_.clear();
  frames_.clear();
  state_ = State();
  message_ = ChatMessage();
  Run();
}

void AnswerReader::Restore(const Mark& mark) {
  assert(mark.size.calls <= message_.calls.size());
  state_ = mark.state;
  frames_.resize(state_.frames);
  message_.reasoning.resize(mark.size.reasoning);
  message_.content.resize(mark.size.content);
  message_.calls.resize(mark.size.calls);
  if (message_.calls.empty()) return;
  message_.calls.back().id.resize(mark.size.id);
  message_.calls.back().arguments.resize(mark.size.arguments);
}

bool AnswerReader::Advance() {
  State& s = state_;
  Span found;
  switch (s.stage) {
    case Stage::kBegin:
      return Begin();
    case Stage::kReasoning:
      if (!PassText(plan_->reasoning_end, Region::kReasoning, &found)) return false;
      Go(Stage::kBetween, found.end);
      return true;
    case Stage::kBetween:
      return PassLiteral(plan_->between, Stage::kStart);
    case Stage::kStart:
      return Start();
    case Stage::kContent:
      return Content();
    case Stage::kJsonContent:
      if (!PassJson(Region::kContent)) return false;
      Go(Stage::kJsonEnd, s.done);
      return true;
    case Stage::kJsonEnd:
      return JsonEnd();
    case Stage::kDone:
    case Stage::kLeft:
      return false;
    default:
      return AdvanceCall();
  }
}

void AnswerReader::Go(Stage stage, std::uint32_t at) {
  assert(at <= size());
  state_.stage = stage;
  state_.done = at;
  state_.scan = at;
  state_.node = 0;
  state_.is_choosing = false;
}

bool AnswerReader::Find(const SymbolSearch& search, Span* found) {
  State& s = state_;
  bool is_settled = false;
  while (s.scan < size() && !is_settled) {
    const Symbol symbol = input_[s.scan];
    const bool may_be_longer = s.found.end != 0;
    const SymbolSearch::Node next =
        may_be_longer ? search.Child(s.node, symbol) : search.Step(s.node, symbol);
    if (may_be_longer && next == 0) {
      is_settled = true;
      break;
    }
    s.node = next;
    ++s.scan;
    const std::uint32_t length = search.Found(next);
    if (length > 0) s.found = {s.scan - length, s.scan};
    is_settled = s.found.end != 0 && !search.HasChildren(next);
  }
  if (!is_settled && !(is_ending_ && s.found.end != 0)) return false;
  *found = s.found;
  s.found = {};
  return true;
}

bool AnswerReader::PassText(const SymbolSearch& search, Region region, Span* found) {
  State& s = state_;
  const bool is_found = Find(search, found);
  // A text that was found may be the end of a longer one that is not whole yet.
  const std::uint32_t held = s.scan - search.Depth(s.node);
  const std::uint32_t to = is_found ? found->begin : is_ending_ ? size() : held;
  Emit({s.done, to}, region);
  s.done = to;
  return is_found;
}

bool AnswerReader::Choose(const SymbolChoice& choice, int* way) {
  State& s = state_;
  if (!s.is_choosing) {
    s.choice = choice.Begin();
    s.is_choosing = true;
  }
  bool is_settled = choice.empty();
  while (!is_settled && s.scan < size()) is_settled = !choice.Step(input_[s.scan++], &s.choice);
  if (!is_settled && !is_ending_) return false;
  *way = s.choice.best;
  s.is_choosing = false;
  s.done += *way == SymbolChoice::kNone ? 0 : s.choice.best_depth;
  s.scan = s.done;
  return true;
}

bool AnswerReader::PassLiteral(const Symbols& text, Stage next) {
  assert(state_.done <= state_.scan && state_.scan <= size());
  State& s = state_;
  std::uint32_t at = s.scan - s.done;
  for (; at < text.size() && s.scan < size(); ++at, ++s.scan) {
    if (input_[s.scan] == text[at]) continue;
    Go(Stage::kLeft, s.done);
    return false;
  }
  if (at < text.size()) return false;
  Go(next, s.scan);
  return true;
}

void AnswerReader::PassSpace() {
  State& s = state_;
  if (s.scan != s.done) return;
  while (s.done < size() && IsSpace(input_[s.done])) ++s.done;
  s.scan = s.done;
}

bool AnswerReader::PassJson(Region region) {
  State& s = state_;
  bool has_ended = false;
  if (!s.json_begun) PassSpace();
  std::uint32_t at = s.done;
  for (; at < size() && !has_ended; ++at) {
    const Symbol symbol = input_[at];
    s.json_begun = true;
    if (s.in_string) {
      const bool closes = symbol == '"' && !s.is_escaped;
      s.is_escaped = symbol == '\\' && !s.is_escaped;
      s.in_string = !closes;
      has_ended = closes && s.json_depth == 0;
    } else if (symbol == '"') {
      s.in_string = true;
    } else if (symbol == '{' || symbol == '[') {
      ++s.json_depth;
    } else if (s.json_depth == 0) {
      // A number or a word.
      const bool is_of_it = symbol < 128 && (absl::ascii_isalnum(static_cast<char>(symbol)) ||
                                             symbol == '-' || symbol == '+' || symbol == '.');
      if (is_of_it) continue;
      has_ended = true;
      break;
    } else if (symbol == '}' || symbol == ']') {
      has_ended = --s.json_depth == 0;
    }
  }
  Emit({s.done, at}, region);
  s.done = at;
  s.scan = at;
  if (!has_ended && !(is_ending_ && s.json_begun && s.json_depth == 0 && !s.in_string))
    return false;
  s.json_begun = false;
  return true;
}

bool AnswerReader::Begin() {
  switch (plan_->reasoning) {
    case ChatReasoning::kOff:
      Go(Stage::kStart, 0);
      return true;
    case ChatReasoning::kOpen:
      Go(Stage::kReasoning, 0);
      return true;
    default:
      break;
  }
  int way = SymbolChoice::kNone;
  if (!Choose(plan_->begin, &way)) return false;
  const bool is_reasoning = way == AnswerPlan::kReasoning;
  if (!is_reasoning && plan_->reasoning == ChatReasoning::kOn)
    Go(Stage::kLeft, state_.done);
  else
    Go(is_reasoning ? Stage::kReasoning : Stage::kStart, state_.done);
  return true;
}

bool AnswerReader::Start() {
  int way = SymbolChoice::kNone;
  if (!Choose(plan_->start, &way)) return false;
  const std::uint32_t at = state_.done;
  switch (way) {
    case AnswerPlan::kAnswer:
      Go(plan_->content_is_json ? Stage::kJsonContent : Stage::kContent, at);
      break;
    case AnswerPlan::kSection:
      Go(CallStage(), at);
      break;
    case SymbolChoice::kNone:
      Go(!plan_->may_be_content   ? Stage::kLeft
         : plan_->content_is_json ? Stage::kJsonContent
                                  : Stage::kContent,
         at);
      break;
    default:
      BeginCall(way);
  }
  return true;
}

bool AnswerReader::IsLastSeparator() const {
  const State& s = state_;
  return !message_.calls.empty() && s.behind_call == s.done && s.done < size() &&
         std::ranges::equal(plan_->separator, std::span(input_).subspan(s.done));
}

bool AnswerReader::Content() {
  Span found;
  if (is_ending_ && IsLastSeparator()) {
    Go(Stage::kDone, size());
    return false;
  }
  if (!PassText(plan_->content_end, Region::kContent, &found)) return false;
  const auto end = std::span(input_).subspan(found.begin, found.end - found.begin);
  const bool leads_on = std::ranges::equal(plan_->calls_behind, end);
  const bool begins_call = plan_->calls_in_content && end.size() >= plan_->trigger_size;
  if (!leads_on && !begins_call) {
    Go(Stage::kDone, found.end);
    return false;
  }
  assert((!leads_on || plan_->trigger_size == 0) && "it is no part of the calls");
  Go(plan_->has_section ? Stage::kSection : CallStage(), found.end - plan_->trigger_size);
  return true;
}

// What ends the frame is no content, whether what follows is kept or not.
bool AnswerReader::JsonEnd() {
  PassSpace();
  int way = SymbolChoice::kNone;
  if (Choose(plan_->json_ends, &way)) Go(Stage::kDone, state_.done);
  return false;
}

bool AnswerReader::Section() {
  int way = SymbolChoice::kNone;
  if (!Choose(plan_->section, &way)) return false;
  Go(way == SymbolChoice::kNone ? Stage::kLeft : CallStage(), state_.done);
  return true;
}

bool AnswerReader::Lead() {
  int way = SymbolChoice::kNone;
  if (!Choose(plan_->lead, &way)) return false;
  Go(way == SymbolChoice::kNone ? Stage::kLeft : Stage::kLeadId, state_.done);
  return true;
}

bool AnswerReader::LeadId() {
  Span found;
  if (!Find(plan_->lead_end, &found)) return false;
  state_.pattern = {state_.done, found.begin};
  Go(Stage::kHead, found.begin);
  return true;
}

bool AnswerReader::Head() {
  int way = SymbolChoice::kNone;
  if (!Choose(plan_->heads, &way)) return false;
  if (way == SymbolChoice::kNone)
    Go(Stage::kLeft, state_.done);
  else
    BeginCall(way);
  return true;
}

bool AnswerReader::Next() {
  if (!plan_->has_section && plan_->calls_in_content) {
    state_.behind_call = state_.done;
    Go(Stage::kContent, state_.done);
    return true;
  }
  int way = SymbolChoice::kNone;
  if (!Choose(plan_->next, &way)) return false;
  if (way == AnswerPlan::kSeparator) {
    Go(CallStage(), state_.done);
  } else if (way >= AnswerPlan::kLead) {
    BeginCall(way);
  } else {
    const bool ends = way == AnswerPlan::kSectionEnd || state_.done == size();
    Go(ends ? Stage::kDone : Stage::kLeft, state_.done);
  }
  return true;
}

void AnswerReader::BeginCall(int way) {
  State& s = state_;
  if (way == AnswerPlan::kLead) return Go(Stage::kLeadId, s.done);
  assert(way >= AnswerPlan::kFirstTool);
  s.tool = static_cast<std::uint32_t>(way - AnswerPlan::kFirstTool);
  assert(s.tool < plan_->tools.size());
  s.part = 0;
  s.frame = 0;
  s.is_first_member = true;
  message_.calls.push_back({.id = "", .name = plan_->tools[s.tool].name, .arguments = ""});
  if (plan_->id.empty())
    message_.calls.back().id = absl::StrCat("call_", message_.calls.size() - 1);
  else if (!plan_->lead.empty())
    SetCallId(s.pattern);
  Go(Stage::kPart, s.done);
}

void AnswerReader::SetCallId(Span pattern) {
  ChatCall& call = message_.calls.back();
  call.id =
      absl::StrReplaceAll(plan_->id, {{"{name}", call.name}, {"{pattern}", BytesOf(pattern)}});
}

void AnswerReader::NextPart(std::uint32_t at, std::uint32_t parts) {
  state_.part += parts;
  Go(Stage::kPart, at);
}

std::string AnswerReader::BytesOf(Span span) const {
  std::string bytes;
  for (std::uint32_t i = span.begin; i < span.end; ++i) {
    const Symbol symbol = input_[i];
    if (symbol < kFirstMarker) {
      bytes.push_back(static_cast<char>(symbol));
    } else {
      assert(plan_->markers != nullptr);
      const auto token = static_cast<TokenId>(symbol - kFirstMarker);
      const absl::string_view spelled = plan_->markers->vocabulary().TokenBytes(token);
      bytes.append(spelled.data(), spelled.size());
    }
  }
  return bytes;
}

void AnswerReader::Emit(Span span, Region region) {
  if (span.begin >= span.end) return;
  assert(span.end <= size());
  const std::string bytes = BytesOf(span);
  switch (region) {
    case Region::kReasoning:
      message_.reasoning += bytes;
      break;
    case Region::kContent:
      message_.content += bytes;
      break;
    case Region::kArguments:
      message_.calls.back().arguments += bytes;
      break;
    case Region::kArgumentText: {
      const std::string quoted = JsonString(bytes);
      message_.calls.back().arguments.append(quoted, 1, quoted.size() - 2);
      break;
    }
  }
}

}  // namespace maskd
