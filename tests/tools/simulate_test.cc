// The pretended engine of `maskctl simulate`: where a text stands, what the model makes likely,
// what is said of a run, and a run at a server inside this program.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "client/apply/make_applier.h"
#include "tools/cli/connection.h"
#include "tools/cli/simulate/json_place.h"
#include "tools/cli/simulate/model.h"
#include "tools/cli/simulate/report.h"
#include "tools/cli/simulate/simulation.h"

namespace maskd::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using testing::Not;

struct JsonPlaceCase {
  const char* name;
  const char* text;
  bool in_string;
};

class JsonPlaceTest : public testing::TestWithParam<JsonPlaceCase> {};

// However the text is cut.
TEST_P(JsonPlaceTest, IsWithinAStringOrNot) {
  const std::string text = GetParam().text;
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    JsonPlace place;
    place.Take(text.substr(0, cut));
    place.Take(text.substr(cut));
    EXPECT_EQ(place.in_string(), GetParam().in_string) << cut;
  }
}

INSTANTIATE_TEST_SUITE_P(Texts, JsonPlaceTest,
                         testing::ValuesIn(std::vector<JsonPlaceCase>{
                             {"Nothing", "", false},
                             {"Opened", R"({"a)", true},
                             {"Closed", R"({"a")", false},
                             {"EscapedQuote", R"(["a\")", true},
                             {"EscapedBackslash", R"(["a\\")", false},
                             {"BackslashOutside", R"(\")", true},
                             {"EscapeBegun", R"("\)", true},
                             {"Second", R"(["a","b)", true},
                         }),
                         [](const auto& test) { return test.param.name; });

// A small vocabulary: words, JSON's punctuation, what is rare, a stop id.
std::vector<v1::Token> ModelTokens() {
  std::vector<v1::Token> tokens;
  for (const char* text : {"word", " of", "a", "\"", "}", "]", ",", ":", "{", "[", " ", "\n", "\\",
                           "\xC3\xA9", "=>"}) {
    tokens.emplace_back().set_text(text);
  }
  tokens.emplace_back().set_special(true);
  return tokens;
}

constexpr int kFirstRare = 11;
constexpr std::int32_t kStop = 15;

// How often each token has the largest logit.
std::vector<int> Drawn(const Model::Context& context) {
  const std::vector<v1::Token> tokens = ModelTokens();
  const std::vector<std::int32_t> stops = {kStop};
  const Model model(tokens, stops, 7);
  std::mt19937_64 random(1);
  std::vector<int> counts(tokens.size());
  std::vector<float> logits(tokens.size() + 10);
  for (int i = 0; i < 2000; ++i) {
    model.Forward(context, random, logits);
    const auto end = logits.begin() + static_cast<std::ptrdiff_t>(tokens.size());
    ++counts[static_cast<std::size_t>(std::max_element(logits.begin(), end) - logits.begin())];
    EXPECT_THAT(std::vector<float>(end, logits.end()), Each(Ge(1000.0F))) << "padding is large";
  }
  return counts;
}

Model::Context ContextOf(const char* text, std::int64_t count, bool is_json = true) {
  Model::Context context;
  context.token_count = count;
  context.token_budget = 100;
  context.is_json = is_json;
  context.place.Take(text);
  return context;
}

TEST(Model, FreeTextIsWordsAndEndsPastItsBudget) {
  const std::vector<int> early = Drawn(ContextOf("", 0, /*is_json=*/false));
  EXPECT_LT(std::accumulate(early.begin() + kFirstRare, early.end(), 0), 200)
      << "rare texts and the end";
  for (int id = 0; id < kFirstRare; ++id) EXPECT_GT(early[static_cast<std::size_t>(id)], 50) << id;
  EXPECT_EQ(Drawn(ContextOf("", 100, /*is_json=*/false))[kStop], 2000);
}

TEST(Model, AStringIsDrawnToItsQuote) {
  const std::vector<int> early = Drawn(ContextOf("\"", 0));
  EXPECT_THAT(early[3], AllOf(Ge(600), Le(1400))) << "as likely as all others";
  EXPECT_EQ(Drawn(ContextOf("\"", 100))[3], 2000);
}

TEST(Model, JsonPastItsBudgetIsClosed) {
  const std::vector<int> late = Drawn(ContextOf("", 100));
  EXPECT_EQ(late[kStop], 2000) << "where it may end it does";
  EXPECT_EQ(late[8] + late[9], 0) << "nothing is opened";
  const std::vector<int> early = Drawn(ContextOf("", 0));
  EXPECT_GT(early[8] + early[9], 0);
}

TEST(Model, TheSameSeedIsTheSameModel) {
  const std::vector<v1::Token> tokens = ModelTokens();
  const auto row = [&](std::uint64_t seed) {
    const Model model(tokens, {}, seed);
    std::mt19937_64 random(1);
    std::vector<float> logits(tokens.size());
    model.Forward({}, random, logits);
    return logits;
  };
  EXPECT_EQ(row(1), row(1));
  EXPECT_NE(row(1), row(2));
}

TEST(Percentiles, AreValuesOfTheSample) {
  EXPECT_EQ(Percentile({3}, 0.5), 3);
  EXPECT_EQ(Percentile({5, 1, 4, 2, 3}, 0), 1);
  EXPECT_EQ(Percentile({5, 1, 4, 2, 3}, 0.5), 3);
  EXPECT_EQ(Percentile({5, 1, 4, 2, 3}, 1), 5);
}

