// Reads an answer back: reasoning, content and calls with their arguments as JSON, as the tokens
// come.
//
// Certain   what stands in the message stays there: a text that may yet become a marker is held
//           back until it is one or is not. Tokens may come in any number at a time; the message is
//           the same, and so is the place where each byte of it becomes certain.
// Rollback  takes back what the last tokens brought.
// Between   two calls, and between content and a call, one text of the family ("separator",
//           "before") belongs to neither; nor does a separator behind the last call.
// Arguments that a family writes as elements become JSON by the tool's schema. A value that may be
//           a string or something else is what its text says as JSON, if the schema allows that,
//           else the string.
// Id        as the family has it, else "call_0", "call_1", ... within the answer.
// Leaving   what is no answer of the family is read up to where it leaves it; the rest is content
//           where the reader is to keep it.
// Cost      linear in the text, whatever its chunks; some 5 bytes of memory a byte of it.
// Threads   one thread; the plan is shared.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_CHAT_ANSWER_READER_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_CHAT_ANSWER_READER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/frontend/chat/answer_plan.h"
#include "grammar_core/frontend/chat/symbols.h"

namespace maskd {

// A call that has begun; its name and arguments grow as tokens come.
struct ChatCall {
  std::string id;
  std::string name;
  std::string arguments;  // the text of a JSON object
  bool operator==(const ChatCall&) const = default;
};

// All that is certain so far.
struct ChatMessage {
  std::string reasoning;
  std::string content;
  std::vector<ChatCall> calls;
  bool operator==(const ChatMessage&) const = default;
};

// How much of a message there is: what lies between two of these is what a step has brought.
struct MessageSize {
  std::size_t reasoning = 0;
  std::size_t content = 0;
  std::size_t calls = 0;
  std::size_t id = 0;         // of the last call
  std::size_t arguments = 0;  // of the last call
  bool operator==(const MessageSize&) const = default;
};

// The sizes as they are now; the texts are not copied.
MessageSize SizeOf(const ChatMessage& message);

// One for each row that reads its answer back.
class AnswerReader {
 public:
  // What becomes of what leaves the family.
  enum class Rest : std::uint8_t { kNothing, kContent };

  // Keeps the plan alive. `rest` says what becomes of a text that is no answer of the family.
  explicit AnswerReader(std::shared_ptr<const AnswerPlan> plan, Rest rest = Rest::kNothing)
      : plan_(std::move(plan)), rest_(rest) {}

  // A token of the vocabulary that the plan's markers are of. One that ends the answer and is no
  // part of it is not to be read.
  void ReadToken(TokenId token);
  // A token of these bytes, none of them a marker.
  void ReadBytes(absl::string_view bytes);
  // A whole text as one token; markers that are spelled in it are markers.
  void ReadText(absl::string_view text);
  // That nothing follows: what is held back is what it looks like. Counts as a token.
  void End();
  // Takes the last `tokens` tokens back. Requires that so many were read.
  void Rollback(std::size_t tokens);

  // Grows with each token, and shrinks only by Rollback().
  [[nodiscard]] const ChatMessage& message() const { return message_; }
  [[nodiscard]] std::size_t tokens() const { return token_begins_.size(); }
  // What it holds in memory, the message's texts counted as a byte of each byte read.
  [[nodiscard]] std::int64_t held_bytes() const {
    return static_cast<std::int64_t>(
        input_.capacity() * sizeof(Symbol) + input_.size() +
        token_begins_.capacity() * sizeof(std::uint32_t) + marks_.size() * sizeof(Mark) +
        frames_.capacity() * sizeof(Frame) + message_.calls.capacity() * sizeof(ChatCall));
  }
  // Whether what was read is no beginning of an answer.
  [[nodiscard]] bool left() const { return state_.stage == Stage::kLeft; }

 private:
  enum class Stage : std::uint8_t {
    kBegin,
    kReasoning,
    kBetween,
    kStart,
    kContent,
    kJsonContent,
    kJsonEnd,
    kSection,
    kLead,
    kLeadId,
    kHead,
    kNext,
    kPart,
    kMember,
    kName,
    kBehindName,
    kValue,
    kCdata,
    kText,
    kHeld,
    kJson,
    kClose,
    kTail,
    kMixed,
    kOpen,
    kWithin,
    kLiterals,
    kLiteralWord,
    kLiteralString,
    kLiteralQuote,
    kLiteralText,
    kDone,
    kLeft,
  };
  enum class Region : std::uint8_t { kReasoning, kContent, kArguments, kArgumentText };

  // Places are numbers of symbols.
  struct Span {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };

