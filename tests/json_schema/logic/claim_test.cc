#include "grammar_core/frontend/json_schema/logic/claim.h"

#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "gtest/gtest.h"

namespace maskd {
namespace {

using Kind = Claim::Kind;

const Claim kClaim = {Kind::kKeyword, false, Keyword::kRequired, 3, 2, 7};

// Claims that differ from kClaim in one field each.
std::vector<Claim> Neighbours() {
  std::vector<Claim> claims(6, kClaim);
  claims[0].kind = Kind::kElement;
  claims[1].negated = true;
  claims[2].keyword = Keyword::kProperties;
  claims[3].watchers = 4;
  claims[4].scope = 1;
  claims[5].at = 8;
  return claims;
}

TEST(Claim, EachFieldCounts) {
  absl::flat_hash_set<Claim> claims = {kClaim};
  for (const Claim& claim : Neighbours()) EXPECT_NE(claim, kClaim);
  for (const Claim& claim : Neighbours()) claims.insert(claim);
  claims.insert(kClaim);
  EXPECT_EQ(claims.size(), 7);
}

TEST(Claim, TheContraryIsWatchedByNobody) {
  Claim wanted = kClaim;
  wanted.negated = true;
  wanted.watchers = 0;
  EXPECT_EQ(kClaim.Negated(), wanted);
  wanted.negated = false;
  EXPECT_EQ(kClaim.Negated().Negated(), wanted);
}

TEST(Claim, ASchemaHoldsOrFails) {
  EXPECT_EQ(SchemaHolds(5), (Claim{.kind = Kind::kSchema, .at = 5}));
  EXPECT_EQ(SchemaFails(5), SchemaHolds(5).Negated());
}

TEST(NameAt, IsTheTextInAListAndTheKeyInAnObject) {
  const JsonDocument document =
      *JsonDocument::Parse(R"({"required":["a"],"properties":{"b":"text"}})", Limits());
  const JsonValue root = document.root();
  EXPECT_EQ(NameAt(root.Find("required")->Nth(0).value()), "a");
  EXPECT_EQ(NameAt(root.Find("properties")->Nth(0).value()), "b");
}

// One after the other: each says something.
std::vector<Conjunction> SomethingClaimed() {
  std::vector<Conjunction> all(5);
  all[0].types = kEveryType & ~kNullType;
  all[1].own = {kClaim};
  all[2].atoms = {kClaim};
  all[3].choices = {kClaim};
  all[4].is_false = true;
  return all;
}

TEST(Conjunction, IsEmptyWhereNothingIsClaimed) {
  EXPECT_TRUE(Conjunction().empty());
  for (const Conjunction& all : SomethingClaimed()) EXPECT_FALSE(all.empty());
}

TEST(Conjunction, EqualOnesHaveOneKey) {
  Conjunction x;
  x.own = {kClaim, SchemaHolds(1)};
  x.choices = {SchemaFails(2)};
  const Conjunction y = x;
  EXPECT_EQ(x.Key(), y.Key());
}

TEST(Conjunction, DifferentOnesHaveDifferentKeys) {
  std::vector<Conjunction> all = SomethingClaimed();
  all.emplace_back();
  for (const Claim& claim : Neighbours()) all.emplace_back().own = {claim};
  all.emplace_back().own = {kClaim, kClaim.Negated()};
  all.emplace_back().own = {kClaim.Negated(), kClaim};
  Conjunction& apart = all.emplace_back();  // the same claims in two lists
  apart.own = {kClaim};
  apart.atoms = {kClaim.Negated()};
  std::set<std::string> keys;
  for (const Conjunction& one : all) keys.insert(one.Key());
  EXPECT_EQ(keys.size(), all.size());
}

}  // namespace
}  // namespace maskd