TEST(SimulationTexts, SayHowEachSequenceEnded) {
  Sequence held;
  held.name = "point";
  held.grammar.emplace().set_source(R"({"type":"object"})");
  held.context.token_count = 2;
  held.allowed_counts = {9, 1};
  held.text = "{}";
  Sequence free;
  free.text = "a\n";
  free.error = absl::ResourceExhaustedError("too long");
  const std::string text = SequencesText(std::vector<Sequence>{held, free});
  EXPECT_THAT(text, HasSubstr("held to point: 2 tokens, 2 masks allowing 1 to 9 tokens"));
  EXPECT_THAT(text, HasSubstr("free text, not masked: 0 tokens\n  FAILED RESOURCE_EXHAUSTED"));
  EXPECT_THAT(text, HasSubstr("\"a\\x0a\""));
}

TEST(SimulationTexts, ResultsAreThoseThatEnded) {
  Sequence ended;
  ended.name = "x";
  ended.grammar.emplace().set_source(R"({"type":"null"})");
  ended.text = "null";
  ended.complete = true;
  Sequence cut = ended;
  cut.complete = false;
  Sequence free = ended;
  free.grammar.reset();
  EXPECT_EQ(ResultLines(std::vector<Sequence>{cut, ended, free}),
            R"({"name":"x","schema":{"type":"null"},"text":"null"})"
            "\n");
}

TEST(SimulationTexts, StepsThatOpenRowsAreToldApart) {
  std::vector<StepTimes> steps(3);
  steps[0].opens_rows = true;
  steps[0].wait_us = 900;
  steps[1].masks_us = 3;
  steps[2].masks_us = 11;
  const std::string text = TimesText(steps);
  EXPECT_THAT(text, HasSubstr("opened rows waited 900.0"));
  EXPECT_THAT(text, HasSubstr("11.0"));
  EXPECT_THAT(TimesText(std::vector<StepTimes>{steps[0]}), Not(HasSubstr("send the step")));
}

class SimulationTest : public testing::Test {
 protected:
  SimulationTest() {
    const std::vector<std::string> words = {"--local"};
    connection_ = *Connection::Open(*Flags::Parse(WithConnectionFlags({}), words));
    tokens_ = *connection_->client().ListTokens("");
  }

  static Sequence Held(const std::string& schema) {
    Sequence sequence;
    sequence.name = schema;
    sequence.grammar.emplace().set_kind("json_schema");
    sequence.grammar->set_source(schema);
    return sequence;
  }
  Simulation Run(std::vector<Sequence> sequences, const SimulationOptions& options = {}) {
    const auto applier = client::MakeApplier("cpu");
    stream_ = *connection_->client().OpenStream({.logits_width = kWidth});
    Simulation simulation(*stream_, **applier, tokens_, kWidth, options, std::move(sequences));
    const absl::Status status = simulation.Run();
    EXPECT_TRUE(status.ok()) << status;
    return simulation;
  }

  static constexpr std::uint32_t kWidth = 320;  // more than the 257 tokens
  std::unique_ptr<Connection> connection_;
  std::vector<v1::Token> tokens_;
  std::unique_ptr<client::MaskStream> stream_;
};

TEST_F(SimulationTest, HeldSequencesEndValidAndFreeOnesAreFree) {
  const Simulation simulation = Run(
      {Held(
           R"({"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}},"required":["n","s"],"additionalProperties":false})"),
       Sequence(), Held(R"({"type":"array","items":{"type":"boolean"}})")});
  ASSERT_EQ(simulation.sequences().size(), 3U);
  for (const Sequence& sequence : simulation.sequences()) {
    EXPECT_TRUE(sequence.complete) << sequence.error;
    EXPECT_EQ(sequence.phase, Sequence::Phase::kDone);
  }
  const json object = json::parse(simulation.sequences()[0].text);
  EXPECT_TRUE(object.size() == 2 && object["n"].is_number_integer() && object["s"].is_string());
  EXPECT_TRUE(simulation.sequences()[1].allowed_counts.empty());
  for (const json& item : json::parse(simulation.sequences()[2].text))
    EXPECT_TRUE(item.is_boolean());
  EXPECT_EQ(simulation.full_masks(), 2);
  EXPECT_GT(simulation.mask_bytes(), 0);
  const json said = json::parse(SimulationJson(simulation));
  EXPECT_EQ(said["steps"], simulation.steps().size());
  EXPECT_EQ(said["sequences"][0]["text"], simulation.sequences()[0].text);
}

TEST_F(SimulationTest, ATextDoesNotDependOnItsNeighbours) {
  const std::string schema = R"({"type":"string","maxLength":30})";
  const std::string alone = Run({Held(schema)}).sequences()[0].text;
  const std::string beside = Run({Held(schema), Sequence(), Held("{}")}).sequences()[0].text;
  EXPECT_EQ(alone, beside);
  EXPECT_NE(alone, Run({Held(schema)}, {.seed = 2}).sequences()[0].text);
}

TEST_F(SimulationTest, WhatGoesWrongIsInItsSequence) {
  const Simulation simulation = Run({Held(R"({"type":"nonsense"})"), Held(R"({"const":1})"),
                                     Held(R"({"type":"string","minLength":50})")},
                                    {.max_tokens = 10});
  EXPECT_TRUE(absl::IsInvalidArgument(simulation.sequences()[0].error));
  EXPECT_TRUE(simulation.sequences()[1].complete);
  EXPECT_EQ(simulation.sequences()[1].text, "1");
  EXPECT_TRUE(absl::IsResourceExhausted(simulation.sequences()[2].error));
}

}  // namespace
}  // namespace maskd::cli
