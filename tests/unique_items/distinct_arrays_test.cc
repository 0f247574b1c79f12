// Arrays written byte by byte against another reader's equality of the values.
#include "grammar_core/unique_items/distinct_arrays.h"

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace maskd {
namespace {

using Json = nlohmann::json;

// Appends `text`; where it refuses a byte, nothing, and `*taken` is what it took before.
std::optional<DistinctArrays::Id> Append(DistinctArrays* arrays, DistinctArrays::Id at,
                                         absl::string_view text, std::size_t* taken = nullptr) {
  std::size_t bytes = 0;
  for (const char byte : text) {
    at = arrays->Append(at, static_cast<unsigned char>(byte));
    if (at == DistinctArrays::kRefused) break;
    ++bytes;
  }
  if (taken != nullptr) *taken = bytes;
  return at == DistinctArrays::kRefused ? std::nullopt : std::optional(at);
}

// Values with few letters and digits, so that many are equal; each spelled at random.
class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed) {}

  std::string Value(int depth) {
    switch (Draw(depth > 0 ? 6 : 4)) {
      case 0:
        return Pick({"true", "false", "null"});
      case 1:
        return Pick({"1", "1.0", "10e-1", "2", "-1", "0.5", "5e-1", "12"});
      case 2:
      case 3:
        return Pick({"\"\"", "\"a\"", "\"\\u0061\"", "\"ab\"", "\"é\"", "\"\\u00e9\"", "\"1\""});
      case 4:
        return "[" + List(depth, [&] { return Value(depth - 1); }) + "]";
      default:
        return Object(depth);
    }
  }
  std::string Array(std::size_t items) {
    std::string text = "[";
    for (std::size_t i = 0; i < items; ++i) text += (i > 0 ? "," : "") + Value(2);
    return text + "]";
  }

 private:
  std::size_t Draw(std::size_t count) { return random_() % count; }
  std::string Pick(const std::vector<std::string>& of) { return of[Draw(of.size())]; }
  template <typename Make>
  std::string List(int depth, Make make) {
    std::string text;
    for (std::size_t i = Draw(static_cast<std::size_t>(depth) + 1); i > 0; --i)
      text += (text.empty() ? "" : ",") + make();
    return text;
  }
  // In either order.
  std::string Object(int depth) {
    const std::string a = "\"a\":" + Value(depth - 1);
    const std::string b = "\"b\":" + Value(depth - 1);
    const std::vector<std::string> all = {"{}", "{" + a + "}", "{" + a + "," + b + "}",
                                          "{" + b + "," + a + "}"};
    return Pick(all);
  }

  std::mt19937_64 random_;
};

TEST(DistinctArraysTest, AnItemIsRefusedWhereItEqualsOneBefore) {
  int refused = 0;
  int taken = 0;
  for (std::uint64_t seed = 0; seed < 4000 && !testing::Test::HasFailure(); ++seed) {
    const std::string text = Writer(seed).Array(1 + seed % 4);
    const Json value = Json::parse(text);
    bool repeats = false;
    for (std::size_t i = 0; i < value.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) repeats = repeats || value[i] == value[j];
    DistinctArrays arrays;
    const auto end = Append(&arrays, arrays.Begin('['), text.substr(1));
    EXPECT_EQ(!end.has_value(), repeats) << text;
    if (end.has_value()) EXPECT_TRUE(arrays.IsOver(*end)) << text;
    ++(repeats ? refused : taken);
  }
  EXPECT_GT(refused, 300);
  EXPECT_GT(taken, 300);
}

TEST(DistinctArraysTest, AnItemIsRefusedByTheByteThatEndsIt) {
  DistinctArrays arrays;
  std::size_t taken = 0;
  EXPECT_FALSE(Append(&arrays, arrays.Begin('['), "\"ab\",\"ab\" ]", &taken).has_value());
  EXPECT_EQ(taken, std::string("\"ab\",\"ab\" ").size()) << "the bracket, behind white space";
  EXPECT_FALSE(Append(&arrays, arrays.Begin('['), "12,12,", &taken).has_value());
  EXPECT_EQ(taken, std::string("12,12").size()) << "it could have become 123";
}

TEST(DistinctArraysTest, OfAnObjectTheNamesMustDiffer) {
  DistinctArrays arrays;
  EXPECT_TRUE(Append(&arrays, arrays.Begin('{'), R"("a":1,"b":1})").has_value());
  EXPECT_FALSE(Append(&arrays, arrays.Begin('{'), R"("a":1,"\u0061":2})").has_value());
}

