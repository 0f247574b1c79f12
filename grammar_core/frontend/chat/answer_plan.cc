// A family's texts are cut into symbols once, and the reader gets them as choices (what may come
// here) and searches (what ends here). A call is split at its head: what stands before the
// arguments or a pattern is one text for each tool, what stands behind it is a list of parts that
// all tools share.
//
// Invariant  a call's name stands in its head, behind at most an id; other families are refused.
// Cost       one symbol sequence for each tool, and one compile of its schema to IR where arguments
//            are elements.
#include "grammar_core/frontend/chat/answer_plan.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/chat/chat_tag.h"
#include "grammar_core/frontend/json/json_document.h"

namespace maskd {
namespace {

using Kind = ChatFamily::Part::Kind;
using Part = AnswerPlan::Part;
using Text = SymbolChoice::Text;

bool IsInHead(const ChatFamily::Part& part) {
  return part.kind != Kind::kArguments && part.kind != Kind::kPattern;
}

bool IsName(const ChatFamily::Part& part) {
  return part.kind == Kind::kName || part.kind == Kind::kNameInJson;
}

class PlanMaker {
 public:
  PlanMaker(const ChatRequest& request, const GrammarSource& source, const MarkerTable* markers,
            const Limits& limits, Budget& budget)
      : request_(request),
        family_(request.family),
        source_(source),
        limits_(limits),
        budget_(budget),
        plan_(std::make_shared<AnswerPlan>()) {
    plan_->markers = markers;
    source_.options.spelling = SpellingOf(family_);
  }

  absl::StatusOr<std::shared_ptr<const AnswerPlan>> Make() {
    MakeReasoning();
    if (!request_.tools.empty()) {
      if (!absl::c_any_of(HeadParts(), &IsName)) {
        return UnsupportedAt("/family", "reading answers back",
                             "where more than a text and a pattern stand before a call's name");
      }
      if (absl::Status made = MakeCalls(); !made.ok()) return made;
    }
    MakeStart();
    MakeContent();
    return plan_;
  }

 private:
  [[nodiscard]] Symbols Cut(absl::string_view text) const {
    return CutIntoSymbols(text, plan_->markers);
  }

  [[nodiscard]] std::vector<Symbols> CutAll(const std::vector<std::string>& texts) const {
    std::vector<Symbols> all;
    for (const std::string& text : texts)
      if (!text.empty()) all.push_back(Cut(text));
    return all;
  }

  [[nodiscard]] SymbolSearch SearchOf(absl::string_view text) const {
    return text.empty() ? SymbolSearch() : SymbolSearch({Cut(text)});
  }

  void MakeReasoning() {
    plan_->reasoning = request_.reasoning;
    if (!family_.reasoning.has_value()) return;
    plan_->begin = SymbolChoice({{Cut(family_.reasoning->begin), AnswerPlan::kReasoning}});
    plan_->reasoning_end = SymbolSearch(CutAll(family_.reasoning->ends));
    plan_->between = Cut(family_.between);
  }

  void MakeStart() {
    const bool has_format = HasFormat();
    std::vector<Text> ways;
    const bool has_tools = !request_.tools.empty();
    const bool is_framed = family_.answer.has_value();
    if (is_framed && !request_.must_call)
      ways.push_back({Cut(family_.answer->begin), AnswerPlan::kAnswer});
    plan_->calls_in_content = has_tools && !request_.must_call && !has_format && !is_framed;
    if (has_tools && !plan_->calls_in_content) {
      if (family_.section.has_value())
        ways.push_back({Cut(family_.section->begin), AnswerPlan::kSection});
      else
        AddBegins(&ways);
    }
    plan_->start = SymbolChoice(std::move(ways));
    plan_->may_be_content = !request_.must_call && !is_framed;
  }

  [[nodiscard]] bool HasFormat() const {
    if (!request_.response_format.has_value()) return false;
    const std::optional<JsonValue> type = request_.response_format->Find("type");
    return !type.has_value() || type->text() != "text";
  }

