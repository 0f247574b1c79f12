// References against the examples of RFC 3986, section 5.4.
#include "grammar_core/frontend/json_schema/reading/uri.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

struct FragmentCase {
  const char* name;
  const char* uri;
  const char* document;
  const char* fragment;
};

class SplitFragmentTest : public testing::TestWithParam<FragmentCase> {};

TEST_P(SplitFragmentTest, CutsAtTheFirstSign) {
  const UriReference cut = SplitFragment(GetParam().uri);
  EXPECT_EQ(cut.document, GetParam().document);
  EXPECT_EQ(cut.fragment, GetParam().fragment);
}

INSTANTIATE_TEST_SUITE_P(Uris, SplitFragmentTest,
                         testing::ValuesIn(std::vector<FragmentCase>{
                             {"Both", "http://x/s?q#/a", "http://x/s?q", "/a"},
                             {"NoSign", "http://x/s", "http://x/s", ""},
                             {"EmptyFragment", "s#", "s", ""},
                             {"FragmentAlone", "#a", "", "a"},
                             {"Nothing", "", "", ""},
                             {"TwoSigns", "s#a#b", "s", "a#b"},
                             {"NotDecoded", "a%23b#%23", "a%23b", "%23"},
                         }),
                         [](const auto& test) { return std::string(test.param.name); });

struct Example {
  const char* reference;
  const char* wanted;
};

void ExpectFrom(const char* base, const std::vector<Example>& examples) {
  for (const Example& example : examples)
    EXPECT_EQ(ResolveUri(base, example.reference), example.wanted)
        << example.reference << " from " << base;
}

constexpr const char* kBase = "http://a/b/c/d;p?q";

TEST(ResolveUriTest, NormalExamplesOfTheRfc) {
  ExpectFrom(kBase, {{"g:h", "g:h"},
                     {"g", "http://a/b/c/g"},
                     {"./g", "http://a/b/c/g"},
                     {"g/", "http://a/b/c/g/"},
                     {"/g", "http://a/g"},
                     {"//g", "http://g"},
                     {"?y", "http://a/b/c/d;p?y"},
                     {"g?y", "http://a/b/c/g?y"},
                     {";x", "http://a/b/c/;x"},
                     {"g;x", "http://a/b/c/g;x"},
                     {"", "http://a/b/c/d;p?q"},
                     {".", "http://a/b/c/"},
                     {"./", "http://a/b/c/"},
                     {"..", "http://a/b/"},
                     {"../", "http://a/b/"},
                     {"../g", "http://a/b/g"},
                     {"../..", "http://a/"},
                     {"../../", "http://a/"},
                     {"../../g", "http://a/g"}});
}

TEST(ResolveUriTest, AbnormalExamplesOfTheRfc) {
  ExpectFrom(kBase, {{"../../../g", "http://a/g"},
                     {"../../../../g", "http://a/g"},
                     {"/./g", "http://a/g"},
                     {"/../g", "http://a/g"},
                     {"g.", "http://a/b/c/g."},
                     {".g", "http://a/b/c/.g"},
                     {"g..", "http://a/b/c/g.."},
                     {"..g", "http://a/b/c/..g"},
                     {"./../g", "http://a/b/g"},
                     {"./g/.", "http://a/b/c/g/"},
                     {"g/./h", "http://a/b/c/g/h"},
                     {"g/../h", "http://a/b/c/h"},
                     {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
                     {"g;x=1/../y", "http://a/b/c/y"},
                     {"g?y/./x", "http://a/b/c/g?y/./x"},
                     {"g?y/../x", "http://a/b/c/g?y/../x"},
                     {"http:g", "http:g"}});
}

TEST(ResolveUriTest, BasesWithoutAPath) {
  ExpectFrom("http://a", {{"g", "http://a/g"}, {"", "http://a"}, {"?y", "http://a?y"}});
  ExpectFrom("urn:b:c", {{"", "urn:b:c"}, {"urn:d", "urn:d"}, {"?y", "urn:b:c?y"}});
}

// A colon behind something that is no scheme is one of a path.
TEST(ResolveUriTest, NoScheme) {
  ExpectFrom("http://a/b/c", {{"1:a", "http://a/b/1:a"}, {"d/e:f", "http://a/b/d/e:f"}});
}

// Without a base a reference is a name of its own; ".." takes away the step before it, if any.
TEST(ResolveUriTest, WithoutABase) {
  for (const char* reference : {"", "a", "a/b.json", "/a/b", "//h/a", "?q", "http://a/b", "urn:a",
                                "../a", "../../a/b", "a/..b"})
    EXPECT_EQ(ResolveUri("", reference), reference);
  EXPECT_EQ(ResolveUri("no uri", "a/b"), "a/b");
  ExpectFrom("", {{"a/../b", "b"}, {"a/b/../../c", "c"}, {"../a/../b", "../b"}, {"/a/../b", "/b"}});
  ExpectFrom("d/s", {{"b", "d/b"}, {"../b", "b"}, {"../../b", "../b"}, {"./b", "d/b"}});
}

struct PercentCase {
  const char* name;
  std::string text;
  std::optional<std::string> wanted;
};

class PercentDecodedTest : public testing::TestWithParam<PercentCase> {};

TEST_P(PercentDecodedTest, IsThis) {
  EXPECT_EQ(PercentDecoded(GetParam().text), GetParam().wanted);
}

INSTANTIATE_TEST_SUITE_P(Texts, PercentDecodedTest,
                         testing::ValuesIn(std::vector<PercentCase>{
                             {"Nothing", "", ""},
                             {"Plain", "/a+b", "/a+b"},
                             {"BothCases", "%c3%A9", "\xC3\xA9"},
                             {"Once", "%2541", "%41"},
                             {"AtTheEnd", "a%7E", "a~"},
                             {"Zero", "a%00b", std::string("a\0b", 3)},
                             {"SignAlone", "%", std::nullopt},
                             {"OneDigit", "a%4", std::nullopt},
                             {"FirstIsNone", "%g4", std::nullopt},
                             {"SecondIsNone", "%4g", std::nullopt},
                             {"SecondIsASpace", "%4 ", std::nullopt},
                             {"SecondIsATab", "%4\t", std::nullopt},
                             {"Minus", "%-4", std::nullopt},
                             {"Prefix", "%0x41", std::nullopt},
                             {"TwoSigns", "%%41", std::nullopt},
                         }),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace maskd
