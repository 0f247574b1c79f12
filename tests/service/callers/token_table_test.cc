#include "service/callers/token_table.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "grammar_core/base/sha256.h"
#include "tests/base/test_folder.h"

namespace maskd::service {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr char kRed[] = "red-token-0123456789";
constexpr char kBlue[] = "blue-token-0123456789";

TEST(TokenTableTest, SaysWhoseATokenIs) {
  const auto table = TokenTable::Parse(
      absl::StrCat("# names\n\nred ", kRed, "  # its first\r\nblue\tsha256:", Sha256Hex(kBlue),
                   "\nred another-0123456789\n"));
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->size(), 3U);
  EXPECT_EQ(table->Find(kRed), "red");
  EXPECT_EQ(table->Find("another-0123456789"), "red");
  EXPECT_EQ(table->Find(kBlue), "blue");
  for (const char* none : {"", "red", "red-token-012345678", "red-token-01234567890"})
    EXPECT_EQ(table->Find(none), std::nullopt) << none;
  EXPECT_EQ(table->Find(absl::StrCat("sha256:", Sha256Hex(kBlue))), std::nullopt);
  EXPECT_EQ(table->Find(std::string(1 << 20, 'x')), std::nullopt);
}

TEST(TokenTableTest, AnEmptyTableKnowsNobody) {
  EXPECT_EQ(TokenTable().Find(""), std::nullopt);
  const auto table = TokenTable::Parse("");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->Find("x"), std::nullopt);
}

struct WrongCase {
  const char* name;
  std::string text;
  const char* begins;
};

class WrongTokensTest : public testing::TestWithParam<WrongCase> {};

TEST_P(WrongTokensTest, TheErrorNamesTheLineAndNotTheToken) {
  const auto table = TokenTable::Parse(GetParam().text);
  ASSERT_TRUE(absl::IsInvalidArgument(table.status())) << table.status();
  EXPECT_THAT(std::string(table.status().message()), StartsWith(GetParam().begins));
  EXPECT_THAT(std::string(table.status().message()), testing::Not(HasSubstr("secret")));
}

INSTANTIATE_TEST_SUITE_P(
    Lines, WrongTokensTest,
    testing::ValuesIn(std::vector<WrongCase>{
        {"NameAlone", "red", "1: is not a name and a token"},
        {"ThreeParts", "\nred secret-secret-secret x", "2: is not a name"},
        {"ShortToken", "red secret", "1: has a token of fewer than 16"},
        {"LongToken", absl::StrCat("red ", std::string(5000, 's')), "1: has a token of fewer"},
        {"NameWithOtherCharacters", "r\"ed secret-secret-secret", "1: has a name"},
        {"LongName", absl::StrCat(std::string(129, 'r'), " secret-secret-secret"), "1: has a name"},
        {"TokenOfControls", "red \vsecret-secret-secret", "1: has a token with characters"},
        {"TokenBeyondAscii", "red secret-secret-\xC3\xA9", "1: has a token with characters"},
        {"HalfAHash", "red sha256:abc", "1: sha256: is not followed by 64"},
        {"HashInCapitals", absl::StrCat("red sha256:", std::string(64, 'A')), "1: sha256:"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(TokenTableTest, AFileThatIsNotThereIsNamed) {
  const auto table = TokenTable::Read("/nonexistent/tokens");
  EXPECT_EQ(table.status().message(), "/nonexistent/tokens: No such file or directory");
  EXPECT_FALSE(TokenTable::Read("/tmp").ok());
}

// To open one would wait for whoever writes to it.
TEST(TokenTableTest, APipeIsNoFile) {
  const TestFolder folder;
  const std::string path = folder.Path("tokens");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(TokenTable::Read(path).status().message(), absl::StrCat(path, ": is no file"));
  EXPECT_EQ(TokenTable::Read("/dev/zero").status().message(), "/dev/zero: is no file");
}

TEST(TokenTableTest, TheErrorOfAFileHasItsPathAndLine) {
  const TestFolder folder;
  const std::string path = folder.Write("tokens", absl::StrCat("red ", kRed, "\nblue\n"));
  EXPECT_EQ(TokenTable::Read(path).status().message(),
            absl::StrCat(path, ":2: is not a name and a token"));
}

}  // namespace
}  // namespace maskd::service
