#include "grammar_core/terms/encoding.h"

#include <string>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "grammar_core/base/utf8.h"

namespace maskd {
namespace {

constexpr std::uint32_t kHighFirst = 0xD800;
constexpr std::uint32_t kLowLast = 0xDFFF;
constexpr int kNone = -1;

bool IsSurrogate(std::uint32_t c) { return c >= kHighFirst && c <= kLowLast; }

// The one character that `spelling` spells, or kNone. Checks on the way that the character is among
// the completions of every partial state before it.
int Spells(Spelling kind, const std::string& spelling) {
  PartialChar partial = {kind};
  std::vector<PartialChar> passed;
  for (std::size_t i = 0; i < spelling.size(); ++i) {
    const CharStep step = StepChar(partial, static_cast<unsigned char>(spelling[i]));
    if (step.result == CharStep::Result::kRefused) return kNone;
    if (step.result == CharStep::Result::kPartial) {
      partial = PartialChar::Unpack(step.partial.Pack());
      passed.push_back(partial);
      continue;
    }
    if (i + 1 != spelling.size()) return kNone;
    for (const PartialChar& before : passed) {
      const Completions completions = CompletionsOf(before);
      bool among = false;
      for (int r = 0; r < completions.count; ++r) {
        among |= completions.ranges[r].lo <= step.character &&
                 step.character <= completions.ranges[r].hi;
      }
      EXPECT_TRUE(among) << absl::StrFormat("U+%04X", step.character);
    }
    return static_cast<int>(step.character);
  }
  return kNone;
}

std::string Escaped(std::uint32_t c) {
  if (c < 0x10000) return absl::StrFormat("\\u%04x", c);
  const std::uint32_t v = c - 0x10000;
  return absl::StrFormat("\\u%04X\\u%04x", 0xD800 + (v >> 10), 0xDC00 + (v & 0x3FF));
}

// What nlohmann::json writes, and nothing else.
TEST(EncodingTest, EveryCharacterAsASerializerWritesIt) {
  for (std::uint32_t c = 0; c <= kMaxCodePoint; ++c) {
    if (IsSurrogate(c)) continue;
    std::string bytes;
    AppendUtf8(c, &bytes);
    const std::string quoted = nlohmann::json(bytes).dump();
    const std::string written = quoted.substr(1, quoted.size() - 2);
    ASSERT_EQ(Spells(Spelling::kCanonicalJson, written), static_cast<int>(c)) << written;
    for (const std::string& other : {bytes, Escaped(c), "\\" + bytes}) {
      if (other == written) continue;
      ASSERT_NE(Spells(Spelling::kCanonicalJson, other), static_cast<int>(c)) << other;
    }
  }
  for (const char* const other :
       {"\\u000A", "\\u000a", "\\u001F", "\\/", "\\u0022", "\\uD83D\\ude00"}) {
    EXPECT_EQ(Spells(Spelling::kCanonicalJson, other), kNone) << other;
  }
  EXPECT_EQ(Spells(Spelling::kCanonicalJson, "\\u001f"), 0x1F);
}

TEST(EncodingTest, EveryCharacterInUtf8) {
  for (std::uint32_t c = 0; c <= kMaxCodePoint; ++c) {
    if (IsSurrogate(c)) continue;
    std::string bytes;
    AppendUtf8(c, &bytes);
    ASSERT_EQ(Spells(Spelling::kUtf8, bytes), static_cast<int>(c));
    const bool raw_in_json = c >= 0x20 && c != '"' && c != '\\';
    ASSERT_EQ(Spells(Spelling::kJsonString, bytes), raw_in_json ? static_cast<int>(c) : kNone);
  }
}

TEST(EncodingTest, EveryCharacterEscaped) {
  for (std::uint32_t c = 0; c <= kMaxCodePoint; ++c) {
    if (IsSurrogate(c)) continue;
    ASSERT_EQ(Spells(Spelling::kJsonString, Escaped(c)), static_cast<int>(c));
  }
}

TEST(EncodingTest, ShortEscapes) {
  const std::pair<const char*, int> kEscapes[] = {
      {"\\\"", '"'}, {"\\\\", '\\'}, {"\\/", '/'},  {"\\b", '\b'},  {"\\f", '\f'},
      {"\\n", '\n'}, {"\\r", '\r'},  {"\\t", '\t'}, {"\\a", kNone}, {"\\U0041", kNone}};
  for (const auto& [spelling, character] : kEscapes)
    EXPECT_EQ(Spells(Spelling::kJsonString, spelling), character) << spelling;
}

// Every string of two, three and four bytes that begins with a lead byte, against the decoder.
TEST(EncodingTest, OnlyShortestFormsWithoutSurrogates) {
  const auto check = [](const std::string& bytes) {
    std::size_t at = 0;
    const auto decoded = DecodeUtf8(bytes, &at);
    const int expected =
        decoded.has_value() && at == bytes.size() ? static_cast<int>(*decoded) : kNone;
    ASSERT_EQ(Spells(Spelling::kUtf8, bytes), expected);
  };
  const unsigned char kEdges[] = {0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0};
  for (int lead = 0x80; lead < 256; ++lead) {
    for (int second = 0; second < 256; ++second) {
      check({static_cast<char>(lead), static_cast<char>(second)});
      for (const unsigned char third : kEdges) {
        check({static_cast<char>(lead), static_cast<char>(second), static_cast<char>(third)});
        for (const unsigned char fourth : kEdges) {
          check({static_cast<char>(lead), static_cast<char>(second), static_cast<char>(third),
                 static_cast<char>(fourth)});
        }
      }
    }
  }
}

TEST(EncodingTest, LoneSurrogatesAreRefused) {
  for (const char* spelling :
       {"\\udc00", "\\ud800x", "\\ud800\\n", "\\ud800\\u0041", "\\ud800\\ud800"}) {
    EXPECT_EQ(Spells(Spelling::kJsonString, spelling), kNone) << spelling;
  }
}

}  // namespace
}  // namespace maskd
