// What is counted of schema cases, by hand.
#include "tools/cli/schemas/schema_tally.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "google/rpc/error_details.pb.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

#include "client/cpp/base/wire_status.h"

namespace maskd::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A refusal as a server gives it.
absl::Status Refusal(const std::string& message, const std::string& place,
                     const std::string& reason = "", int code = 3) {
  v1::RowError error;
  error.set_code(code);
  error.set_message(message);
  error.set_place(place);
  error.set_reason(reason);
  return client::FromWire(error);
}

SchemaCase CaseOf(const std::string& id) {
  SchemaCase one;
  one.id = id;
  one.valid = {"1", "2"};
  one.invalid = {"x"};
  one.shuffled = {"3"};
  return one;
}

TEST(SchemaTallyTest, TextsStandInTheOrderOfTheirVerdicts) {
  EXPECT_THAT(TextsOf(CaseOf("a"), false), ElementsAre("1", "2", "x"));
  EXPECT_THAT(TextsOf(CaseOf("a"), true), ElementsAre("1", "2", "x", "3"));
}

TEST(SchemaTallyTest, EachVerdictIsCountedWhereItBelongs) {
  const SchemaCase one = CaseOf("a");
  const std::vector<std::string> texts = TextsOf(one, true);
  SchemaTally tally;
  const TextVerdict yes = {.accepted = true, .stopped_at = 0, .error = {}};
  const TextVerdict no = {.accepted = false, .stopped_at = 1, .error = {}};
  const TextVerdict none = {
      .accepted = false, .stopped_at = 0, .error = absl::UnavailableError("gone")};
  CountSchema(one, "g", texts, {yes, yes, no, yes}, tally);     // right
  CountSchema(one, "g", texts, {yes, no, yes, no}, tally);      // two refused, one accepted
  CountSchema(one, "g", texts, {none, yes, yes, none}, tally);  // two without a verdict
  const SchemaTotals& totals = tally.groups["g"];
  EXPECT_EQ(totals.schemas, 3);
  EXPECT_EQ(totals.right, 1);
  EXPECT_EQ(totals.with_refused, 1);
  EXPECT_EQ(totals.with_accepted, 2);
  EXPECT_EQ(totals.failed, 1);
  EXPECT_EQ(totals.texts, 4 + 4 + 2);
  EXPECT_EQ(totals.valid_refused, 2);
  EXPECT_EQ(totals.invalid_accepted, 2);
  EXPECT_EQ(totals.not_compiled, 0);
  EXPECT_EQ(tally.failures.size(), 3U + 3U);
  EXPECT_EQ(tally.failures[0], "a: valid refused at byte 1: \"2\"");
  EXPECT_EQ(tally.failures[1], "a: invalid accepted: \"x\"");
}

TEST(SchemaTallyTest, ARefusalIsRightWhereNoTextIsValidAndElseHasACause) {
  SchemaTally tally;
  SchemaCase nothing = CaseOf("n");
  nothing.valid.clear();
  CountRefusedSchema(nothing, "g", Refusal("wrong", "/type"), tally);
  EXPECT_EQ(tally.groups["g"].right, 1);
  // Refused for another reason than that it is wrong.
  CountRefusedSchema(nothing, "g", Refusal("not yet", "/a/$ref", "", 12), tally);
  const SchemaCase one = CaseOf("a");
  CountRefusedSchema(one, "g", Refusal("wrong", "/items/allOf/0/12"), tally);
  CountRefusedSchema(one, "g", Refusal("wrong", ""), tally);
  CountRefusedSchema(one, "g", Refusal("wrong", "/0/1"), tally);
  CountRefusedSchema(
      one, "g", Refusal("/a: limit max_rules is 5, 7 needed", "/a", "LIMIT_EXCEEDED", 8), tally);
  CountRefusedSchema(one, "g", Refusal("/a: too much", "/a", "LIMIT_EXCEEDED", 8), tally);
  EXPECT_EQ(tally.groups["g"].schemas, 7);
  EXPECT_EQ(tally.groups["g"].not_compiled, 6);
  const std::map<std::string, int> causes = {
      {"$ref", 1}, {"allOf", 1}, {"(no place)", 2}, {"limit max_rules", 1}, {"a", 1}};
  EXPECT_EQ(tally.refused_for, causes);
  EXPECT_EQ(tally.failures.size(), 6U);
}

TEST(SchemaTallyTest, TablesHaveARowAGroupAndOneOfAll) {
  SchemaTally tally;
  tally.groups["type"].schemas = 2;
  EXPECT_THAT(SchemaTables(tally, "keyword"),
              HasSubstr("\n| type | 2 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |\n"));
  EXPECT_THAT(SchemaTables(tally, "keyword"), Not(HasSubstr("all of these")));
  tally.groups["enum"].schemas = 3;
  EXPECT_THAT(SchemaTables(tally, "keyword"), HasSubstr("| all of these | 5 | 0 |"));
}

// Names are those of a file, which may have any.
TEST(SchemaTallyTest, NamesDoNotBreakTheTables) {
  SchemaTally tally;
  tally.groups["a|b\nc"].schemas = 1;
  tally.refused_for["x|y"] = 1;
  const std::string tables = SchemaTables(tally, "key|word");
  EXPECT_THAT(tables, HasSubstr("| key\\|word |"));
  EXPECT_THAT(tables, HasSubstr("\n| a\\|b c | 1 |"));
  EXPECT_THAT(tables, HasSubstr("\n| `x\\|y` | 1 |\n"));
  const auto json = nlohmann::json::parse(SchemaTallyJson(tally));
  EXPECT_EQ(json["groups"]["a|b\nc"]["schemas"], 1);
  EXPECT_EQ(json["refused_for"]["x|y"], 1);
  tally.failures = {"\xff"};
  EXPECT_TRUE(nlohmann::json::accept(SchemaTallyJson(tally)));
}

}  // namespace
}  // namespace maskd::cli
