// Parts made of smaller ones, against sets of texts.
#include "grammar_core/frontend/notation/part.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

#include "tests/notation/node_texts.h"

namespace maskd {
namespace {

class PartTest : public testing::Test {
 protected:
  Part Text(absl::string_view text) { return {builder_.Text(text), true, 1}; }
  Part Texts(const std::vector<std::string>& texts) { return {builder_.TextSet(texts), true, 1}; }
  std::set<std::string> All(const Part& part) {
    EXPECT_TRUE(part.characters);
    return TextsOfNode(builder_, part.node, candidates_);
  }
  // Whether a text of `texts` of `least` letters or more is shorter than `text` and begins it.
  static bool EndsEarlier(const std::set<std::string>& texts, const std::string& text,
                          std::size_t least) {
    return std::any_of(texts.begin(), texts.end(), [&](const std::string& begin) {
      return begin.size() >= least && begin.size() < text.size() && absl::StartsWith(text, begin);
    });
  }

  const std::vector<std::string> candidates_ = LetterTexts("ab", 6);
  Limits limits_;
  IrBuilder builder_{limits_};
  PartBuilder parts_{&builder_};
};

TEST_F(PartTest, CharactersStayCharacters) {
  const Part a = Text("a");
  EXPECT_EQ(All(parts_.Sequence({a, Text("b"), a})), (std::set<std::string>{"aba"}));
  EXPECT_EQ(All(parts_.Choice({a, parts_.Empty()})), (std::set<std::string>{"", "a"}));
  EXPECT_EQ(All(parts_.Repeat(a, 1, 2)), (std::set<std::string>{"a", "aa"}));
  EXPECT_EQ(All(parts_.Both({Texts({"a", "b"}), Texts({"b", "ab"})})),
            (std::set<std::string>{"b"}));
  EXPECT_EQ(All(parts_.Not(a)).size(), candidates_.size() - 1);
  EXPECT_TRUE(All(parts_.Nothing()).empty());
  EXPECT_TRUE(parts_.Sequence({}).characters);
}

TEST_F(PartTest, OneOfBytesMakesBytesOfAll) {
  const Part bytes = {builder_.Bytes("x"), false, 1};
  const Part sequence = parts_.Sequence({Text("a"), Text("b"), bytes, Text("c")});
  EXPECT_FALSE(sequence.characters);
  // What stands beside each other is under one Encode node.
  EXPECT_EQ(sequence.node, builder_.Concat({builder_.Encode(Spelling::kUtf8, builder_.Text("ab")),
                                            builder_.Bytes("x"), parts_.Bytes(Text("c"))}));
  EXPECT_FALSE(parts_.Choice({Text("a"), bytes}).characters);
  EXPECT_FALSE(parts_.Repeat(bytes, 0, 3).characters);
  EXPECT_EQ(parts_.Bytes(bytes), bytes.node);
}

TEST_F(PartTest, NoTokensAreTheEmptyText) {
  EXPECT_EQ(parts_.Limited(Text("a"), 0).node, builder_.Empty());
  EXPECT_FALSE(parts_.Limited(Text("a"), 1).characters);
}

TEST_F(PartTest, TextsEndAtTheirFirstEnd) {
  const Part samples[] = {Texts({"a", "ab", "ba", "bab", "bb"}),
                          parts_.Repeat(Text("ab"), 0, kUnbounded),
                          parts_.Repeat(Texts({"a", "bb"}), 1, kUnbounded), parts_.Nothing()};
  for (const Part& part : samples) {
    const std::set<std::string> texts = All(part);
    for (std::uint32_t count = 0; count < 6; ++count) {
      std::set<std::string> expected;
      for (const std::string& text : texts)
        if (!EndsEarlier(texts, text, count)) expected.insert(text);
      EXPECT_EQ(All(parts_.AtMost(part, count)), expected) << count;
      if (count == 0) EXPECT_EQ(All(parts_.Shortest(part)), expected);
    }
  }
}

}  // namespace
}  // namespace maskd
