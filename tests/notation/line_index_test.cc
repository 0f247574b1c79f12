// Places of all bytes, against counting.
#include "grammar_core/frontend/notation/line_index.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace maskd {
namespace {

TEST(LineIndexTest, APlaceIsThatOfAWalkOverTheText) {
  for (const std::string text : {"", "a", "\n", "\n\n", "ab\ncd", "a\n\nbé\r\nc\n", "\nx"}) {
    const LineIndex lines(text);
    int line = 1;
    int column = 1;
    for (std::size_t at = 0; at <= text.size(); ++at) {
      EXPECT_EQ(lines.Place(at), absl::StrCat(line, ":", column)) << text << " at " << at;
      if (at == text.size()) break;
      column = text[at] == '\n' ? 1 : column + 1;
      line += text[at] == '\n' ? 1 : 0;
    }
  }
}

TEST(LineIndexTest, TheTextIsNotKept) {
  auto text = std::make_unique<std::string>("ab\nc");
  const LineIndex lines(*text);
  text.reset();
  EXPECT_EQ(lines.Place(3), "2:1");
}

}  // namespace
}  // namespace maskd
