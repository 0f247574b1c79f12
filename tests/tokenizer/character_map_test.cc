// What a map of characters leaves as it is, of maps that are built here.
#include "grammar_core/tokenizer/character_map.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

void AppendWord(std::uint32_t word, std::string* out) {
  for (int shift = 0; shift < 32; shift += 8) out->push_back(static_cast<char>(word >> shift));
}

// A double-array trie of `keys`: the children of its n-th node are at 256 * (n + 1) xor their byte.
std::string Precompiled(const std::vector<std::string>& keys) {
  constexpr std::uint32_t kEnds = 1U << 8;
  std::map<std::string, std::uint32_t> places = {{"", 0}};  // of beginnings of keys
  std::map<std::string, std::uint32_t> numbers = {{"", 0}};
  constexpr std::uint32_t kNoNode = 1U << 31;
  std::vector<std::uint32_t> units(256, kNoNode);
  units[0] = 0;
  const auto offset_of = [&](const std::string& node) {
    return places[node] ^ (256 * (numbers[node] + 1));
  };
  for (const std::string& key : keys) {
    for (std::size_t size = 1; size <= key.size(); ++size) {
      const std::string parent = key.substr(0, size - 1);
      const std::string node = key.substr(0, size);
      if (places.contains(node)) continue;
      const auto byte = static_cast<unsigned char>(key[size - 1]);
      places[node] = (256 * (numbers[parent] + 1)) ^ byte;
      numbers.emplace(node, static_cast<std::uint32_t>(numbers.size()));
      units.resize(256 * (numbers.size() + 1), kNoNode);
      units[places[node]] = byte;
    }
  }
  for (const auto& [node, place] : places) units[place] |= offset_of(node) << 10;
  for (const std::string& key : keys) units[places[key]] |= kEnds;
  std::string out;
  AppendWord(static_cast<std::uint32_t>(4 * units.size()), &out);
  for (const std::uint32_t unit : units) AppendWord(unit, &out);
  return out + "replaced";
}

struct UnchangedCase {
  const char* name;
  std::string text;
  bool ascii_follows;
  std::size_t bytes;
};

class CharacterMapTest : public testing::TestWithParam<UnchangedCase> {};

TEST_P(CharacterMapTest, LeavesTheStart) {
  const auto map = CharacterMap::Create(Precompiled({"\t", "xy", "e\u0301", "\u00bd"}));
  ASSERT_NE(map, nullptr);
  EXPECT_EQ(map->UnchangedBytes(GetParam().text, GetParam().ascii_follows), GetParam().bytes);
}

INSTANTIATE_TEST_SUITE_P(Texts, CharacterMapTest,
                         testing::ValuesIn(std::vector<UnchangedCase>{
                             {"All", "abc", false, 3},
                             {"ToAKey", "ab\tc", false, 2},
                             {"ToALongKey", "axyb", false, 1},
                             {"NotAKey", "axzb", false, 4},
                             {"ToTwoCharacters", "ae\u0301", false, 1},
                             {"ToOneBeyondAscii", "\u4e2d\u00bd", false, 3},
                             {"AKeyMayBegin", "abe", false, 2},
                             {"NoneOfAsciiMayGoOn", "abe", true, 3},
                             {"OneOfAsciiMayGoOn", "abx", true, 2},
                             {"Nothing", "", false, 0},
                             {"NotUtf8", "a\xff", false, 1},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(CharacterMapTest, SizesThatDoNotFit) {
  const std::string whole = Precompiled({"\t"});
  EXPECT_EQ(CharacterMap::Create(""), nullptr);
  EXPECT_EQ(CharacterMap::Create(whole.substr(0, 100)), nullptr);
  EXPECT_EQ(CharacterMap::Create(std::string(4, '\0')), nullptr);
  EXPECT_EQ(CharacterMap::Create(std::string("\3\0\0\0abc", 7)), nullptr);
}

TEST(CharacterMapTest, AnyWordsAreSafe) {
  std::string words = Precompiled({"\t", "xy"});
  for (std::size_t at = 4; at < words.size(); at += 3) {
    words[at] = static_cast<char>(at * 37);
    const auto map = CharacterMap::Create(words);
    ASSERT_NE(map, nullptr);
    EXPECT_LE(map->UnchangedBytes("\txy\u00e9z", false), 6U);
  }
}

}  // namespace
}  // namespace maskd
