#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/config/addresses.h"
#include "service/config/config_reader.h"

namespace maskd::service {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Environment Variables(std::map<std::string, std::string> variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(ConfigTest, NothingGivenListensOnASocketAlone) {
  const auto config = ReadConfig({}, Variables({}));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->listen, ElementsAre(StartsWith("unix:/")));
  EXPECT_THAT(config->metrics_listen, StartsWith("127.0.0.1:"));
  EXPECT_TRUE(config->tokenizers.empty());
  EXPECT_EQ(config->action, Config::Action::kServe);
}

TEST(ConfigTest, AFlagGoesBeforeItsVariable) {
  const auto config = ReadConfig({"--max_rows=7", "--drain_ms", "9"},
                                 Variables({{"MASKD_MAX_ROWS", "5"}, {"MASKD_MAX_STREAMS", "6"}}));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->max_rows, 7);
  EXPECT_EQ(config->max_streams, 6);
  EXPECT_EQ(config->drain_ms, 9);
}

TEST(ConfigTest, BytesMayHaveAUnit) {
  const auto config = ReadConfig(
      {"--memory_bytes=1GiB", "--cache_bytes=512MiB", "--max_message_bytes=65536"}, Variables({}));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->memory_bytes, 1 << 30);
  EXPECT_EQ(config->cache_bytes, 512 << 20);
  EXPECT_EQ(config->mask_store_bytes, std::nullopt);
  EXPECT_EQ(config->max_message_bytes, 65536);
}

TEST(ConfigTest, TimesMayHaveAUnit) {
  const auto config = ReadConfig(
      {"--hello_ms=2s", "--awake_us=1ms", "--idle_ms=1h", "--stall_ms=1min", "--drain_ms=7"},
      Variables({}));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->hello_ms, 2'000);
  EXPECT_EQ(config->awake_us, 1'000);
  EXPECT_EQ(config->idle_ms, 3'600'000);
  EXPECT_EQ(config->stall_ms, 60'000);
  EXPECT_EQ(config->drain_ms, 7);
}

TEST(ConfigTest, AFileGoesBehindVariablesAndFlags) {
  const auto read = [](const std::string& path, Config* config) {
    EXPECT_EQ(path, "/the/file");
    EXPECT_TRUE(SetFlag("max_rows", "1", "f:1: max_rows", config).ok());
    EXPECT_TRUE(SetFlag("max_streams", "2", "f:1: max_streams", config).ok());
    EXPECT_TRUE(SetFlag("drain_ms", "3", "f:1: drain_ms", config).ok());
    return SetFlag("tokenizer", "a=/a", "f:4: tokenizer", config);
  };
  const auto config = ReadConfig(
      {"--config=/the/file", "--max_rows=10"},
      Variables(
          {{"MASKD_MAX_ROWS", "11"}, {"MASKD_MAX_STREAMS", "12"}, {"MASKD_TOKENIZER", "b=/b"}}),
      read);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->max_rows, 10);
  EXPECT_EQ(config->max_streams, 12);
  EXPECT_EQ(config->drain_ms, 3);
  ASSERT_EQ(config->tokenizers.size(), 1U);
  EXPECT_EQ(config->tokenizers[0].name, "b");
}

TEST(ConfigTest, ThePlaygroundIsOffAndOnLoopbackUnlessSaidInsecure) {
  const auto none = ReadConfig({}, Variables({}));
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(HasPlayground(*none));
  for (const char* address : {"127.0.0.1:0", "127.8.8.8:80", "[::1]:0", "LocalHost:8417"}) {
    const auto here = ReadConfig({absl::StrCat("--playground_listen=", address)}, Variables({}));
    ASSERT_TRUE(here.ok()) << here.status();
    EXPECT_EQ(here->playground_listen, address);
    EXPECT_TRUE(HasPlayground(*here));
  }
  const auto open = ReadConfig(
      {"--insecure_playground_listen=0.0.0.0:8417", "--playground_names=Box.lan,b"}, Variables({}));
  ASSERT_TRUE(open.ok()) << open.status();
  EXPECT_TRUE(HasPlayground(*open));
  EXPECT_THAT(open->playground_names, ElementsAre("box.lan", "b"));
}

TEST(ConfigTest, TcpAddressesAreInsecureByNameOrHaveTls) {
  const auto insecure = ReadConfig({"--insecure_listen=127.0.0.1:0,[::1]:1"}, Variables({}));
  ASSERT_TRUE(insecure.ok()) << insecure.status();
  EXPECT_THAT(insecure->listen, ElementsAre("unix:/tmp/maskd.sock"));
  EXPECT_THAT(insecure->insecure_listen, ElementsAre("127.0.0.1:0", "[::1]:1"));
  const auto alone = ReadConfig({"--listen=", "--insecure_listen=127.0.0.1:0"}, Variables({}));
  ASSERT_TRUE(alone.ok()) << alone.status();
  EXPECT_TRUE(alone->listen.empty());
  const auto tls =
      ReadConfig({"--listen=0.0.0.0:1", "--tls_cert=/c", "--tls_key=/k"}, Variables({}));
  EXPECT_TRUE(tls.ok()) << tls.status();
}

TEST(ConfigTest, UsersHaveNamesOrIds) {
  const auto config = ReadConfig({"--socket_users=root,1000"}, Variables({}));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->socket_users, ElementsAre(0, 1000));
}

