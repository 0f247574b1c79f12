#include <set>
#include <string>

#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"

namespace maskd {
namespace {

std::string IdOf(const GrammarSource& source, absl::string_view tokenizer = "t") {
  const absl::StatusOr<std::string> id = GrammarId(source, tokenizer, Limits());
  EXPECT_TRUE(id.ok()) << id.status();
  return id.value_or("");
}

TEST(GrammarIdTest, IsAHash) {
  const std::string id = IdOf({"json_schema", "{}", {}});
  EXPECT_EQ(id.size(), 64u);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(GrammarIdTest, SpaceDoesNotMatterOrderDoes) {
  const std::string id = IdOf({"json_schema", R"({"type":"object","title":"x"})", {}});
  EXPECT_EQ(IdOf({"json_schema", R"( { "type" : "object", "title" : "x" } )", {}}), id);
  EXPECT_NE(IdOf({"json_schema", R"({"title":"x","type":"object"})", {}}), id);
}

// What has one key is one grammar, so each field that an id is made of is in the key as well.
TEST(GrammarIdTest, EveryFieldMatters) {
  std::set<std::string> ids;
  std::set<std::string> keys;
  const auto IdOf = [&keys](const GrammarSource& source, absl::string_view tokenizer = "t") {
    keys.insert(SourceKey(source, tokenizer));
    return maskd::IdOf(source, tokenizer);
  };
  GrammarSource source{"json_schema", "true", {}};
  ids.insert(IdOf(source));
  ids.insert(IdOf(source, "u"));
  source.kind = "json";
  source.text = "";
  ids.insert(IdOf(source));
  source.options.white_space = WhiteSpace::kCompact;
  ids.insert(IdOf(source));
  source.options.max_whitespace = 1;
  ids.insert(IdOf(source));
  source.options.property_order = PropertyOrder::kAny;
  ids.insert(IdOf(source));
  source.options.strictness = Strictness::kRelax;
  ids.insert(IdOf(source));
  source.options.additional_properties = false;
  ids.insert(IdOf(source));
  source.options.max_number_digits = 5;
  ids.insert(IdOf(source));
  source.options.formats = Formats::kAsserted;
  ids.insert(IdOf(source));
  source.options.item_separator = ", ";
  ids.insert(IdOf(source));
  source.options.item_separator.reset();
  source.options.key_separator = ": ";
  ids.insert(IdOf(source));
  source.options.max_tokens = 7;
  ids.insert(IdOf(source));
  source.options.max_tokens = 70;
  ids.insert(IdOf(source));
  source.options.max_characters = 70;
  ids.insert(IdOf(source));
  source.options.max_tokens.reset();
  ids.insert(IdOf(source));
  source.documents = {{"http://x.example/a", "true"}};
  ids.insert(IdOf(source));
  source.documents.front().uri = "http://x.example/b";
  ids.insert(IdOf(source));
  source.documents.front().text = "false";
  ids.insert(IdOf(source));
  source.options.white_space = WhiteSpace::kFlexible;
  for (const int spaces : {0, 2}) {
    source.options.indent = spaces;
    ids.insert(IdOf(source));
  }
  EXPECT_EQ(ids.size(), 21u);
  EXPECT_EQ(keys.size(), ids.size());
}

TEST(GrammarIdTest, AKeyIsOfTheTextAsItWasSent) {
  const GrammarSource source{"json_schema", "{}", {}};
  EXPECT_EQ(SourceKey(source, "t"), SourceKey(source, "t"));
  EXPECT_NE(SourceKey(source, "t"), SourceKey({"json_schema", "{ }", {}}, "t"));
}

TEST(GrammarIdTest, BrokenSourceHasNone) {
  EXPECT_FALSE(GrammarId({"json_schema", "{", {}}, "t", Limits()).ok());
  EXPECT_FALSE(GrammarId({"nonsense", "{}", {}}, "t", Limits()).ok());
}

}  // namespace
}  // namespace maskd
