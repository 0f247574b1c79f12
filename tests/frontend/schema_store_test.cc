// Tools that were read before: nothing that a compile says may tell whether its schemas were known.
// Oracle: the same compile without a store, or in a space where nothing was compiled before.
#include "grammar_core/frontend/json_schema/schema_store.h"

#include <cstdint>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/compile/pipeline.h"
#include "grammar_core/frontend/chat/chat.h"
#include "grammar_core/frontend/chat/family.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/loader.h"

namespace maskd {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMuch = 64 << 20;

// All that a compile says before the automaton.
struct Said {
  std::string status;
  std::string ir = {};
  std::vector<std::string> remarks = {};
  std::int64_t work = 0;
  bool operator==(const Said&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Said& said) {
  return out << said.status << ", " << said.work << " units\n"
             << absl::StrJoin(said.remarks, "\n") << "\n"
             << said.ir;
}

Said Reduce(const std::string& text, SchemaStore* store, std::int64_t work = Limits().compile_work,
            const GrammarOptions& options = {}, const Limits& limits = {}) {
  absl::StatusOr<ParsedSource> parsed =
      ParseSource({"chat", text, options}, limits, {.schemas = store});
  if (!parsed.ok()) return {std::string(parsed.status().message())};
  Budget::Bounds bounds;
  bounds.work = work;
  Budget budget(bounds);
  const absl::StatusOr<ReducedGrammar> reduced = ReduceParsed(*parsed, limits, budget);
  Said said = {.status = std::string(reduced.status().message()), .work = budget.spent()};
  if (!reduced.ok()) return said;
  said.ir = PrintIr(reduced->ir);
  for (const auto* remarks : {&reduced->warnings, &reduced->bounds})
    for (const Diagnostic& one : *remarks)
      said.remarks.push_back(absl::StrCat(one.place, ": ", one.message));
  return said;
}

std::string Tool(const std::string& name, const std::string& parameters) {
  return absl::StrCat(R"({"type":"function","function":{"name":")", name, R"(","parameters":)",
                      parameters, "}}");
}

std::string Request(const std::string& family, const std::vector<std::string>& tools,
                    const std::string& more = "") {
  return absl::StrCat(R"({"family":")", family, R"(","request":{"tools":[)",
                      absl::StrJoin(tools, ","), "]}", more, "}");
}

const std::string kSearch =
    Tool("search", R"({"type":"object","properties":{"text":{"type":"string","minLength":2},)"
                   R"("most":{"type":"integer","maximum":90},"in":{"enum":["a","b\"c"]}},)"
                   R"("required":["text"],"additionalProperties":false})");
const std::string kList =
    Tool("list", R"({"type":"object","properties":{"of":{"type":"array","items":{"type":"object",)"
                 R"("properties":{"id":{"type":"integer"}},"required":["id"],)"
                 R"("additionalProperties":false}},"deep":{"type":"boolean"}},)"
                 R"("additionalProperties":false})");
const std::string kTree = Tool(
    "tree", R"({"type":"object","properties":{"node":{"$ref":"#/$defs/n"}},"$defs":{"n":)"
            R"({"type":"object","properties":{"next":{"$ref":"#/$defs/n"},)"
            R"("tag":{"type":"string","pattern":"^[a-c]+$"}},"additionalProperties":false}}})");
const std::vector<std::string> kTools = {kSearch, kList, kTree};

std::vector<std::string> FamilyNames() {
  std::vector<std::string> names;
  for (const EmbeddedJson& file : ChatFamilyFiles()) names.emplace_back(file.uri);
  return names;
}

// The requests of a family's transcripts, each once.
std::set<std::string> RequestsOf(const std::string& family) {
  std::set<std::string> requests;
  std::ifstream file(absl::StrCat(MASKD_SOURCE_DIR, "/tests/families/", family, ".jsonl"));
  for (std::string line; std::getline(file, line);) {
    const Json row = Json::parse(line);
    Json source = {{"family", family}, {"request", row["request"]}};
    for (const char* key : {"reasoning", "strictness"})
      if (row.contains(key)) source[key] = row[key];
    requests.insert(source.dump());
  }
  return requests;
}

