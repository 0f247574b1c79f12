// What the commands of maskctl share: their table, grammars and files, the server, colours.
#include "tools/cli/command.h"

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/base/test_folder.h"
#include "tools/cli/connection.h"
#include "tools/cli/grammar_flags.h"
#include "tools/cli/lint/finding.h"
#include "tools/cli/spelling.h"
#include "tools/cli/terminal.h"

namespace maskd::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// A variable that is set while this lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    setenv(name, value, 1);  // NOLINT(concurrency-mt-unsafe)
  }
  ~Variable() { unsetenv(name_); }  // NOLINT(concurrency-mt-unsafe)
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

// The exit status, with what was written to both streams.
std::string RunWords(const std::vector<std::string>& words) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = RunProgram(words);
  const std::string out = testing::internal::GetCapturedStdout();
  const std::string error = testing::internal::GetCapturedStderr();
  return absl::StrCat(status, " out: ", out, " error: ", error);
}

TEST(CommandTest, EachHasANameOfItsOwnAndSaysWhatItIs) {
  std::set<absl::string_view> names;
  for (const Command* command : AllCommands()) {
    EXPECT_TRUE(names.insert(command->name).second) << command->name;
    EXPECT_FALSE(command->summary.empty()) << command->name;
    std::set<std::string> flags;
    for (const Flag& flag : command->flags())
      EXPECT_TRUE(flags.insert(std::string(flag.name)).second)
          << command->name << ": --" << flag.name << " twice";
    EXPECT_THAT(RunWords({std::string(command->name), "--help"}),
                StartsWith(absl::StrCat("0 out: ")))
        << command->name;
    EXPECT_THAT(RunWords({std::string(command->name), "--no-such-flag"}),
                StartsWith("2 out:  error: "))
        << command->name;
  }
  EXPECT_GE(names.size(), 15);
}

TEST(CommandTest, AWrongCommandLineIsStatusTwoAndOneLine) {
  EXPECT_THAT(RunWords({}), StartsWith("2 out:  error: "));
  EXPECT_THAT(RunWords({"no-such-command"}),
              testing::AllOf(StartsWith("2 out:  error: maskctl"),
                             HasSubstr("there is no command \"no-such-command\"")));
  EXPECT_THAT(RunWords({"check", "--local", "--server=unix:/a"}), StartsWith("2 out:  error: "));
  EXPECT_THAT(RunWords({"compile", "/nonexistent/a.json"}), StartsWith("1 out:  error: "));
  EXPECT_THAT(RunWords({"--version"}), StartsWith("0 out: "));
}

TEST(FindingTest, SeveritiesAscend) {
  EXPECT_LT(Severity::kNote, Severity::kWarning);
  EXPECT_LT(Severity::kWarning, Severity::kError);
  EXPECT_EQ(Finding().severity, Severity::kNote);
}

absl::StatusOr<Flags> GrammarFlags(const std::vector<std::string>& words) {
  return Flags::Parse(WithGrammarFlags({{"schemas", "FOLDER", "a folder", ""}}), words);
}

TEST(GrammarFlagsTest, WhatIsGivenIsSetAndNothingElse) {
  const auto none = ReadGrammarFlags(*GrammarFlags({}));
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_EQ(none->kind(), "json_schema");
  EXPECT_EQ(none->options().ByteSizeLong(), 0U);
  const auto all = ReadGrammarFlags(*GrammarFlags(
      {"--kind=regex", "--white_space=compact", "--max_whitespace=0", "--item_separator=",
       "--key_separator=: ", "--indent=2", "--property_order=any", "--spelling=canonical",
       "--strictness=relax", "--additional_properties=false", "--assert_formats=true",
       "--max_number_digits=5", "--max_text_tokens=6", "--max_text_characters=2147483647"}));
  ASSERT_TRUE(all.ok()) << all.status();
  const v1::GrammarOptions& options = all->options();
  EXPECT_EQ(all->kind(), "regex");
  EXPECT_EQ(options.white_space(), v1::WHITE_SPACE_COMPACT);
  EXPECT_TRUE(options.has_max_whitespace()) << "0 is a bound";
  EXPECT_TRUE(options.has_item_separator()) << "nothing is a separator";
  EXPECT_EQ(options.key_separator(), ": ");
  EXPECT_EQ(options.indent(), 2);
  EXPECT_EQ(options.property_order(), v1::PROPERTY_ORDER_ANY);
  EXPECT_EQ(options.spelling(), v1::JSON_SPELLING_CANONICAL);
  EXPECT_EQ(options.strictness(), v1::STRICTNESS_RELAX);
  EXPECT_TRUE(options.has_additional_properties());
  EXPECT_FALSE(options.additional_properties());
  EXPECT_TRUE(options.assert_formats());
  EXPECT_EQ(options.max_number_digits(), 5);
  EXPECT_EQ(options.max_tokens(), 6);
  EXPECT_EQ(options.max_characters(), 2147483647);
  for (const char* const wrong :
       {"--white_space=tabs", "--indent=-1", "--indent=2147483648", "--indent=x",
        "--indent=", "--assert_formats=yes", "--max_text_tokens=1e3"}) {
    const absl::Status status = ReadGrammarFlags(*GrammarFlags({wrong})).status();
    EXPECT_FALSE(status.ok()) << wrong;
    EXPECT_THAT(std::string(status.message()), HasSubstr("--")) << wrong;
  }
}

