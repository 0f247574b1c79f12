// What an operator says of tokenizers, and what is offered of them while others are put in their
// place.
#include "service/config/tokenizer_flag.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/grammars/tokenizer_shelf.h"

namespace maskd::service {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(TokenizerFlagTest, ReadsANameAPathAndOptions) {
  const auto name = ParseTokenizerFlag("bytes");
  ASSERT_TRUE(name.ok()) << name.status();
  EXPECT_EQ(name->name, "bytes");
  EXPECT_EQ(name->path, "");
  const auto all = ParseTokenizerFlag(
      "l=/v/a=b.json,format=tiktoken,special=a=b:0,special=::7,special=<x>:2147483647,stop=<=>,"
      "stop=b");
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->path, "/v/a=b.json") << "only the first = counts";
  EXPECT_THAT(all->extra_special,
              ElementsAre(Pair("a=b", 0), Pair(":", 7), Pair("<x>", 2'147'483'647)));
  EXPECT_THAT(all->stop_tokens, ElementsAre("<=>", "b"));
  EXPECT_EQ(ParseTokenizerFlag("größe=/v")->name, "größe");
}

struct WrongFlag {
  const char* value;
  const char* says;
};

TEST(TokenizerFlagTest, SaysWhatIsWrong) {
  for (const WrongFlag& wrong :
       {WrongFlag{"", "is not NAME=PATH"},
        {"=/v", "is not NAME=PATH"},
        {"/v/tokenizer.json", "has no name for its vocabulary: NAME=/v/tokenizer.json"},
        {"a/b=/v", "has no name for its vocabulary"},
        {"llama3", "\"llama3\" is not NAME=PATH, nor \"bytes\", the embedded vocabulary"},
        {"tokenizer.json", "is not NAME=PATH"},
        {"llama3=", "is not NAME=PATH"},
        {"l=/v,", "\"\" is none of"},
        {"l=/v,nonsense", "\"nonsense\" is none of format=F"},
        {"l=/v,format=", "is none of"},
        {"l=/v,stop=", "is none of"},
        {"l=/v,preset=", "is not one of"},
        {"l=/v,preset=llama", "is not one of"},
        {"l=/v,special=a", "is not special=TEXT:ID"},
        {"l=/v,special=:7", "is not special=TEXT:ID"},
        {"l=/v,special=a:", "is not special=TEXT:ID"},
        {"l=/v,special=a:-1", "is not special=TEXT:ID"},
        {"l=/v,special=a:2147483648", "is not special=TEXT:ID"},
        // A reply has the name as a string of proto3, which no client could read.
        {"\xff=/v", "the name \"\xef\xbf\xbd\" is not UTF-8"}}) {
    const auto source = ParseTokenizerFlag(wrong.value);
    EXPECT_TRUE(absl::IsInvalidArgument(source.status())) << wrong.value;
    EXPECT_THAT(source.status().message(), HasSubstr(wrong.says)) << wrong.value;
  }
}

TokenizerStorePtr NewStore() { return *TokenizerStore::Load({}, 1 << 20); }

TEST(TokenizerShelfTest, WhoHasAStoreKeepsItOverAReload) {
  TokenizerStorePtr first = NewStore();
  const std::weak_ptr<const TokenizerStore> watched = first;
  TokenizerShelf shelf(std::move(first));
  TokenizerStorePtr held = shelf.now();
  const LoadedTokenizer* const tokenizer = *held->Find("");
  const TokenizerStorePtr second = NewStore();
  shelf.Replace(second);
  EXPECT_EQ(shelf.now(), second);
  EXPECT_EQ(tokenizer->name(), "bytes");
  held = nullptr;
  EXPECT_TRUE(watched.expired()) << "the last user has gone";
}

TEST(TokenizerShelfTest, IsReadWhileItIsReplaced) {
  const std::vector<TokenizerStorePtr> stores = {NewStore(), NewStore()};
  TokenizerShelf shelf(stores[0]);
  std::atomic<bool> over = false;
  std::thread reader([&] {
    while (!over) {
      const TokenizerStorePtr now = shelf.now();
      EXPECT_TRUE(now == stores[0] || now == stores[1]);
    }
  });
  for (int i = 0; i < 10'000; ++i) shelf.Replace(stores[static_cast<std::size_t>(i % 2)]);
  over = true;
  reader.join();
}

}  // namespace
}  // namespace maskd::service
