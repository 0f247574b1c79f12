// Held against a reader of few lines that tries every way to cut a short text into free texts,
// triggers and what they lead to.
#include "grammar_core/frontend/structural_tag/text_dispatch.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "grammar_core/base/utf8.h"
#include "tests/structural_tag/tag_parts.h"

namespace maskd {
namespace {

struct DispatchCase {
  const char* name;
  std::vector<std::pair<std::string, std::string>> rules;  // a trigger, and what must follow
  std::vector<std::string> excludes = {};
  bool loop = true;
  absl::string_view alphabet = "ab!";
};

bool HoldsOneOf(absl::string_view text, const std::vector<std::string>& excludes) {
  return absl::c_any_of(
      excludes, [&](const std::string& excluded) { return absl::StrContains(text, excluded); });
}

bool IsUtf8(absl::string_view text) { return Utf8ToCodePoints(text).has_value(); }

class PlainReader {
 public:
  PlainReader(const DispatchCase& dispatch, absl::string_view text)
      : dispatch_(dispatch), text_(text) {}

  bool Accepts() {
    starts_ = {0};
    for (const std::size_t start : starts_) {
      // What is free to its end.
      if ((dispatch_.loop || start == 0) && FirstTrigger(start) == kNone &&
          !HoldsOneOf(text_.substr(start), dispatch_.excludes))
        return true;
      for (const auto& [trigger, behind] : dispatch_.rules)
        if (LeavesBy(start, trigger, behind)) return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t kNone = absl::string_view::npos;

  // Where the first trigger at or behind `start` begins.
  std::size_t FirstTrigger(std::size_t start) const {
    std::size_t first = kNone;
    for (const auto& [trigger, behind] : dispatch_.rules)
      first = std::min(first, text_.find(trigger, start));
    return first;
  }

  // Notes where free text may go on; whether the text ends there and no free text is wanted.
  bool LeavesBy(std::size_t start, absl::string_view trigger, absl::string_view behind) {
    for (std::size_t at = text_.find(trigger, start); at != kNone;
         at = text_.find(trigger, at + 1)) {
      const std::size_t end = at + trigger.size();
      const absl::string_view head = text_.substr(0, end);
      const bool is_later = PlainReader(dispatch_, head).FirstTrigger(start) < at;
      if (is_later || HoldsOneOf(head.substr(start), dispatch_.excludes)) continue;
      if (!absl::StartsWith(text_.substr(end), behind)) continue;
      if (dispatch_.loop)
        starts_.insert(end + behind.size());
      else if (end + behind.size() == text_.size())
        return true;
    }
    return false;
  }

  const DispatchCase& dispatch_;
  const absl::string_view text_;
  std::set<std::size_t> starts_;  // grows behind the place that is looked at
};

class TextDispatchTest : public testing::TestWithParam<DispatchCase> {};

TEST_P(TextDispatchTest, TakesWhatAPlainReaderTakes) {
  TagParts parts;
  TextDispatch dispatch = {.excludes = GetParam().excludes, .loop = GetParam().loop};
  for (const auto& [trigger, behind] : GetParam().rules)
    dispatch.triggers.push_back({trigger, parts.builder.Bytes(behind)});
  const absl::StatusOr<NodeId> node = MakeTextDispatch(dispatch, parts.budget, parts.builder);
  ASSERT_TRUE(node.ok()) << node.status();
  const GrammarIr ir = parts.GrammarOf(*node);
  IrRecognizer recognizer(ir);
  for (const std::string& text : TextsOver(GetParam().alphabet, 6)) {
    const bool accepts = IsUtf8(text) && PlainReader(GetParam(), text).Accepts();
    EXPECT_EQ(recognizer.Accepts(text), accepts) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Triggers, TextDispatchTest,
    testing::ValuesIn(std::vector<DispatchCase>{
        {"Apart", {{"a", "!"}, {"bb", "!"}}},
        {"Once", {{"ab", "!"}}, {}, false},
        {"OverlapsItself", {{"aa", "!"}}},
        {"OverlapsItselfOnce", {{"aba", "!"}}, {}, false},
        {"OneBeginsWithAnother", {{"a", "!"}, {"ab", "a"}}},
        {"OneEndsWithAnother", {{"b", "!"}, {"ab", "a"}}},
        {"OneHoldsAnother", {{"aba", "!"}, {"b", "a"}}},
        {"EndOfOneBeginsAnother", {{"ab", "!"}, {"ba", "b"}}},
        {"TheSameTwice", {{"a", "!"}, {"a", "b"}}},
        {"BehindHoldsATrigger", {{"a", "ab"}}},
        {"BehindIsABeginning", {{"ab", "a"}}},
        {"NothingBehind", {{"ab", ""}}},
        {"Excludes", {{"ab", "!"}}, {"b!", "aa"}},
        {"ExcludedTrigger", {{"ab", "!"}, {"b", "a"}}, {"ab"}},
        {"ExcludedInATrigger", {{"abb", "!"}}, {"b"}},
        {"ExcludedEndBeginsATrigger", {{"ab", "!"}}, {"ba"}},
        {"ExcludedHoldsATrigger", {{"a", "!"}}, {"bab"}},
        {"ExcludedEndsWithATrigger", {{"b", "!"}}, {"ab"}},
        {"NoTrigger", {}, {"ab"}},
        {"Nothing", {}},
        {"Characters", {{"\xc3\xa9", "!"}, {"a\xc3\xa9", "a"}}, {}, true, "a!\xc3\xa9"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(TextDispatch, WaysWithAMarkerStandBesideThoseOfTriggers) {
  for (const bool with_trigger : {true, false}) {
    TagParts parts;
    TextDispatch dispatch = {.marked = {parts.builder.Bytes("[m]")}, .excludes = {"["}};
    if (with_trigger) dispatch.triggers = {{"a", parts.builder.Bytes("!")}};
    const auto node = MakeTextDispatch(dispatch, parts.budget, parts.builder);
    ASSERT_TRUE(node.ok()) << node.status();
    const GrammarIr ir = parts.GrammarOf(*node);
    IrRecognizer recognizer(ir);
    EXPECT_TRUE(recognizer.Accepts("b[m]b[m]"));
    EXPECT_TRUE(recognizer.Accepts("b[m]a!"));
    EXPECT_EQ(recognizer.Accepts("a"), !with_trigger);
    EXPECT_FALSE(recognizer.Accepts("b[n]"));
  }
}

TEST(BeginningsOfSoonerEnds, AreWhatAnotherEndBeginsWith) {
  using Texts = std::vector<std::string>;
  const auto sooner = [](const Texts& ends, const MarkerTable* markers = nullptr) {
    TagParts parts(markers);
    return *BeginningsOfSoonerEnds(ends, parts.speller, parts.budget);
  };
  EXPECT_EQ(sooner({}), std::vector<Texts>{});
  EXPECT_EQ(sooner({"```"}), (std::vector<Texts>{{"`", "``"}}));
  EXPECT_EQ(sooner({"aba"}), (std::vector<Texts>{{"ab"}}));
  EXPECT_EQ(sooner({"xy", "yyz"}), (std::vector<Texts>{{}, {"x"}}));
  EXPECT_EQ(sooner({"xy", "y"}), (std::vector<Texts>{{}, {}}));  // they end together
  EXPECT_EQ(sooner({"x", "xy"}), (std::vector<Texts>{{}, {}}));  // they begin together
  // Of a marker's spelling no part is text.
  EXPECT_EQ(sooner({"a<", "<call>b"}), (std::vector<Texts>{{}, {"a"}}));
  EXPECT_EQ(sooner({"a<", "<call>b"}, &CallMarkers()), (std::vector<Texts>{{}, {}}));
  EXPECT_EQ(sooner({"a<call>", "<call>b"}, &CallMarkers()), (std::vector<Texts>{{}, {"a"}}));
  EXPECT_EQ(sooner({"<call>a", "ab"}, &CallMarkers()), (std::vector<Texts>{{}, {}}));
}

TEST(BeginningsOfSoonerEnds, TheBudgetPaysForThem) {
  const std::atomic<bool> cancelled = true;
  Budget none({.cancelled = &cancelled});
  const TagParts parts;
  EXPECT_TRUE(absl::IsCancelled(BeginningsOfSoonerEnds({"ab"}, parts.speller, none).status()));
}

TEST(FreeText, EndsWithNoneOfSomeTexts) {
  TagParts parts;
  const GrammarIr ir = parts.GrammarOf(
      parts.builder.Encode(Spelling::kUtf8, FreeText({"ab"}, parts.builder, {"b!", "a"})));
  IrRecognizer recognizer(ir);
  for (const std::string& text : TextsOver("ab!", 5)) {
    const bool ends = absl::EndsWith(text, "b!") || absl::EndsWith(text, "a");
    EXPECT_EQ(recognizer.Accepts(text), !HoldsOneOf(text, {"ab"}) && !ends) << text;
  }
}

TEST(FreeText, HoldsNoneOfSomeTexts) {
  TagParts parts;
  const GrammarIr ir = parts.GrammarOf(
      parts.builder.Encode(Spelling::kUtf8, FreeText({"ab", "b!b"}, parts.builder)));
  IrRecognizer recognizer(ir);
  for (const std::string& text : TextsOver("ab!", 5))
    EXPECT_EQ(recognizer.Accepts(text), !HoldsOneOf(text, {"ab", "b!b"})) << text;
}

TEST(MakeDispatch, GoesOnOrNot) {
  for (const bool loop : {true, false}) {
    TagParts parts;
    const NodeId free = parts.builder.Repeat(parts.builder.Bytes("a"), 0, kUnbounded);
    const NodeId way = parts.builder.Concat({free, parts.builder.Bytes("!")});
    const GrammarIr ir = parts.GrammarOf(MakeDispatch(free, way, loop, parts.builder));
    IrRecognizer recognizer(ir);
    EXPECT_TRUE(recognizer.Accepts("aa"));
    EXPECT_TRUE(recognizer.Accepts("aa!"));
    EXPECT_EQ(recognizer.Accepts("!a"), loop);
    EXPECT_EQ(recognizer.Accepts("a!!"), loop);
  }
}

TEST(TextDispatch, TheBudgetPaysForEverySuffix) {
  const std::atomic<bool> cancelled = true;
  Budget none({.cancelled = &cancelled});
  TagParts parts;
  const TextDispatch dispatch = {.triggers = {{"ab", parts.builder.Empty()}}};
  EXPECT_TRUE(absl::IsCancelled(MakeTextDispatch(dispatch, none, parts.builder).status()));
}

}  // namespace
}  // namespace maskd