class KnownSchemasTest : public testing::TestWithParam<std::string> {};

// Empty at first, then with what the requests before have left, then with all.
TEST_P(KnownSchemasTest, ChangeNoRuleRemarkOrWork) {
  SchemaStore store(kMuch);
  std::set<std::string> requests = RequestsOf(GetParam());
  ASSERT_GE(requests.size(), 2U);
  requests.insert(Request(GetParam(), kTools));
  for (int round = 0; round < 2; ++round)
    for (const std::string& request : requests)
      EXPECT_EQ(Reduce(request, &store), Reduce(request, nullptr)) << request;
  EXPECT_GT(store.stats().hits, 0);
}

TEST_P(KnownSchemasTest, ChangeNoMask) {
  const auto vocabulary = EmbeddedByteVocabulary();
  const auto compile = [&](const std::shared_ptr<TokenizerSpace>& space,
                           const std::vector<std::string>& tools) {
    Budget budget = Budget::Unlimited();
    return CompileGrammar({"chat", Request(GetParam(), tools, R"(,"strictness":"parameter")"), {}},
                          space, Limits(), budget);
  };
  const auto cold = compile(TokenizerSpace::Create(vocabulary), kTools);
  ASSERT_TRUE(cold.ok()) << cold.status();
  const auto space = TokenizerSpace::Create(vocabulary);
  ASSERT_TRUE(compile(space, {kTree, kSearch}).ok());
  const std::int64_t hits = space->schemas().stats().hits;
  const auto warm = compile(space, kTools);
  ASSERT_TRUE(warm.ok()) << warm.status();
  EXPECT_GE(space->schemas().stats().hits, hits + 2);
  EXPECT_EQ((*warm)->id(), (*cold)->id());
  EXPECT_EQ((*warm)->Explain(), (*cold)->Explain());
  std::mt19937 random(7);
  for (int walk = 0; walk < 8; ++walk) {
    Matcher a(*cold);
    Matcher b(*warm);
    for (int step = 0; step < 60; ++step) {
      const auto mask = a.Mask();
      ASSERT_TRUE(mask.ok() && b.Mask().ok());
      ASSERT_TRUE(**mask == **b.Mask()) << "walk " << walk << ", step " << step;
      std::vector<TokenId> allowed;
      (*mask)->VisitAllowed([&](TokenId id) { allowed.push_back(id); });
      const TokenId token = allowed[random() % allowed.size()];
      if (vocabulary->IsSpecial(token)) break;
      ASSERT_TRUE(a.Accept(token).ok() && b.Accept(token).ok());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, KnownSchemasTest, testing::ValuesIn(FamilyNames()),
                         [](const auto& test) { return test.param; });

// Oracle: the same schemas with a keyword more, which says nothing: they are read as a whole, and
// have no rules in common.
TEST(SchemaStoreTest, RulesThatToolsHaveInCommonChangeNoMask) {
  const auto tools = [](const std::string& more) {
    std::vector<std::string> all;
    for (const char* own : {R"("n":{"type":"null"})", R"("n":{"type":"boolean"})",
                            R"("of":{"type":"array","items":{"type":"string"}})"}) {
      all.push_back(Tool(
          absl::StrCat("f", all.size()),
          absl::StrCat(R"({"type":"object","properties":{"to":{"type":"array","items":{"type":)",
                       R"("object","properties":{"a":{"type":"string"}},"required":["a"]}},)",
                       R"("at":{"type":"array"},)", own, "}", more, "}")));
    }
    return all;
  };
  const auto compile = [&](const std::string& more) {
    Budget budget = Budget::Unlimited();
    return *CompileGrammar(
        {"chat", Request("qwen_3", tools(more), R"(,"strictness":"parameter")"), {}},
        TokenizerSpace::Create(EmbeddedByteVocabulary()), Limits(), budget);
  };
  const auto count = [](const std::string& ir) {
    return std::vector<std::string>(absl::StrSplit(ir, "\"#/properties/to/items\"")).size() - 1;
  };
  SchemaStore store(kMuch);
  EXPECT_EQ(count(Reduce(Request("qwen_3", tools("")), &store).ir), 1U);
  EXPECT_EQ(count(Reduce(Request("qwen_3", tools(R"(,"minProperties":0)")), &store).ir), 3U);
  const auto shared = compile("");
  const auto apart = compile(R"(,"minProperties":0)");
  std::mt19937 random(3);
  for (int walk = 0; walk < 40; ++walk) {
    Matcher a(shared);
    Matcher b(apart);
    // A call of each tool in turn: what walks by themselves seldom begin.
    std::string text = absl::StrCat("<tool_call>\n{\"name\": \"f", walk % 3,
                                    "\", \"arguments\": {\"to\":[{\"a\":");
    for (int step = 0; step < 200; ++step) {
      const auto mask = a.Mask();
      ASSERT_TRUE(mask.ok() && b.Mask().ok());
      ASSERT_TRUE(**mask == **b.Mask()) << "walk " << walk << ", step " << step;
      std::vector<TokenId> allowed;
      (*mask)->VisitAllowed([&](TokenId id) { allowed.push_back(id); });
      TokenId token = allowed[random() % allowed.size()];
      if (static_cast<std::size_t>(step) < text.size())
        token = static_cast<unsigned char>(text[static_cast<std::size_t>(step)]);
      if (EmbeddedByteVocabulary()->IsSpecial(token)) break;
      ASSERT_TRUE(a.Accept(token).ok() && b.Accept(token).ok()) << step;
    }
  }
}

// Also where the work that is left ends within a schema that is known.
TEST(SchemaStoreTest, AVerdictIsTheSameAtEveryBudget) {
  SchemaStore store(kMuch);
  const std::string request = Request("qwen_3", kTools);
  const Said whole = Reduce(request, &store);
  ASSERT_EQ(whole.status, "");
  constexpr int kCuts = 40;
  for (int cut = 0; cut <= kCuts; ++cut) {
    const std::int64_t work = (whole.work * cut) / kCuts;
    EXPECT_EQ(Reduce(request, &store, work), Reduce(request, nullptr, work)) << work;
  }
  const std::string short_of_one = Reduce(request, &store, whole.work - 1).status;
  EXPECT_NE(short_of_one.find("limit compile_work"), std::string::npos) << short_of_one;
}

TEST(SchemaStoreTest, AnErrorIsAtItsPlaceBesideKnownSchemas) {
  SchemaStore store(kMuch);
  Reduce(Request("qwen_3", kTools), &store);
  const std::string bad = Tool("bad", R"({"type":"object","properties":{"a":{"type":"x"}}})");
  const std::string never =
      Tool("never",
           R"({"type":"object","required":["x"],"properties":{},"additionalProperties":false})");
  for (const std::string& tool : {bad, never}) {
    for (const char* more : {"", R"(,"bad_tools":"leave_out")"}) {
      const std::string request = Request("qwen_3", {kSearch, tool, kList}, more);
      for (int times = 0; times < 2; ++times)
        EXPECT_EQ(Reduce(request, &store), Reduce(request, nullptr)) << request;
    }
    const std::string status = Reduce(Request("qwen_3", {kSearch, tool}), &store).status;
    EXPECT_EQ(status.substr(0, 36), "/request/tools/1/function/parameters") << status;
  }
}

// Known schemas are left unread in the text of a request. Nothing may tell that they were, whatever
// is around them.
class UnreadTest : public testing::Test {
 protected:
  UnreadTest() { Reduce(Request("qwen_3", kTools), &store_); }

  static std::string IdOf(const std::string& text, const Limits& limits, SchemaStore* store) {
    const auto parsed = ParseSource({"chat", text}, limits, {.schemas = store});
    return parsed.ok() ? GrammarId(*parsed, "t") : std::string(parsed.status().message());
  }
  // Twice: a schema of the text is known the second time.
  void ExpectSame(const std::string& text, const Limits& limits = {}) {
    for (int times = 0; times < 2; ++times) {
      EXPECT_EQ(IdOf(text, limits, &store_), IdOf(text, limits, nullptr)) << text;
      EXPECT_EQ(Reduce(text, &store_, limits.compile_work, {}, limits),
                Reduce(text, nullptr, limits.compile_work, {}, limits))
          << text;
    }
  }
  std::int64_t Unread(const std::string& text) {
    const auto parsed = ParseSource({"chat", text}, Limits(), {.schemas = &store_});
    std::int64_t unread = 0;
    for (const ChatTool& tool : parsed->chat->request->tools)
      unread += tool.schema.has_value() && tool.schema->is_unread() ? 1 : 0;
    return unread;
  }

  SchemaStore store_{kMuch};
};

TEST_F(UnreadTest, KnownSchemasAre) {
  const std::string request = Request("qwen_3", kTools);
  EXPECT_EQ(Unread(request), 3);
  ExpectSame(request);
  const std::string wide = Tool("search", R"({"type": "object", "properties": {}})");
  const std::string some = Request("qwen_3", {wide, kTree});
  EXPECT_EQ(Unread(some), 1);
  ExpectSame(some);
  EXPECT_EQ(Unread(some), 2);
}

TEST_F(UnreadTest, WhateverIsAroundThem) {
  const std::string schema = kSearch.substr(kSearch.find(R"({"type":"object")"),
                                            kSearch.rfind("}}") - kSearch.find(R"({"type":"obj)"));
  const auto with = [&](const std::string& tool) { return Request("qwen_3", {kTree, tool}); };
  EXPECT_EQ(Unread(with(absl::StrCat(R"({"name":"f","parameters":)", schema, "}"))), 2);
  for (const std::string& request : {
           Request("qwen_3", {kSearch, kSearch}),  // one name twice
           Request("qwen_3", {kSearch, Tool("other", schema)}),
           with(absl::StrCat(R"({"name":"f","parameters":)", schema, "}")),
           with(absl::StrCat(R"({"name":"f","par\u0061meters" : )", schema, "}")),
           with(absl::StrCat(R"({"name":"f","parameters":)", schema, R"(,"parameters":null})")),
           with(absl::StrCat(R"({"name":"f","parameters":)", schema, " }")),
           with(absl::StrCat(R"({"name":"f","parameters":)", schema, "]")),
           with(absl::StrCat(R"({"name":"f","parameters":)", schema, "}}")),
           with(absl::StrCat(R"({"name":"f","parameters":)", schema, R"(,"strict":1})")),
           with(absl::StrCat(R"({"name":"f g","parameters":)", schema, "}")),
           with(absl::StrCat(R"({"name":"f","function":{"name":"g"},"parameters":)", schema, "}")),
           with(Tool("f", absl::StrCat(R"({"properties":{"parameters":)", schema, "}}"))),
           with(Tool("f", absl::StrCat(R"({"parameters":)", schema, "}"))),
           with(Tool("f", schema.substr(0, schema.size() - 1))),
           with(Tool("f", schema + schema)),
           with(Tool("f", absl::StrCat(" ", schema, "\n"))),
           Request("qwen_3", kTools, R"(,"reasoning":"sometimes")"),
           Request("qwen_3", kTools, R"(,"strictness":"function")"),
           Request("qwen_3", kTools, R"(,"bad_tools":"leave_out")"),
           Request("qwen_3", kTools, R"(,"extra":{"parameters":)" + schema + "}"),
           Request("no_family", kTools),
           Request("gpt_oss", kTools),
           Request("qwen_3_coder", kTools),
           absl::StrCat(R"({"family":"qwen_3","request":{"tools":[)", kSearch, ",", kTree,
                        R"(],"tool_choice":"required"}})"),
           absl::StrCat(R"({"family":"qwen_3","request":{"tools":[)", kSearch, ",", kTree,
                        R"(],"response_format":{"type":"json_schema","json_schema":{"schema":)",
                        schema, "}}}}"),
           absl::StrCat(R"({"family":"qwen_3","request":{"tools":[)", kSearch, ",", kTree,
                        R"(],"response_format":{"type":"json_schema"}}})"),
       }) {
    ExpectSame(request);
  }
}

TEST_F(UnreadTest, AnyDepthThatIsLeft) {
  for (std::int64_t depth = 1; depth < 14; ++depth) {
    Limits limits;
    limits.source_depth = depth;
    ExpectSame(Request("qwen_3", kTools), limits);
  }
}

TEST_F(UnreadTest, BesideABadTool) {
  const std::string bad = Tool("bad", R"({"type":"object","properties":{"a":{"type":"x"}}})");
  const std::string never = Tool("never", R"({"type":"string","maxLength":-1})");
  for (const std::string& tool : {bad, never}) {
    for (const char* more : {"", R"(,"bad_tools":"leave_out")"}) {
      const std::string request = Request("qwen_3", {kSearch, tool, kTree}, more);
      ExpectSame(request);
      // The text of a bad schema is known as any other one.
      EXPECT_EQ(Unread(request), 3);
    }
  }
}

TEST(SchemaStoreTest, WhatSaysNothingOfValuesFindsTheSameSchema) {
  SchemaStore store(kMuch);
  const auto read = [&](const std::string& more) {
    Reduce(Request("qwen_3", {Tool("f", R"({"type":"object","properties":{"a":{"type":"string")" +
                                            more + "}}}")}),
           &store);
    return store.stats();
  };
  read("");
  read(R"(,"description":"of a","title":"A","examples":["x"])");
  EXPECT_EQ(read(R"(,"$comment":"c")").schemas, 1);
  EXPECT_EQ(store.stats().hits, 2);
  EXPECT_EQ(read(R"(,"maxLength":3)").schemas, 2);
}

TEST(SchemaStoreTest, OtherOptionsOrLimitsAreAnotherSchema) {
  SchemaStore store(kMuch);
  const std::string request = Request("qwen_3", {kSearch});
  const auto same = [&](const GrammarOptions& options, const Limits& limits) {
    const std::int64_t work = limits.compile_work;
    EXPECT_EQ(Reduce(request, &store, work, options, limits),
              Reduce(request, nullptr, work, options, limits));
    return store.stats().schemas;
  };
  EXPECT_EQ(same({}, {}), 1);
  EXPECT_EQ(same({.white_space = WhiteSpace::kCompact}, {}), 2);
  EXPECT_EQ(same({.max_whitespace = 1}, {}), 3);
  EXPECT_EQ(same({.indent = 2}, {}), 4);
  EXPECT_EQ(same({.item_separator = ", "}, {}), 5);
  EXPECT_EQ(same({.key_separator = ": "}, {}), 6);
  EXPECT_EQ(same({.property_order = PropertyOrder::kAny}, {}), 7);
  EXPECT_EQ(same({.additional_properties = false}, {}), 8);
  EXPECT_EQ(same({.max_number_digits = 3}, {}), 9);
  Limits limits;
  limits.ir_nodes = 10;
  EXPECT_EQ(same({}, limits), 9) << "what fails is not kept";
  limits.ir_nodes = 5000;
  EXPECT_EQ(same({}, limits), 10);
}

// Only so many options and limits are known at once. A schema under those that were forgotten is
// read again, and never taken for another one.
TEST(SchemaStoreTest, ManyOptionsFindTheirOwnSchemas) {
  SchemaStore store(kMuch);
  const std::string request = Request("qwen_3", {kSearch});
  const std::int64_t work = Limits().compile_work;
  constexpr int kMany = 40;
  for (int round = 0; round < 2; ++round) {
    for (int i = 1; i <= kMany; ++i) {
      const GrammarOptions options = {.max_whitespace = i};
      const Said alone = Reduce(request, nullptr, work, options);
      EXPECT_EQ(Reduce(request, &store, work, options), alone);
      const std::int64_t hits = store.stats().hits;
      EXPECT_EQ(Reduce(request, &store, work, options), alone);
      EXPECT_EQ(store.stats().hits, hits + 1);
    }
  }
  EXPECT_LE(store.stats().held_bytes, kMuch);
}

// What was used longest ago goes first.
TEST(SchemaStoreTest, KeepsItsBound) {
  const auto read = [](int i, SchemaStore* store) {
    const std::string schema = absl::StrCat(R"({"type":"string","maxLength":)", i + 1, "}");
    Budget budget = Budget::Unlimited();
    const auto known = store->Read(SharedText(schema),
                                   *store->SettingsOf({}, SchemaValues::kInline, Limits()), budget);
    ASSERT_TRUE(known.ok()) << known.status();
  };
  SchemaStore unbounded(kMuch);
  read(0, &unbounded);
  const std::int64_t each = unbounded.stats().held_bytes;
  ASSERT_GT(each, 0);
  SchemaStore store(each * 12);
  for (int i = 0; i < 50; ++i) {
    read(0, &store);
    read(i, &store);
    EXPECT_LE(store.stats().held_bytes, each * 12);
  }
  EXPECT_EQ(store.stats().hits, 50) << "the first one stays, as it is asked for again and again";
  EXPECT_GE(store.stats().schemas, 10);
  store.Shrink(each * 2);
  EXPECT_LE(store.stats().held_bytes, each * 2);
  read(49, &store);
  EXPECT_EQ(store.stats().hits, 51);
  store.Shrink(0);
  EXPECT_EQ(store.stats().held_bytes, 0);
  EXPECT_EQ(store.stats().schemas, 0);
  read(49, &store);
  store.Reset();
  EXPECT_EQ(store.stats().held_bytes, 0);
  EXPECT_EQ(store.stats().hits + store.stats().misses, 0);
  SchemaStore small(each * 4);
  read(0, &small);
  EXPECT_EQ(small.stats().schemas, 0) << "an eighth of the bound is too much for one";
}

TEST(SchemaStoreTest, APeekIsNoUse) {
  SchemaStore store(kMuch);
  const auto settings = store.SettingsOf({}, SchemaValues::kInline, Limits());
  const SharedText schema(R"({"type":"object","properties":{"a":{"enum":["x","y"]},"n":{"type":)"
                          R"("integer","minimum":2}}})");
  EXPECT_EQ(store.Peek(schema, *settings), nullptr);
  Budget budget = Budget::Unlimited();
  const auto read = store.Read(schema, *settings, budget);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(store.Peek(schema, *settings), *read);
  EXPECT_EQ(store.Peek(SharedText(schema.text()), *settings), *read);
  EXPECT_EQ(store.Peek(SharedText("{}"), *settings), nullptr);
  const auto others = store.SettingsOf({.max_whitespace = 1}, SchemaValues::kInline, Limits());
  EXPECT_EQ(store.Peek(schema, *others), nullptr);
  EXPECT_EQ(store.stats().hits, 0);
  EXPECT_EQ(store.stats().misses, 1);
  for (const int step : {0, 1, 2}) (*read)->Fetch(step);
}

TEST(SchemaStoreTest, ATextIsMadeOnce) {
  SchemaStore store(kMuch);
  int made = 0;
  const auto text = [&](absl::string_view source) {
    return store.Text(source, [&] { return absl::StrCat(++made, " of ", source); }).text();
  };
  EXPECT_EQ(text("{}"), "1 of {}");
  EXPECT_EQ(text("{ }"), "2 of { }");
  EXPECT_EQ(text("{}"), "1 of {}");
  EXPECT_EQ(store.stats().schemas, 0) << "a text is no schema";
  EXPECT_EQ(store.stats().hits + store.stats().misses, 0);
  EXPECT_GT(store.stats().held_bytes, 0);
  store.Shrink(0);
  EXPECT_EQ(store.stats().held_bytes, 0);
  EXPECT_EQ(text("{}"), "3 of {}");
}

TEST(SchemaStoreTest, ManyThreadsReadTheSame) {
  SchemaStore store(kMuch);
  const std::string request = Request("qwen_3_coder", kTools);
  const Said alone = Reduce(request, nullptr);
  std::vector<Said> said(4);
  {
    std::vector<std::jthread> threads;
    for (Said& one : said) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i) {
          one = Reduce(request, &store);
          if (i % 5 == 0) store.Shrink(0);
        }
      });
    }
  }
  for (const Said& one : said) EXPECT_EQ(one, alone);
}

}  // namespace
}  // namespace maskd
