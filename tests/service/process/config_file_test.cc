#include "service/process/config_file.h"

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/process/server_config.pb.h"

namespace maskd::service {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

TEST(ConfigFileTest, EveryFlagHasAFieldAndTheReverse) {
  std::set<std::string> flags;
  for (const std::string& flag : FlagNames()) flags.insert(flag);
  for (const char* not_there : {"config", "check_config", "health", "version", "help"})
    flags.erase(not_there);
  std::set<std::string> fields;
  const auto& type = *config::ServerConfig::descriptor();
  for (int i = 0; i < type.field_count(); ++i) fields.insert(type.field(i)->name());
  fields.erase("tenant");
  EXPECT_EQ(fields, flags);
}

TEST(ConfigFileTest, ReadsFlagsWithUnitsListsAndTenants) {
  Config config;
  const absl::Status read = ReadConfigText(R"(
# a comment
listen: "unix:/run/maskd.sock" listen: "0.0.0.0:7411"
memory_bytes: "1GiB"
awake_us: "20us"
hello_ms: "2s"
max_rows: 12
audit: true
tokenizer: "a=/a"
tokenizer: "b=/b,format=tiktoken"
tenant {
  name: "red"
  identity: "token:red"
  identity: "cert:engine.test"
  compiles_at_once: 2
  compiles_per_minute: 60
  cache_bytes: "64MiB"
  max_rows: 7
  max_streams: 3
  inline_grammars: false
  grammar: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
}
tenant { name: "others" identity: "*" }
)",
                                           "f", &config);
  ASSERT_TRUE(read.ok()) << read;
  EXPECT_THAT(config.listen, ElementsAre("unix:/run/maskd.sock", "0.0.0.0:7411"));
  EXPECT_EQ(config.memory_bytes, 1 << 30);
  EXPECT_EQ(config.awake_us, 20);
  EXPECT_EQ(config.hello_ms, 2'000);
  EXPECT_EQ(config.max_rows, 12);
  EXPECT_TRUE(config.audit);
  ASSERT_EQ(config.tokenizers.size(), 2U);
  EXPECT_EQ(config.tokenizers[1].format, "tiktoken");
  ASSERT_EQ(config.tenants.size(), 2U);
  const TenantRule& red = config.tenants[0];
  EXPECT_EQ(red.name, "red");
  EXPECT_THAT(red.identities, ElementsAre("token:red", "cert:engine.test"));
  EXPECT_EQ(red.limits.compiles_at_once, 2);
  EXPECT_EQ(red.limits.compiles_per_minute, 60);
  EXPECT_EQ(red.limits.cache_bytes, 64 << 20);
  EXPECT_EQ(red.limits.max_rows, 7);
  EXPECT_EQ(red.limits.max_streams, 3);
  EXPECT_FALSE(red.limits.inline_grammars);
  EXPECT_EQ(red.limits.grammars.size(), 1U);
  EXPECT_TRUE(config.tenants[1].limits.inline_grammars);
  EXPECT_EQ(config.given.at("max_rows").where, "f:7: max_rows");
}

TEST(ConfigFileTest, TheExampleIsRight) {
  Config config;
  const absl::Status read =
      ReadConfigFileAt(absl::StrCat(MASKD_SOURCE_DIR, "/examples/maskd.conf"), &config);
  EXPECT_TRUE(read.ok()) << read;
  EXPECT_FALSE(config.tenants.empty());
}

struct WrongCase {
  const char* name;
  std::string text;
  const char* begins;
};

class WrongFileTest : public testing::TestWithParam<WrongCase> {};

TEST_P(WrongFileTest, TheErrorHasLineAndKey) {
  Config config;
  const absl::Status read = ReadConfigText(GetParam().text, "f", &config);
  ASSERT_TRUE(absl::IsInvalidArgument(read)) << read;
  EXPECT_THAT(std::string(read.message()), StartsWith(GetParam().begins));
}

std::string Tenant(const std::string& fields) {
  return absl::StrCat("\ntenant { name: \"a\" identity: \"uid:1\" ", fields, " }");
}

INSTANTIATE_TEST_SUITE_P(
    Files, WrongFileTest,
    testing::ValuesIn(std::vector<WrongCase>{
        {"NoSuchKey", "max_rows: 1\nmax_columns: 2\n", "f:2:12: "},
        {"TextForNumber", "\n\nmax_rows: \"many\"", "f:3:11: Expected integer, got: \"many\""},
        {"OutOfRange", "max_streams: 1\n\nmax_rows: 0\n", "f:3: max_rows: \"0\" is not a number"},
        {"NoSuchUnit", "memory_bytes: \"1Gigabyte\"", "f:1: memory_bytes: \"1Gigabyte\" is not"},
        {"WrongAddress", "\nlisten: \"unix:/a\" listen: \"x\"", "f:2: listen: \"x\" is not host"},
        {"SecondTokenizer", "tokenizer: \"a=/a\"\ntokenizer: \"/b\"", "f:2: tokenizer: \"/b\" has"},
        {"Twice", "max_rows: 1\nmax_rows: 2", "f:2:9: Non-repeated field"},
        {"HalfATenant", "\ntenant {\n name: \"a\"", "f:3:"},
        {"NameOfATenant", "tenant { name: \"a b\" identity: \"*\" }", "f:1: tenant.name: is not"},
        {"NobodysTenant", "tenant { name: \"a\" }", "f:1: tenant.identity: is missing"},
        {"UnknownIdentity", "tenant { name: \"a\" identity: \"me\" }",
         "f:1: tenant.identity: \"me\" is not"},
        {"IdentityTwice", Tenant("identity: \"uid:1\""), "f:2: tenant.identity: \"uid:1\" is an"},
        {"TenantTwice", absl::StrCat(Tenant(""), Tenant("")), "f:3: tenant.name: is another"},
        {"NegativeLimit", Tenant("max_rows: -1"), "f:2: tenant.max_rows: is below 0"},
        {"WrongShare", Tenant("cache_bytes: \"lots\""), "f:2: tenant.cache_bytes: is not a"},
        {"WrongGrammar", Tenant("grammar: \"x\""), "f:2: tenant.grammar: is not 64"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ConfigFileTest, AFileThatIsNotThereIsNamed) {
  Config config;
  EXPECT_EQ(ReadConfigFileAt("/nonexistent/f", &config).message(),
            "--config: /nonexistent/f: No such file or directory");
}

TEST(ReloadTest, SomeFlagsChangeOnlyWithARestart) {
  const auto read = [](const std::string& text) {
    Config config;
    EXPECT_TRUE(ReadConfigText(text, "f", &config).ok());
    return config;
  };
  const Config now = read("max_rows: 5\ntokenizer: \"a=/a\"\n");
  EXPECT_TRUE(CheckReload(now, read("tokenizer: \"b=/b\"\nmax_rows: 5\naudit: true\n" +
                                    Tenant("max_rows: 3")))
                  .ok());
  EXPECT_EQ(CheckReload(now, read("\n\nmax_rows: 6\n")).message(),
            "f:3: max_rows: changes only with a restart");
  EXPECT_EQ(CheckReload(now, read("max_rows: 5 max_streams: 9")).message(),
            "f:1: max_streams: changes only with a restart");
  EXPECT_EQ(CheckReload(now, read("")).message(),
            "f:1: max_rows: is not given any more: changes only with a restart");
}

}  // namespace
}  // namespace maskd::service