std::string WriteGzip(const TestFolder& folder, const std::string& name, const std::string& text) {
  const std::string path = folder.Path(name);
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  return path;
}

TEST(ReadFileTest, IsTheWholeFileOrAnError) {
  const TestFolder folder;
  std::string text;
  for (int i = 0; i < 40'000; ++i) absl::StrAppend(&text, i * i % 7919, "\n");
  EXPECT_EQ(*ReadFile(folder.Write("plain", text)), text);
  EXPECT_EQ(*ReadFile(folder.Write("empty", "")), "");
  const std::string zeros("a\0b\r\n", 5);
  EXPECT_EQ(*ReadFile(folder.Write("zeros", zeros)), zeros);
  const std::string zipped = WriteGzip(folder, "text.gz", text);
  EXPECT_EQ(*ReadFile(zipped), text);
  for (const std::string& path : {folder.Path("none"), folder.Path(".")})
    EXPECT_TRUE(absl::IsNotFound(ReadFile(path).status())) << path;
  // A download that broke off: half of a grammar is another grammar.
  const auto size = std::filesystem::file_size(zipped);
  for (const std::uintmax_t left : {size / 2, size - 4, std::uintmax_t{20}}) {
    std::filesystem::resize_file(zipped, left);
    const auto cut = ReadFile(zipped);
    EXPECT_FALSE(cut.ok()) << left << " of " << size;
    if (!cut.ok()) EXPECT_THAT(std::string(cut.status().message()), StartsWith(zipped));
    WriteGzip(folder, "text.gz", text);
  }
}

TEST(GrammarFilesTest, AreThoseNamedOrThoseOfTheFolder) {
  const TestFolder folder;
  folder.Write("b.json", "{}");
  folder.Write("a.json", "true");
  folder.Write("c.txt", "");
  const std::string named = absl::StrCat("--schemas=", folder.Path(""));
  EXPECT_THAT(*GrammarFiles(*GrammarFlags({named})),
              ElementsAre(testing::EndsWith("/a.json"), testing::EndsWith("/b.json")));
  EXPECT_THAT(*GrammarFiles(*GrammarFlags({named, "x", "y"})), ElementsAre("x", "y"));
  EXPECT_FALSE(GrammarFiles(*GrammarFlags({"--schemas=/nonexistent"})).ok());
  EXPECT_FALSE(GrammarFiles(*GrammarFlags({})).ok());
  EXPECT_EQ(*OneArgument(*GrammarFlags({"x"}), "file"), "x");
  EXPECT_THAT(std::string(OneArgument(*GrammarFlags({"x", "y"}), "file").status().message()),
              HasSubstr("one file is needed"));
}

TEST(RemotesTest, AreDocumentsByTheirAddress) {
  const TestFolder folder;
  const auto read = [&](const std::string& text) {
    return ReadGrammarFlags(
        *GrammarFlags({absl::StrCat("--remotes=", folder.Write("remotes.json", text))}));
  };
  const auto grammar = read(R"({"http://a/b": {"type": "integer"}, "c": true})");
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  ASSERT_EQ(grammar->documents_size(), 2);
  EXPECT_EQ(grammar->documents(0).uri(), "http://a/b");
  EXPECT_EQ(grammar->documents(0).text(), R"({"type":"integer"})");
  for (const char* const wrong : {"", "[]", "{", "7"})
    EXPECT_THAT(std::string(read(wrong).status().message()), StartsWith(folder.Path(""))) << wrong;
}

TEST(ConnectionTest, TheServerIsTheFlagsElseTheVariablesElseTheDefault) {
  const auto parse = [](const std::vector<std::string>& words) {
    return *Flags::Parse(WithConnectionFlags({}), words);
  };
  EXPECT_EQ(*ServerAddress(parse({})), "unix:/tmp/maskd.sock");
  {
    const Variable variable("MASKD_ADDRESS", "unix:/v");
    EXPECT_EQ(*ServerAddress(parse({})), "unix:/v");
    EXPECT_EQ(*ServerAddress(parse({"--server=unix:/f"})), "unix:/f");
  }
  const Variable empty("MASKD_ADDRESS", "");
  EXPECT_EQ(*ServerAddress(parse({})), "unix:/tmp/maskd.sock");
}

TEST(ConnectionTest, ALocalServerEndsWithIt) {
  const TestFolder folder;
  const Variable temp("TMPDIR", folder.Path("").c_str());
  {
    const auto local = Connection::OpenWithMetrics(
        *Flags::Parse(WithConnectionFlags({}), std::vector<std::string>{"--local"}));
    ASSERT_TRUE(local.ok()) << local.status();
    EXPECT_THAT((*local)->metrics_address(), StartsWith("127.0.0.1:"));
    const auto tokenizers = (*local)->client().ListTokenizers();
    ASSERT_TRUE(tokenizers.ok()) << tokenizers.status();
    EXPECT_EQ(tokenizers->size(), 1U);
    EXPECT_FALSE(std::filesystem::is_empty(folder.Path("")));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.Path(""))) << "its directory goes too";
  const Variable nowhere("TMPDIR", "/nonexistent");
  const absl::Status refused =
      Connection::Open(*Flags::Parse(WithConnectionFlags({}), std::vector<std::string>{"--local"}))
          .status();
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
}

TEST(SpellingTest, SpecialTokensSpellNothing) {
  std::vector<v1::Token> tokens(4);
  tokens[0].set_text("ab");
  tokens[0].set_special(true);
  tokens[1].set_text("a");
  tokens[2].set_text("b");
  tokens[3].set_text("");
  const TextSplitter splitter = SplitterOf(tokens);
  EXPECT_EQ(splitter.Longest("aba"), (std::vector<TokenId>{1, 2, 1}));
  EXPECT_EQ(splitter.Longest("abc"), std::nullopt);
}

TEST(TerminalTest, ColoursAreForTerminalsAlone) {
  const Variable term("TERM", "xterm");
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(grantpt(terminal), 0);
  ASSERT_EQ(unlockpt(terminal), 0);
  EXPECT_EQ(Painted("a", Tone::kGood, terminal), "\x1b[32ma\x1b[0m");
  EXPECT_EQ(Painted("a", Tone::kBad, terminal), "\x1b[31ma\x1b[0m");
  {
    const Variable no_colour("NO_COLOR", "1");
    EXPECT_EQ(Painted("a", Tone::kBad, terminal), "a");
  }
  {
    const Variable empty("NO_COLOR", "");  // no-color.org: when it is not empty
    EXPECT_NE(Painted("a", Tone::kBad, terminal), "a");
  }
  {
    const Variable dumb("TERM", "dumb");
    EXPECT_EQ(Painted("a", Tone::kBad, terminal), "a");
  }
  close(terminal);
  EXPECT_EQ(Painted("a", Tone::kFaint, terminal), "a") << "no longer one";
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(Painted("a", Tone::kWarning, ends[1]), "a");
  close(ends[0]);
  close(ends[1]);
  EXPECT_GE(TerminalLines(), 2);
}

TEST(TerminalTest, ProgressIsNothingInAFile) {
  testing::internal::CaptureStderr();
  {
    Progress progress("schemas", 3);
    for (int i = 0; i < 3; ++i) progress.Step();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace maskd::cli