  struct State {
    Stage stage = Stage::kBegin;
    std::uint32_t done = 0;  // up to here all is settled
    std::uint32_t scan = 0;  // up to here all is read
    // A search: its node, and a text that was found while a longer one may be.
    SymbolSearch::Node node = 0;
    Span found;
    // A choice.
    bool is_choosing = false;
    SymbolChoice::State choice;
    // A value of JSON.
    std::uint32_t json_depth = 0;
    bool json_begun = false;
    bool in_string = false;
    bool is_escaped = false;
    // A call.
    std::uint32_t behind_call = 0;  // where content begins behind the last one
    std::uint32_t tool = 0;
    std::uint32_t part = 0;
    Span pattern;
    // A member of its arguments.
    Span name;
    ValueTypes types;  // those that its head allows
    ArgumentTypes::Number type = ArgumentTypes::kRoot;
    bool is_item = false;
    std::uint32_t frame = 0;   // of the array or object around it; 0: the arguments
    std::uint32_t frames = 0;  // that there are
    bool is_first_member = true;
    bool is_value_begun = false;
    // A literal.
    Symbol quote = 0;  // that ends a string of Python
    bool is_comma_owed = false;
  };

  // An array or object that is written as elements. What it is within is the frame `around`.
  struct Frame {
    std::uint32_t around;
    ArgumentTypes::Number type;
    Span name;     // of its own element
    bool is_item;  // its element has no name
    bool is_array;
  };

  struct Mark {
    State state;
    MessageSize size;
  };

  // So many tokens are taken back at once; more by reading the rest again.
  static constexpr std::size_t kMarks = 64;

  void BeginToken();
  void Append(const Symbols& symbols) {
    input_.insert(input_.end(), symbols.begin(), symbols.end());
  }
  void Run();
  // Goes on by a stage, or to the next; false where more input is needed.
  bool Advance();
  bool AdvanceCall();
  void Restore(const Mark& mark);

  void Go(Stage stage, std::uint32_t at);
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(input_.size()); }

  // Each is true once it is settled.
  bool Find(const SymbolSearch& search, Span* found);
  bool Choose(const SymbolChoice& choice, int* way);
  bool PassText(const SymbolSearch& search, Region region, Span* found);
  bool PassJson(Region region);
  // Goes on to `next`, or leaves.
  bool PassLiteral(const Symbols& text, Stage next);
  void PassSpace();

  bool Begin();
  bool Start();
  bool Content();
  bool JsonEnd();
  bool Section();
  bool Lead();
  bool LeadId();
  bool Head();
  bool Next();
  bool PartOfCall();
  bool Pattern(const AnswerPlan::Part& part);
  bool Member();
  bool BehindName();
  bool Value();
  bool CdataValue();
  bool HeldValue();
  bool TextValue();
  // What stands behind the close of a value's element.
  bool Tail();
  // A value that may be an array or an object.
  bool MixedValue();
  bool Open();
  bool Within();
  bool AdvanceLiteral();
  bool Literals();
  bool LiteralWord();
  bool LiteralString();
  bool LiteralText();

  // Where a call begins.
  [[nodiscard]] Stage CallStage() const {
    return plan_->lead.empty() ? Stage::kHead : Stage::kLead;
  }
  // Whether what is left is what stands between two calls: a model may write it behind the last.
  [[nodiscard]] bool IsLastSeparator() const;
  void BeginCall(int way);
  void SetCallId(Span pattern);
  void NextPart(std::uint32_t at, std::uint32_t parts = 1);
  [[nodiscard]] const ArgumentTypes& Types() const { return plan_->tools[state_.tool].types; }
  [[nodiscard]] const Frame& Innermost() const { return frames_[state_.frame - 1]; }
  // What a member's name or an item's begin is settled as: the type of what follows.
  void BeginValue();
  // Goes behind a value's element, which is closed up to `at`.
  void EndValue(std::uint32_t at);
  // Writes a value that was held.
  void WriteHeld(const std::string& text);
  // Goes into a member or an item of the innermost frame, which was chosen from `begin` on.
  bool BeginElement(int way, std::uint32_t begin);
  // Whether the value that is read may be of `type`.
  [[nodiscard]] bool Allows(ValueType type) const;
  [[nodiscard]] std::string BytesOf(Span span) const;
  void Emit(Span span, Region region);

  std::shared_ptr<const AnswerPlan> plan_;
  Rest rest_;
  Symbols input_;
  std::vector<std::uint32_t> token_begins_;
  std::deque<Mark> marks_;  // before each of the last tokens
  // All that were opened, closed ones too: a rollback may open them again.
  std::vector<Frame> frames_;
  State state_;
  bool is_ending_ = false;
  ChatMessage message_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_CHAT_ANSWER_READER_H_
