// Names and values of objects; the names are sorted as std::map sorts them.
#include "grammar_core/terms/object_terms.h"

#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "tests/frontend/reading.h"
#include "tests/rooms/engine_parts.h"

namespace maskd {
namespace {

class ObjectTermsTest : public testing::Test {
 protected:
  static GrammarIr Ir() {
    GrammarOptions options;
    options.white_space = WhiteSpace::kCompact;
    options.property_order = PropertyOrder::kAny;
    return ReadForTest("json_schema",
                       R"({"type":"object","properties":{"bc":{"const":2},"b":{"const":1},)"
                       R"("é":{"const":4},"a":{"const":0}},"additionalProperties":false})",
                       options)
        ->ir;
  }
  // The set of names that the Encode term behind `text` is of.
  NameSetView NamesBehind(absl::string_view text) {
    const TermId cell = parts_.store.PartsOf(parts_.Behind(text)).cell;
    EXPECT_TRUE(parts_.store.IsNames(cell)) << text;
    return AsNameSet(parts_.store.term(AsEncode(parts_.store.term(cell)).characters));
  }
  std::vector<std::u32string> TextsOf(const NameSetView& names) {
    std::vector<std::u32string> texts;
    for (const std::u32string* text :
         parts_.objects.TextsOf(names.object, names.progress, names.first, names.depth, parts_.work)
             .list.texts)
      texts.push_back(*text);
    return texts;
  }

  const GrammarIr ir_ = Ir();
  EngineParts parts_{ir_};
};

using Texts = std::vector<std::u32string>;

TEST_F(ObjectTermsTest, NamesAreSortedByCodePoints) {
  EXPECT_EQ(TextsOf(NamesBehind("{\"")), (Texts{U"a", U"b", U"bc", U"é"}));
}

TEST_F(ObjectTermsTest, ACharacterNarrowsTheNames) {
  EXPECT_EQ(TextsOf(NamesBehind("{\"b")), (Texts{U"b", U"bc"}));
}

TEST_F(ObjectTermsTest, ANameThatIsBehindIsNoneOfThem) {
  EXPECT_EQ(TextsOf(NamesBehind("{\"b\":1,\"")), (Texts{U"a", U"bc", U"é"}));
}

TEST_F(ObjectTermsTest, EdgesAreTheNextCharacters) {
  const NameSetView names = NamesBehind("{\"");
  const auto edges =
      parts_.objects.NameEdges(names.object, names.progress, names.first, names.depth, parts_.work);
  ASSERT_EQ(edges.size(), 3);
  EXPECT_EQ(edges[0].character, U'a');
  EXPECT_EQ(edges[1].character, U'b');
  EXPECT_EQ(edges[2].character, U'é');
  const NameSetView behind = AsNameSet(parts_.store.term(edges[1].names));
  EXPECT_EQ(behind.depth, names.depth + 1);
  EXPECT_EQ(TextsOf(behind), (Texts{U"b", U"bc"}));
}

TEST_F(ObjectTermsTest, OneCharacterLeadsWhereItsEdgeDoes) {
  // "b" may end behind its first character, and "bc" goes on.
  for (const absl::string_view text : {"{\"", "{\"b", "{\"b\":1,\"", "{\"bc"}) {
    const NameSetView names = NamesBehind(text);
    std::map<std::uint32_t, CharTerm> edges;
    for (const auto& [character, behind] : parts_.objects.NameEdges(
             names.object, names.progress, names.first, names.depth, parts_.work))
      edges[character] = behind;
    for (char32_t character = 0; character < 256; ++character) {
      const CharTerm expected = edges.contains(character) ? edges[character] : kNothingTerm;
      EXPECT_EQ(parts_.objects.NamesBehind(names.object, names.progress, names.first, names.depth,
                                           {&character, 1}, parts_.work),
                expected)
          << text << " " << std::uint32_t{character};
    }
  }
}

TEST_F(ObjectTermsTest, MoreCharactersLeadWhereOneAfterTheOtherDoes) {
  const NameSetView names = NamesBehind("{\"");
  const auto behind = [&](const NameSetView& from, std::u32string_view text) {
    return parts_.objects.NamesBehind(from.object, from.progress, from.first, from.depth, text,
                                      parts_.work);
  };
  const CharTerm first = behind(names, U"b");
  EXPECT_EQ(behind(names, U"bc"), behind(AsNameSet(parts_.store.term(first)), U"c"));
  EXPECT_NE(behind(names, U"bc"), kNothingTerm);
  EXPECT_EQ(behind(names, U"bd"), kNothingTerm);
  EXPECT_EQ(behind(names, U"bcd"), kNothingTerm);
}

TEST_F(ObjectTermsTest, LengthsAreInCharacters) {
  const NameSetView names = NamesBehind("{\"");
  const auto texts =
      parts_.objects.TextsOf(names.object, names.progress, names.first, names.depth, parts_.work);
  for (std::size_t i = 0; i < texts.names.size(); ++i)
    EXPECT_EQ(parts_.objects.NameLength(names.object, texts.names[i]), texts.list.texts[i]->size());
}

// Each value behind its own name, and no other.
TEST_F(ObjectTermsTest, WhatFollowsANameIsItsValue) {
  const std::map<std::string, char> values = {{"a", '0'}, {"b", '1'}, {"bc", '2'}, {"é", '4'}};
  for (const auto& [name, value] : values)
    for (char digit = '0'; digit <= '4'; ++digit)
      EXPECT_EQ(parts_.Behind("{\"" + name + "\":" + digit + "}") != kNothingTerm, digit == value)
          << name << digit;
}

TEST_F(ObjectTermsTest, AfterANameComesTheColon) {
  const NameSetView names = NamesBehind("{\"b");
  const TermId after =
      parts_.objects.AfterName(names.object, names.progress, names.first, parts_.work);
  EXPECT_NE(parts_.bytes.Step(after, parts_.ClassOf(':'), parts_.work), kNothingTerm);
  EXPECT_EQ(parts_.bytes.Step(after, parts_.ClassOf('}'), parts_.work), kNothingTerm);
}

// The same object at the same place, in another automaton of the grammar.
TEST_F(ObjectTermsTest, ProgressIsAdoptedByWhatItMeans) {
  EngineParts other(ir_);
  const NameSetView there = NamesBehind("{\"b\":1,\"");
  const std::uint32_t progress =
      other.objects.AdoptProgress(parts_.objects, there.object, there.object, there.progress);
  const CharTerm names = other.objects.Names(there.object, progress, 0, 0, other.work);
  const NameSetView here = AsNameSet(other.store.term(names));
  Texts texts;
  for (const std::u32string* text :
       other.objects.TextsOf(here.object, here.progress, here.first, here.depth, other.work)
           .list.texts)
    texts.push_back(*text);
  EXPECT_EQ(texts, (Texts{U"a", U"bc", U"é"}));
}

}  // namespace
}  // namespace maskd