// False is certain: nothing that may follow, up to the item's end, is refused.
TEST(DistinctArraysTest, MayRepeatIsFalseOnlyWhereNothingIsRefused) {
  DistinctArrays arrays;
  const auto at = [&](absl::string_view text) { return *Append(&arrays, arrays.Begin('['), text); };
  EXPECT_TRUE(arrays.MayRepeat(at("\"ab\",\"")));
  EXPECT_TRUE(arrays.MayRepeat(at("\"ab\",\"a")));
  EXPECT_FALSE(arrays.MayRepeat(at("\"ab\",\"b")));
  EXPECT_FALSE(arrays.MayRepeat(at("\"ab\",\"abc")));
  EXPECT_FALSE(arrays.MayRepeat(at("\"")));
  EXPECT_TRUE(arrays.MayRepeatBehind(at("\"ab\",\""), 'a'));
  EXPECT_FALSE(arrays.MayRepeatBehind(at("\"ab\",\""), 'x'));
}

TEST(DistinctArraysTest, RestsAreWhatWouldRepeat) {
  DistinctArrays arrays;
  std::vector<std::string> rests;
  arrays.AddTakenRests(*Append(&arrays, arrays.Begin('['), "\"abc\",\"ad\",\"x\",\"a"), &rests);
  std::ranges::sort(rests);
  EXPECT_EQ(rests, (std::vector<std::string>{"bc", "d"}));
}

TEST(DistinctArraysTest, WhatIsBeingWrittenIsToldDecoded) {
  DistinctArrays arrays;
  const auto string = Append(&arrays, arrays.Begin('['), "1,\"a\\u0062");
  ASSERT_TRUE(string.has_value());
  EXPECT_TRUE(arrays.InItemString(*string));
  EXPECT_EQ(arrays.StringAt(*string), "ab");
  const auto number = Append(&arrays, arrays.Begin('['), "1,-2.5");
  ASSERT_TRUE(number.has_value());
  EXPECT_FALSE(arrays.InString(*number));
  EXPECT_EQ(arrays.NumberAt(*number), "-2.5");
}

TEST(DistinctArraysTest, StringsBeforeAreFoundByTheirTexts) {
  DistinctArrays arrays;
  const auto at = *Append(&arrays, arrays.Begin('['), "\"abc\",7,\"\",\"");
  EXPECT_TRUE(arrays.HasString(at, "abc", DistinctArrays::Match::kWhole));
  EXPECT_FALSE(arrays.HasString(at, "ab", DistinctArrays::Match::kWhole));
  EXPECT_TRUE(arrays.HasString(at, "ab", DistinctArrays::Match::kBegins));
  EXPECT_FALSE(arrays.HasString(at, "7", DistinctArrays::Match::kBegins));
  const DistinctArrays::FirstBytes first = arrays.FirstBytesOfStrings(at);
  EXPECT_TRUE(first['a']);
  EXPECT_TRUE(first[0]) << "of the empty one";
  EXPECT_FALSE(first['7']);
}

TEST(DistinctArraysTest, KeysTellTextsApartByWhatTheyMean) {
  DistinctArrays arrays;
  const auto key = [&](absl::string_view text) {
    return arrays.Key(*Append(&arrays, arrays.Begin('['), text));
  };
  EXPECT_TRUE(key("1,\"a\",") == key("1.0 ,\"\\u0061\","));
  EXPECT_FALSE(key("1,\"a\",") == key("1,\"b\","));
}

TEST(DistinctArraysTest, RewindGivesBackWhatWasMade) {
  DistinctArrays arrays;
  const auto at = *Append(&arrays, arrays.Begin('['), "\"abc\",");
  const std::int64_t held = arrays.held_bytes();
  const DistinctArrays::Mark mark = arrays.Now();
  ASSERT_TRUE(Append(&arrays, at, "\"abd\",\"some longer text\",[1,2,3],").has_value());
  EXPECT_GT(arrays.held_bytes(), held);
  arrays.Rewind(mark);
  EXPECT_EQ(arrays.held_bytes(), held);
  EXPECT_TRUE(Append(&arrays, at, "\"abd\",").has_value());
  EXPECT_FALSE(Append(&arrays, at, "\"abc\",").has_value());
}

// Of what was tried one place is kept, with the items that it is made of.
TEST(DistinctArraysTest, SettleKeepsOnePlace) {
  DistinctArrays arrays;
  const auto at = *Append(&arrays, arrays.Begin('['), "\"abc\",");
  const DistinctArrays::Mark mark = arrays.Now();
  DistinctArrays::Id kept = *Append(&arrays, at, "\"abd\",");
  arrays.Settle(mark, {&kept});
  EXPECT_TRUE(Append(&arrays, kept, "\"x\",").has_value());
  EXPECT_FALSE(Append(&arrays, kept, "\"abd\",").has_value());
  EXPECT_FALSE(Append(&arrays, kept, "\"abc\",").has_value());
}

}  // namespace
}  // namespace maskd
