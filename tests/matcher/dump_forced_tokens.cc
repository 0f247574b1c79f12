// Prints the forced tokens at every place of walks, for compare_forced_tokens.py.
//
//   dump_forced_tokens PATH [preset=NAME] < walks > places
//
// Input    a JSON object a line: kind and text of a grammar, compact (no white space in JSON), and
//          tokens, a walk through it.
// Output   a JSON list a line: for each place of the walk, [forced bytes, tokens, how many of them
//          are certain]; or {"error": text} where the grammar or a token is refused.
// Exit     0; 1 for a vocabulary that cannot be read, or whose file does not say how texts are cut;
//          2 for a wrong argument or input.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include <nlohmann/json.hpp>

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/loader.h"

namespace maskd {
namespace {

using Json = nlohmann::json;

constexpr int kMaxBytes = 256;

Json Error(const absl::Status& status) { return {{"error", std::string(status.ToString())}}; }

Json PlacesOf(const Json& line, const std::shared_ptr<TokenizerSpace>& space) {
  GrammarSource source = {line.at("kind"), line.at("text"), {}};
  if (line.at("compact").get<bool>()) source.options.white_space = WhiteSpace::kCompact;
  Budget budget = Budget::Unlimited();
  const auto grammar = CompileGrammar(source, space, Limits(), budget);
  if (!grammar.ok()) return Error(grammar.status());
  Matcher matcher(*grammar);
  Json places = Json::array();
  for (const TokenId token : line.at("tokens").get<std::vector<TokenId>>()) {
    const auto forced = matcher.FindForcedTokens(kMaxBytes);
    if (!forced.ok()) return Error(forced.status());
    places.push_back({forced->bytes.size(), forced->tokens, forced->certain_tokens});
    if (const absl::Status taken = matcher.Accept(token); !taken.ok()) return Error(taken);
  }
  return places;
}

int Run(const VocabularySource& source) {
  const auto vocabulary = LoadVocabulary(source);
  if (!vocabulary.ok()) {
    std::cerr << "dump_forced_tokens: " << vocabulary.status() << "\n";
    return 1;
  }
  const std::shared_ptr<TokenizerSpace> space = TokenizerSpace::Create(*vocabulary);
  if (space->canonical_encoder() == nullptr) {
    std::cerr << "dump_forced_tokens: " << source.path << " does not say how texts are cut\n";
    return 1;
  }
  std::string text;
  while (std::getline(std::cin, text)) {
    const Json line = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (line.is_discarded()) return 2;
    std::cout << PlacesOf(line, space).dump() << "\n";
  }
  return 0;
}

}  // namespace
}  // namespace maskd

int main(int argc, char** argv) {
  maskd::VocabularySource source;
  source.name = "dumped";
  source.path = argc > 1 ? argv[1] : "";
  for (int i = 2; i < argc; ++i) {
    absl::string_view option = argv[i];
    if (absl::ConsumePrefix(&option, "preset=")) {
      source.special_preset = std::string(option);
    } else if (absl::ConsumePrefix(&option, "stop=")) {
      source.stop_tokens.emplace_back(option);
    } else {
      std::cerr << "dump_forced_tokens: unknown argument " << argv[i] << "\n";
      return 2;
    }
  }
  return maskd::Run(source);
}
