// Reads lines of JSON from the standard input and answers each with a line: strings that a random
// walk under the masks of a format writes, and whether given strings are of it. For tests in other
// languages.
//
//   {"format": "date", "walks": 2, "bytes": 30, "seed": 1, "texts": ["\"a\""]}
//   -> {"walks": ["\"1985-04-12\"", "..."], "verdicts": [false]}
//
// All strings are JSON texts. Tokens are single bytes; a walk that has not ended after so many is
// completed by the shortest completion.
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

#include "grammar_core/matcher/matcher.h"
#include "tests/frontend/verdict.h"

namespace maskd {
namespace {

using Json = nlohmann::json;
using Grammar = std::shared_ptr<const CompiledGrammar>;

constexpr TokenId kBytes = 256;
// A backslash is taken once in so many steps that allow one: not all shall be escapes.
constexpr int kEscapeOneIn = 20;

template <typename T>
T OrDie(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::cerr << value.status() << "\n";
  std::exit(1);
}

std::string Walk(const Grammar& grammar, int bytes, std::mt19937_64* random) {
  Matcher matcher(grammar);
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    const MaskRef mask = OrDie(matcher.Mask());
    std::vector<TokenId> allowed;
    for (TokenId id = 0; id < kBytes; ++id) {
      const bool taken = mask->Allows(id) && (id != '\\' || (*random)() % kEscapeOneIn == 0);
      if (taken) allowed.push_back(id);
    }
    if (allowed.empty()) break;
    const TokenId next = allowed[(*random)() % allowed.size()];
    if (!matcher.Accept(next).ok()) return absl::StrCat("an allowed byte is refused after ", text);
    text.push_back(static_cast<char>(next));
  }
  return absl::StrCat(text, OrDie(matcher.ShortestCompletion(1 << 16)));
}

Json Answer(const Json& request) {
  const std::string schema =
      absl::StrCat(R"({"type":"string","format":)", request["format"].dump(), "}");
  const Grammar grammar = OrDie(CompileOverBytes("json_schema", schema));
  std::mt19937_64 random(request["seed"].get<int>());
  Json walks = Json::array();
  for (int i = 0; i < request["walks"].get<int>(); ++i)
    walks.push_back(Walk(grammar, request["bytes"].get<int>(), &random));
  Json verdicts = Json::array();
  for (const Json& text : request["texts"])
    verdicts.push_back(OrDie(AcceptsByMasks(grammar, text.get<std::string>())));
  return {{"walks", walks}, {"verdicts", verdicts}};
}

}  // namespace
}  // namespace maskd

int main() {
  for (std::string line; std::getline(std::cin, line);)
    std::cout << maskd::Answer(maskd::Json::parse(line)).dump() << "\n" << std::flush;
  return 0;
}