TEST(ConfigTest, RepliesHaveBounds) {
  const auto none = ReadConfig({}, Variables({}));
  EXPECT_EQ(none->max_reply_bytes, 64 << 20);
  EXPECT_EQ(none->max_receiving_bytes, 256 << 20);
  EXPECT_EQ(none->max_unread_reply_bytes, 128 << 20);
  const auto config = ReadConfig({"--max_reply_bytes=2000000"},
                                 Variables({{"MASKD_MAX_UNREAD_REPLY_BYTES", "3MB"}}));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->max_reply_bytes, 2'000'000);
  EXPECT_EQ(config->max_unread_reply_bytes, 3'000'000);
}

TEST(ConfigTest, SocketsHaveRightsAndAGroup) {
  EXPECT_EQ(ReadConfig({}, Variables({}))->socket_mode, std::nullopt);
  const auto config = ReadConfig({"--socket_mode=0660", "--socket_group=0"}, Variables({}));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->socket_mode, 0660);
  EXPECT_EQ(config->socket_group, 0);
  EXPECT_EQ(ReadConfig({"--socket_group=root"}, Variables({}))->socket_group, 0);
}

TEST(ConfigTest, TokenizersRepeatAndReplaceTheVariables) {
  const auto config =
      ReadConfig({"--tokenizer=a=/a.json", "--tokenizer", "b=/b.tiktoken,format=tiktoken"},
                 Variables({{"MASKD_TOKENIZER", "c=/c;d=/d"}}));
  ASSERT_TRUE(config.ok()) << config.status();
  ASSERT_EQ(config->tokenizers.size(), 2U);
  EXPECT_EQ(config->tokenizers[0].name, "a");
  EXPECT_EQ(config->tokenizers[1].format, "tiktoken");
  const auto from_variable = ReadConfig({}, Variables({{"MASKD_TOKENIZER", "c=/c;d=/d"}}));
  ASSERT_EQ(from_variable->tokenizers.size(), 2U);
  EXPECT_EQ(from_variable->tokenizers[1].path, "/d");
}

TEST(ConfigTest, ReadsATokenizersOptions) {
  const auto source =
      ParseTokenizerFlag("l=/v/t.model,format=tiktoken,special=<|a|>:7,special=x:y:8,stop=<|a|>");
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ(source->path, "/v/t.model");
  EXPECT_THAT(source->extra_special,
              ElementsAre(testing::Pair("<|a|>", 7), testing::Pair("x:y", 8)));
  EXPECT_THAT(source->stop_tokens, ElementsAre("<|a|>"));
}

TEST(ConfigTest, ReadsEachPreset) {
  for (const std::string& preset : SpecialPresets()) {
    const auto source = ParseTokenizerFlag("l=/v/t.tiktoken,preset=" + preset);
    ASSERT_TRUE(source.ok()) << source.status();
    EXPECT_EQ(source->special_preset, preset);
  }
}

struct BadCase {
  const char* name;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> variables;
  const char* begins;  // of the error
};

class BadConfigTest : public testing::TestWithParam<BadCase> {};

TEST_P(BadConfigTest, ErrorNamesTheFlag) {
  const auto config = ReadConfig(GetParam().arguments, Variables(GetParam().variables));
  EXPECT_TRUE(absl::IsInvalidArgument(config.status())) << config.status();
  EXPECT_THAT(std::string(config.status().message()), StartsWith(GetParam().begins));
}

