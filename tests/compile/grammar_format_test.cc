#include "grammar_core/compile/grammar_format.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/base/sha256.h"
#include "grammar_core/compile/compiler.h"

namespace maskd {
namespace {

std::string Field(absl::string_view text) { return absl::StrCat(text.size(), ":", text); }

// The bytes that are hashed for the regular expression [ab]+ with all options as they are by
// default, under a format and for the tokenizer of the hash "tokenizer".
std::string IdUnder(absl::string_view format) {
  return Sha256Hex(absl::StrCat(Field(format), Field("regex"), Field("[ab]+"),
                                Field("0,64,0,0,1,1024,0,,"), Field("tokenizer")));
}

std::string IdNow() { return *GrammarId({"regex", "[ab]+", {}}, "tokenizer", Limits()); }

TEST(GrammarFormat, IsANameWithAVersion) {
  int version = 0;
  ASSERT_TRUE(absl::StartsWith(kGrammarFormat, "maskd-grammar-"));
  ASSERT_TRUE(absl::SimpleAtoi(kGrammarFormat.substr(14), &version)) << kGrammarFormat;
  EXPECT_GE(version, 2);
}

TEST(GrammarFormat, IsPartOfEveryId) {
  EXPECT_EQ(IdNow(), IdUnder(kGrammarFormat));
  EXPECT_NE(IdNow(), IdUnder("maskd-grammar-1"));
}

// Whoever has kept an id compares it with one made now. If this fails, raise the format: the bytes
// of an id are not to change under one.
TEST(GrammarFormat, IdsOfOneFormatCanBeCompared) {
  ASSERT_EQ(kGrammarFormat, "maskd-grammar-2") << "record the id of the new format here";
  EXPECT_EQ(IdNow(), "4e8c96a764bf472faff72a9e0f68a8fa6f0ca87ef58e97f7e7d04dd8f69d6408");
}

}  // namespace
}  // namespace maskd
