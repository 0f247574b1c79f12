// How an answer to a chat request is read back: the family's texts as symbols, laid out for a
// reader (answer_reader.h). Made of the same family and request as the grammar, once a grammar.
//
// Errors   those of the request; those of the tools' schemas, which are read where arguments are
//          elements.
// Threads  immutable; any number of readers.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_CHAT_ANSWER_PLAN_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_CHAT_ANSWER_PLAN_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/chat/argument_types.h"
#include "grammar_core/frontend/chat/chat_request.h"
#include "grammar_core/frontend/chat/symbols.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/structural_tag/written_style.h"

namespace maskd {

// What reading back needs of a family, so that a reader compares symbols and knows no family.
struct AnswerPlan {
  // What a choice leads to. From kFirstTool on: the call of a tool, by its number in `tools`.
  enum Way : int {
    kReasoning,
    kAnswer,
    kAnswerEnd,
    kSection,
    kSectionEnd,
    kSeparator,
    kMember,
    kArgumentsEnd,
    kLead,
    kCdata,
    kItem,
    kValueEnd,
    kFirstTool
  };

  // A tool of the request; `Way` gives it its number.
  struct Tool {
    std::string name;
    ArgumentTypes types;  // where arguments are elements
  };

  // A call behind its head, which ends where its arguments or a pattern begin.
  struct Part {
    // What the reader has to look for at this part.
    enum class Kind { kText, kName, kPattern, kJson, kMembers, kLiterals };
    Kind kind;
    Symbols text = {};        // kText
    SymbolSearch until = {};  // kPattern: what stands behind it
  };

  // Arguments as elements.
  struct Members {
    WrittenStyleRef written;
    const XmlStyle* style;     // that
    SymbolChoice next;         // another member, or what stands behind them
    SymbolSearch behind_name;  // ends a name
    Symbols before_value;
    SymbolSearch type_end;  // ends a type's name
    SymbolChoice cdata;     // begins a string that stands in a section; empty: none does
    SymbolSearch cdata_end;
    SymbolSearch value_end;
    Symbols close;
    // Where arrays and objects are elements, too:
    SymbolSearch text_end = {};  // ends the text of a value: its own end, or an element within it
    SymbolChoice within = {};    // another member or item, or the value's end
    Symbols item_end = {};       // behind `close`: of an item
    Symbols name_end = {};       // of a member, behind its name
    // The size of a member's begin, where an item begins as a member called "item"; else 0.
    std::uint32_t open_size = 0;
  };

  // Arguments as literals; without a quote of their own those of Python.
  struct Literals {
    char name_end;
    Symbols quote;
    SymbolSearch quote_end;
  };

  // Made of the text of `source`, of kind "chat"; `markers` may be null, as for the grammar.
  static absl::StatusOr<std::shared_ptr<const AnswerPlan>> Make(const GrammarSource& source,
                                                                const MarkerTable* markers,
                                                                const Limits& limits,
                                                                Budget& budget);

  const MarkerTable* markers = nullptr;
  ChatReasoning reasoning = ChatReasoning::kOff;
  SymbolChoice begin;  // reasoning
  SymbolSearch reasoning_end;
  Symbols between;
  // Behind the reasoning: a call, calls, or a framed answer. Empty: free text.
  SymbolChoice start;
  // Whether there may be free text where nothing of `start` comes.
  bool may_be_content = true;
  // Whether calls come out of free text, and free text behind them.
  bool calls_in_content = false;
  bool has_section = false;
  // Ends content: what stands before a call in it, or the end of its frame.
  SymbolSearch content_end;
  Symbols calls_behind;  // one of these ends, where calls follow; empty: none do
  bool content_is_json = false;
  // The same ends behind content that is JSON, without the white space that they begin with.
  SymbolChoice json_ends;
  std::uint32_t trigger_size = 0;  // of a call in free text, in symbols
  SymbolChoice section;
  // What stands before an id that stands before a call's head, and what behind it; empty: none.
  SymbolChoice lead;
  SymbolSearch lead_end;
  SymbolChoice heads;
  SymbolChoice next;  // behind a call
  Symbols separator;
  std::vector<Part> parts;
  std::optional<Members> members;
  std::optional<Literals> literals;
  std::string id;  // ChatFamily::id
  std::vector<Tool> tools;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_CHAT_ANSWER_PLAN_H_