  void MakeContent() {
    const bool has_end = family_.answer.has_value() || !family_.content_end.empty();
    plan_->content_is_json =
        has_end && HasFormat() &&
        absl::StartsWith(request_.response_format->Find("type")->text(), "json_");
    if (plan_->content_is_json) MakeJsonEnds();
    if (family_.answer.has_value()) {
      std::vector<std::string> ends = family_.answer->ends;
      if (!request_.tools.empty() && !request_.must_call && !HasFormat()) {
        plan_->calls_behind = Cut(family_.answer->calls);
        ends.push_back(family_.answer->calls);
      }
      plan_->content_end = SymbolSearch(CutAll(ends));
    } else if (plan_->calls_in_content) {
      const Symbols trigger = Cut(family_.trigger);
      plan_->trigger_size = static_cast<std::uint32_t>(trigger.size());
      std::vector<Symbols> ends = {trigger, Cut(absl::StrCat(family_.before, family_.trigger))};
      // Calls without a section stand in free text, what is between them too.
      if (!plan_->has_section) ends.push_back(Cut(family_.separator + family_.trigger));
      if (!family_.content_end.empty()) ends.push_back(Cut(family_.content_end));
      plan_->content_end = SymbolSearch(ends);
    } else if (has_end) {
      plan_->content_end = SymbolSearch({Cut(family_.content_end)});
    }
  }

  void MakeJsonEnds() {
    std::vector<Text> ends;
    const auto add = [&](absl::string_view end) {
      end = absl::StripLeadingAsciiWhitespace(end);
      if (!end.empty()) ends.push_back({Cut(end), AnswerPlan::kAnswerEnd});
    };
    if (family_.answer.has_value())
      for (const std::string& end : family_.answer->ends) add(end);
    else
      add(family_.content_end);
    plan_->json_ends = SymbolChoice(std::move(ends));
  }

  // Whether a call begins with a text and an id.
  [[nodiscard]] bool HasLead() const {
    return family_.call.size() > 2 && family_.call[0].kind == Kind::kText &&
           family_.call[1].kind == Kind::kPattern && family_.call[2].kind == Kind::kText;
  }

  // Where the parts behind a call's head begin.
  [[nodiscard]] std::size_t HeadEnd() const {
    std::size_t at = HasLead() ? 2 : 0;
    while (at < family_.call.size() && IsInHead(family_.call[at])) ++at;
    return at;
  }

  // What of a call stands before its arguments or a pattern, behind an id that it begins with.
  [[nodiscard]] std::span<const ChatFamily::Part> HeadParts() const {
    return std::span(family_.call).first(HeadEnd()).subspan(HasLead() ? 2 : 0);
  }

  static std::string HeadOf(const ChatTool& tool, std::span<const ChatFamily::Part> parts) {
    std::string head;
    for (const ChatFamily::Part& part : parts)
      absl::StrAppend(&head, part.kind == Kind::kText ? part.text : tool.name);
    return head;
  }

  // What a call begins with.
  void AddBegins(std::vector<Text>* ways) const {
    if (HasLead())
      ways->push_back({Cut(family_.call[0].text), AnswerPlan::kLead});
    else
      AddHeads(ways);
  }

  void AddHeads(std::vector<Text>* ways) const {
    int target = AnswerPlan::kFirstTool;
    for (const ChatTool& tool : request_.tools) {
      ways->push_back({Cut(HeadOf(tool, HeadParts())), target});
      for (const std::vector<ChatFamily::Part>& head : family_.other_heads)
        ways->push_back({Cut(HeadOf(tool, head)), target});
      ++target;
    }
  }

  absl::Status MakeCalls() {
    std::vector<Text> heads;
    AddHeads(&heads);
    std::vector<Text> next;
    if (family_.section.has_value()) {
      plan_->has_section = true;
      plan_->section = SymbolChoice({{Cut(family_.section->begin), AnswerPlan::kSection}});
      next.push_back({Cut(family_.section->ends.front()), AnswerPlan::kSectionEnd});
    }
    if (HasLead()) {
      std::vector<Text> leads;
      AddBegins(&leads);
      plan_->lead = SymbolChoice(std::move(leads));
      plan_->lead_end = SearchOf(family_.call[2].text);
    }
    if (family_.separator.empty())
      AddBegins(&next);
    else
      next.push_back({Cut(family_.separator), AnswerPlan::kSeparator});
    plan_->heads = SymbolChoice(std::move(heads));
    plan_->next = SymbolChoice(std::move(next));
    plan_->separator = Cut(family_.separator);
    plan_->id = family_.id;
    MakeParts();
    return MakeTools();
  }

  // The text that stands at `index` of a call; empty where something else does.
  [[nodiscard]] std::string TextAt(std::size_t index) const {
    const bool is_text = index < family_.call.size() && family_.call[index].kind == Kind::kText;
    return is_text ? family_.call[index].text : "";
  }

