// What a grammar says it holds, beside what it took from the heap: this program counts each new
// and each delete.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>
#include <malloc.h>

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"
#include "tests/matcher/test_vocabulary.h"

namespace {

std::atomic<std::int64_t> live_bytes = 0;

}  // namespace

// Not inlined: else the compiler sees malloc() behind new and takes it for a mistake.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  live_bytes += static_cast<std::int64_t>(malloc_usable_size(memory));
  return memory;
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
  live_bytes -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  operator delete(memory);
}

namespace maskd {
namespace {

struct Case {
  std::string name;
  GrammarSource source;
  std::string text;  // taken after the compile: what is learnt counts as well
};

std::string Object(int members, bool required, const std::string& value) {
  std::string text = R"({"type":"object","additionalProperties":false,"properties":{)";
  std::string names;
  for (int i = 0; i < members; ++i) {
    const std::string name = absl::StrCat("a_rather_long_name_of_member_", i);
    absl::StrAppend(&text, i == 0 ? "" : ",", "\"", name, "\":", value);
    absl::StrAppend(&names, i == 0 ? "\"" : ",\"", name, "\"");
  }
  return absl::StrCat(text, "}", required ? absl::StrCat(",\"required\":[", names, "]") : "", "}");
}

std::string Choice(int texts) {
  std::string source = "[";
  for (int i = 0; i < texts; ++i) absl::StrAppend(&source, i == 0 ? "" : ",", "\"choice ", i, "\"");
  return source + "]";
}

std::vector<Case> Cases() {
  GrammarOptions any_order;
  any_order.property_order = PropertyOrder::kAny;
  const std::string some = R"({"a_rather_long_name_of_member_1": )";
  return {
      {"SmallObject", {"json_schema", Object(3, true, R"({"type":"string"})"), {}}, R"({"a_rath)"},
      {"LargeObject",
       {"json_schema", Object(400, false, R"({"type":"integer"})"), {}},
       some + "1}"},
      {"AnyOrder",
       {"json_schema", Object(40, true, R"({"maxLength":20,"type":"string"})"), any_order},
       some + R"("abc", "a_rather_long_name_of_member_7": "b)"},
      {"Enumerations",
       {"json_schema", Object(60, false, R"({"enum":["one","two","three and more of it"]})"), {}},
       some + R"("three and more of it", "a_ra)"},
      {"Patterns",
       {"json_schema",
        Object(5, false, R"({"type":"string","pattern":"^[a-z]{2,9}(-[0-9]+)*$"})"),
        {}},
       some + R"("abc-123-4")"},
      {"Choice", {"choice", Choice(500), {}}, "choice 12"},
      {"Json", {"json", "", {}}, R"({"a": [1, 2.5e3, "text", {"b": [true, null]}]})"},
  };
}

std::shared_ptr<const CompiledGrammar> CompiledAndUsed(const Case& one,
                                                       std::shared_ptr<TokenizerSpace> space) {
  Budget budget = Budget::Unlimited();
  auto grammar = CompileGrammar(one.source, std::move(space), Limits(), budget);
  EXPECT_TRUE(grammar.ok()) << grammar.status();
  if (!grammar.ok()) return nullptr;
  Matcher row(*grammar);
  for (const char byte : one.text) {
    EXPECT_TRUE(row.Mask().ok());
    EXPECT_TRUE(row.Accept(static_cast<unsigned char>(byte)).ok()) << byte;
  }
  return *grammar;
}

class GrammarCostsTest : public testing::TestWithParam<Case> {};

TEST_P(GrammarCostsTest, AreWhatTheHeapHasGiven) {
  const std::shared_ptr<TokenizerSpace> space = TokenizerSpace::Create(TestVocabulary());
  // The first one fills what grammars share; of the second one all is its own.
  const auto first = CompiledAndUsed(GetParam(), space);
  const std::int64_t before = live_bytes;
  const auto second = CompiledAndUsed(GetParam(), space);
  const auto taken = static_cast<double>(live_bytes - before);
  const auto said = static_cast<double>(second->costs().held_bytes);
  EXPECT_GT(said, 0.85 * taken) << "of " << taken;
  EXPECT_LT(said, 1.15 * taken) << "of " << taken;
}

INSTANTIATE_TEST_SUITE_P(Sources, GrammarCostsTest, testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

// A row alone: the grammar has all states of its text before, from another row.
class RowBytesTest : public testing::TestWithParam<int> {};

TEST_P(RowBytesTest, AreWhatTheHeapHasGiven) {
  const GrammarSource source = {
      "json_schema",
      R"({"type":"array","uniqueItems":true,"items":{"type":"object","properties":)"
      R"({"id":{"type":"integer"},"a_rather_long_name":{"type":"string"}}}})",
      {}};
  std::string text = "[";
  for (int i = 0; i < GetParam(); ++i)
    absl::StrAppend(&text, i == 0 ? "" : ",", "{\"id\":", i, ",\"a_rather_long_name\":\"item ", i,
                    "\"}");
  const auto grammar =
      CompiledAndUsed({"", source, text}, TokenizerSpace::Create(TestVocabulary()));
  ASSERT_NE(grammar, nullptr);
  Matcher row(grammar);
  const std::int64_t said_before = Matcher::LiveBytes();
  const std::int64_t before = live_bytes;
  for (const char byte : text) ASSERT_TRUE(row.Accept(static_cast<unsigned char>(byte)).ok());
  const auto taken = static_cast<double>(live_bytes - before);
  const auto said = static_cast<double>(Matcher::LiveBytes() - said_before);
  EXPECT_GT(said, 0.9 * taken) << "of " << taken;
  EXPECT_LT(said, 1.1 * taken) << "of " << taken;
}

INSTANTIATE_TEST_SUITE_P(Items, RowBytesTest, testing::Values(5, 40, 150, 300));

}  // namespace
}  // namespace maskd