INSTANTIATE_TEST_SUITE_P(
    Flags, BadConfigTest,
    testing::ValuesIn(std::vector<BadCase>{
        {"Unknown", {"--nope=1"}, {}, "--nope: no such flag"},
        {"NotAFlag", {"serve"}, {}, "serve: flags begin with --"},
        {"NoValue", {"--max_rows"}, {}, "--max_rows: needs a value"},
        {"NotANumber", {"--max_rows=many"}, {}, "--max_rows: \"many\""},
        {"TooSmall", {"--max_rows=0"}, {}, "--max_rows: \"0\""},
        {"ReplyTooSmall", {"--max_reply_bytes=1000"}, {}, "--max_reply_bytes: \"1000\""},
        {"ReceivingTooSmall", {"--max_receiving_bytes=x"}, {}, "--max_receiving_bytes: \"x\""},
        {"UnreadTooSmall", {"--max_unread_reply_bytes=0"}, {}, "--max_unread_reply_bytes: \"0\""},
        {"TooLarge", {"--max_compile_work=99999999999999"}, {}, "--max_compile_work: "},
        {"OfAnEarlierRelease",
         {"--max_compile_ms=2000"},
         {},
         "--max_compile_ms: no such flag any more: a compile is bounded by its work, "
         "--max_compile_work"},
        {"VariableOfAnEarlierRelease",
         {},
         {{"MASKD_MAX_COMPILE_MS", "2000"}},
         "MASKD_MAX_COMPILE_MS: not read any more: a compile is bounded by its work, "
         "--max_compile_work"},
        {"NoSize",
         {"--cache_bytes=1.5GiB"},
         {},
         "--cache_bytes: \"1.5GiB\" is not a number of bytes"},
        {"TooLittleMemory", {"--memory_bytes=1MiB"}, {}, "--memory_bytes: \"1MiB\""},
        {"NotABool", {"--audit=perhaps"}, {}, "--audit: \"perhaps\""},
        {"UnknownKernels",
         {"--cpu_kernels=sse9"},
         {},
         "--cpu_kernels: kernels \"sse9\" are not known on this processor; supported: auto, "},
        {"KernelsOfTheEnvironment", {}, {{"MASKD_CPU_KERNELS", ""}}, "MASKD_CPU_KERNELS: kernels"},
        {"NoAddress", {"--listen="}, {}, "--listen: at least one"},
        {"TcpWithoutTls",
         {"--listen=127.0.0.1:7411"},
         {},
         "--listen: \"127.0.0.1:7411\" needs --tls_cert and --tls_key; what every user"},
        {"SocketAsInsecure",
         {"--insecure_listen=unix:/x"},
         {},
         "--insecure_listen: \"unix:/x\" is a Unix socket"},
        {"PlaygroundForOthers",
         {"--playground_listen=0.0.0.0:1"},
         {},
         "--playground_listen: \"0.0.0.0:1\" is reached from other machines: that is given with "
         "--insecure_playground_listen"},
        {"PlaygroundOfANameThatIsNoAddress",
         {"--playground_listen=127.evil.example:1"},
         {},
         "--playground_listen: \"127.evil.example:1\" is reached from other machines"},
        {"PlaygroundWithoutPort",
         {"--insecure_playground_listen=localhost"},
         {},
         "--insecure_playground_listen: \"localhost\" is not host:port"},
        {"TwoPlaygrounds",
         {"--playground_listen=[::1]:1", "--insecure_playground_listen=0.0.0.0:1"},
         {},
         "--playground_listen: --insecure_playground_listen is given, too"},
        {"AdminsInPlainText",
         {"--admin_listen=127.0.0.1:7413"},
         {},
         "--admin_listen: \"127.0.0.1:7413\" needs --tls_cert and --tls_key; what every user"},
        {"AdminsSocketOfTheWrongFlag",
         {"--insecure_admin_listen=unix:/x"},
         {},
         "--insecure_admin_listen: \"unix:/x\" is a Unix socket, which belongs to "
         "--admin_listen"},
        {"NoIdentity",
         {"--admin_callers=root"},
         {},
         "--admin_callers: \"root\" is not one of uid:"},
        {"Reflection", {"--reflection=true"}, {}, "--reflection: no such flag any more"},
        {"KeyAlone", {"--tls_key=/k"}, {}, "--tls_key: a certificate and its key are given tog"},
        {"CertificateAlone", {"--tls_cert=/c"}, {}, "--tls_cert: a certificate and its key"},
        {"ClientsOfNoServer", {"--tls_client_ca=/c"}, {}, "--tls_client_ca: needs --tls_cert"},
        {"CertificateOfNoAddress",
         {"--listen=unix:/x", "--insecure_listen=127.0.0.1:1", "--tls_cert=/c", "--tls_key=/k"},
         {},
         "--tls_cert: no address uses it: --listen and --admin_listen have none of TCP"},
        {"NoSuchUser", {"--socket_users=no-such"}, {}, "--socket_users: \"no-such\" is neither"},
        {"MetadataOfBytes",
         {"--proxy_metadata=who-bin"},
         {},
         "--proxy_metadata: \"who-bin\" means"},
        {"MetadataOfGrpc",
         {"--proxy_metadata=grpc-who"},
         {},
         "--proxy_metadata: \"grpc-who\" means"},
        {"MetadataOfTokens",
         {"--proxy_metadata=authorization"},
         {},
         "--proxy_metadata: \"authorization\" means"},
        {"MetadataInCapitals", {"--proxy_metadata=X-Who"}, {}, "--proxy_metadata: \"X-Who\" is no"},
        {"ProxyOfNobody", {"--proxy_metadata=x-who"}, {}, "--proxy_metadata: needs --proxy_users"},
        {"ProxyThatSaysNothing", {"--proxy_users=0"}, {}, "--proxy_users: needs --proxy_met"},
        {"TimeThatIsNone", {"--hello_ms=5parsec"}, {}, "--hello_ms: \"5parsec\" is not a"},
        {"HalfAMillisecond", {"--hello_ms=500us"}, {}, "--hello_ms: \"500us\" is not a"},
        {"AFileWhereNoneIsRead", {"--config=/x"}, {}, "--config: this program reads no file"},
        {"RelativeSocket", {"--listen=unix:here.sock"}, {}, "--listen: \"unix:here.sock\""},
        {"NoPort", {"--listen=localhost"}, {}, "--listen: \"localhost\" is not host:port"},
        {"APath",
         {"--listen=/tmp/maskd.sock"},
         {},
         "--listen: \"/tmp/maskd.sock\" is not host:port; a socket is unix:/path"},
        {"PortTooLarge", {"--metrics_listen=x:70000"}, {}, "--metrics_listen: "},
        {"TokenizerWithoutName", {"--tokenizer==/x"}, {}, "--tokenizer: "},
        {"TokenizerByItsPathAlone",
         {"--tokenizer=/v/t.json,stop=x"},
         {},
         "--tokenizer: \"/v/t.json,stop=x\" has no name for its vocabulary: NAME=/v/t.json,stop=x"},
        {"SocketModeNotOctal",
         {"--socket_mode=0780"},
         {},
         "--socket_mode: \"0780\" is not an octal"},
        {"SocketModeTooLarge",
         {"--socket_mode=1777"},
         {},
         "--socket_mode: \"1777\" is not an octal"},
        {"NoSuchGroup", {"--socket_group=no-such"}, {}, "--socket_group: \"no-such\" is neither"},
        {"NoConnections", {"--max_connections=0"}, {}, "--max_connections: \"0\""},
        {"NoTimeForHello", {"--hello_ms=0"}, {}, "--hello_ms: \"0\""},
        {"TokenizerTwice", {"--tokenizer=a=/x", "--tokenizer=a=/y"}, {}, "--tokenizer: the name"},
        {"TokenizerOption", {"--tokenizer=a=/x,color=red"}, {}, "--tokenizer: \"color=red\""},
        {"UnknownPreset",
         {"--tokenizer=a=/x,preset=llama9"},
         {},
         "--tokenizer: preset=llama9 is not one of llama3, qwen"},
        {"EmptyPreset", {"--tokenizer=a=/x,preset="}, {}, "--tokenizer: preset= is not one of"},
        {"SpecialWithoutId", {"--tokenizer=a=/x,special=y"}, {}, "--tokenizer: special=y"},
        {"Variable", {}, {{"MASKD_MAX_ROWS", "x"}}, "MASKD_MAX_ROWS: \"x\""},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ConfigTest, HelpNamesEveryFlagAndFormat) {
  const std::string help = ConfigHelp();
  for (const char* part : {"--listen=", "--tokenizer=", "--drain_ms=", "--help\n", "huggingface",
                           "preset=NAME", "llama3"}) {
    EXPECT_THAT(help, HasSubstr(part));
  }
}

TEST(ConfigTest, SwitchesNeedNoValue) {
  EXPECT_EQ(ReadConfig({"--help"}, Variables({}))->action, Config::Action::kHelp);
  EXPECT_EQ(ReadConfig({"--version"}, Variables({}))->action, Config::Action::kVersion);
  EXPECT_EQ(ReadConfig({"--check_config"}, Variables({}))->action, Config::Action::kCheckConfig);
}

TEST(ConfigTest, AnActionMayHaveAValue) {
  const auto config = ReadConfig({"--health=liveness"}, Variables({}));
  EXPECT_EQ(config->action, Config::Action::kHealth);
  EXPECT_EQ(config->health, "liveness");
}

}  // namespace
}  // namespace maskd::service