  void MakeParts() {
    for (std::size_t i = HeadEnd(); i < family_.call.size(); ++i) {
      const ChatFamily::Part& part = family_.call[i];
      if (part.kind == Kind::kText) {
        plan_->parts.push_back({Part::Kind::kText, Cut(part.text)});
      } else if (part.kind == Kind::kPattern) {
        const std::string behind = TextAt(i + 1);
        plan_->parts.push_back({Part::Kind::kPattern, {}, SearchOf(behind.empty() ? "{" : behind)});
      } else if (part.kind != Kind::kArguments) {
        plan_->parts.push_back({Part::Kind::kName});
      } else if (part.style == nullptr) {
        plan_->parts.push_back({Part::Kind::kJson});
      } else if (part.style->literals() != nullptr) {
        plan_->parts.push_back({Part::Kind::kLiterals});
        const ArgumentStyle& style = *part.style->literals();
        plan_->literals = {style.name_end, Cut(style.quote), SearchOf(style.quote)};
      } else {
        plan_->parts.push_back({Part::Kind::kMembers});
        MakeMembers(part.style, TextAt(i + 1));
      }
    }
  }

  void MakeMembers(const WrittenStyleRef& written, absl::string_view behind) {
    const XmlStyle* const style = written->elements();
    // White space before it is passed over.
    const absl::string_view end = absl::StripLeadingAsciiWhitespace(behind);
    std::vector<Text> next = {{Cut(style->open), AnswerPlan::kMember}};
    if (!end.empty()) next.push_back({Cut(end), AnswerPlan::kArgumentsEnd});
    std::vector<Text> cdata;
    if (!style->cdata_begin.empty()) cdata.push_back({Cut(style->cdata_begin), AnswerPlan::kCdata});
    std::vector<Symbols> value_ends = {Cut(style->close)};
    if (!style->pad.empty()) value_ends.push_back(Cut(absl::StrCat(style->pad, style->close)));
    plan_->members = {.written = written,
                      .style = style,
                      .next = SymbolChoice(std::move(next)),
                      .behind_name = SearchOf(style->behind_name),
                      .before_value = Cut(style->before_value),
                      .type_end = SearchOf(style->before_value),
                      .cdata = SymbolChoice(std::move(cdata)),
                      .cdata_end = SearchOf(style->cdata_end),
                      .value_end = SymbolSearch(value_ends),
                      .close = Cut(style->close)};
    if (style->nests()) MakeNesting(*style);
  }

  // What stands within a value that is no text.
  void MakeNesting(const XmlStyle& style) {
    AnswerPlan::Members& members = *plan_->members;
    const Symbols open = Cut(style.open);
    const Symbols item_open = Cut(style.item_open);
    members.text_end = SymbolSearch({open, item_open, members.close});
    members.within = SymbolChoice({{open, AnswerPlan::kMember},
                                   {item_open, AnswerPlan::kItem},
                                   {members.close, AnswerPlan::kValueEnd}});
    members.item_end = Cut(absl::StripPrefix(style.item_close, style.close));
    members.name_end = Cut(style.closes_by_name ? ">" : "");
    if (absl::StartsWith(style.item_open, style.open))
      members.open_size = static_cast<std::uint32_t>(open.size());
  }

  absl::Status MakeTools() {
    for (const ChatTool& tool : request_.tools) {
      plan_->tools.push_back({tool.name, {}});
      if (!plan_->members.has_value()) continue;
      const auto within = plan_->members->style->nests() ? ArgumentTypes::Within::kElements
                                                         : ArgumentTypes::Within::kJson;
      absl::StatusOr<ArgumentTypes> types = ArgumentTypes::Read(
          ArgumentsSchema(request_, tool).text(), within, source_, limits_, budget_);
      if (types.ok())
        plan_->tools.back().types = *std::move(types);
      else if (!request_.leave_out_bad_tools)
        return types.status();
    }
    return absl::OkStatus();
  }

  const ChatRequest& request_;
  const ChatFamily& family_;
  GrammarSource source_;
  const Limits& limits_;
  Budget& budget_;
  std::shared_ptr<AnswerPlan> plan_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const AnswerPlan>> AnswerPlan::Make(const GrammarSource& source,
                                                                   const MarkerTable* markers,
                                                                   const Limits& limits,
                                                                   Budget& budget) {
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(source.text, limits);
  if (!document.ok()) return document.status();
  const absl::StatusOr<ChatRequest> request = ReadChatRequest(document->root());
  if (!request.ok()) return request.status();
  return PlanMaker(*request, source, markers, limits, budget).Make();
}

}  // namespace maskd
