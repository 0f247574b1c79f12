// Answers that the masks of chat requests allow: random walks, for readers that are not ours.
//
//   {"source": {...}, "pieces": ["..."], "walks": 40, "steps": 60, "seed": 1}  ->  {"texts": [...]}
//                                                         or  {"error": "/request/tools/0: ..."}
// "source" is of the kind chat. Each step takes one of the pieces that may come next, or a byte;
// what has not ended after "steps" is completed by the shortest completion.
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace {

using Json = nlohmann::ordered_json;
using maskd::TokenId;

constexpr TokenId kEnd = 256;
constexpr int kCompletionBytes = 1 << 16;

// The bytes, an end that no text spells, and the pieces.
std::shared_ptr<maskd::TokenizerSpace> MakeSpace(const Json& pieces) {
  std::vector<maskd::Vocabulary::Token> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back({std::string(1, static_cast<char>(byte))});
  tokens.push_back({"\x01 the end", true});
  for (const Json& piece : pieces) tokens.push_back({piece.get<std::string>()});
  return maskd::TokenizerSpace::Create(
      *maskd::Vocabulary::Create("bytes", std::move(tokens), {kEnd}));
}

class Walk {
 public:
  Walk(const std::shared_ptr<const maskd::CompiledGrammar>& grammar, std::mt19937_64* random)
      : matcher_(grammar), random_(*random) {}

  absl::StatusOr<std::string> Run(int steps) {
    for (int i = 0; i < steps; ++i) {
      const absl::StatusOr<maskd::MaskRef> mask = matcher_.Mask();
      if (!mask.ok()) return mask.status();
      const TokenId token = Chosen(**mask);
      if (token == kEnd) return text_;
      if (const absl::Status taken = matcher_.Accept(token); !taken.ok()) return taken;
      absl::StrAppend(&text_, matcher_.grammar().tokenizer().vocabulary().TokenBytes(token));
    }
    const absl::StatusOr<std::string> rest = matcher_.ShortestCompletion(kCompletionBytes);
    if (!rest.ok()) return rest.status();
    return absl::StrCat(text_, *rest);
  }

 private:
  // Pieces three times in four, then what can be printed.
  TokenId Chosen(const maskd::TokenMask& mask) {
    std::vector<TokenId> pieces;
    std::vector<TokenId> printed;
    std::vector<TokenId> others;
    mask.VisitAllowed([&](TokenId id) {
      const bool is_printed = id < kEnd && absl::ascii_isprint(static_cast<unsigned char>(id));
      (id >= kEnd ? pieces : is_printed ? printed : others).push_back(id);
    });
    const std::uint64_t draw = random_() % 16;
    for (const std::vector<TokenId>* of : {draw < 12   ? &pieces
                                           : draw < 15 ? &printed
                                                       : &others,
                                           &pieces, &printed, &others}) {
      if (!of->empty()) return (*of)[random_() % of->size()];
    }
    return kEnd;
  }

  maskd::Matcher matcher_;
  std::mt19937_64& random_;
  std::string text_;
};

Json Answer(const Json& asked) {
  maskd::Budget budget = maskd::Budget::Unlimited();
  const auto grammar = maskd::CompileGrammar({"chat", asked["source"].dump(), {}},
                                             MakeSpace(asked["pieces"]), maskd::Limits(), budget);
  if (!grammar.ok()) return {{"error", std::string(grammar.status().message())}};
  std::mt19937_64 random(asked["seed"].get<std::uint64_t>());
  Json texts = Json::array();
  for (int i = 0; i < asked["walks"].get<int>(); ++i) {
    auto text = Walk(*grammar, &random).Run(asked["steps"].get<int>());
    if (!text.ok()) return {{"error", text.status().ToString()}};
    texts.push_back(*std::move(text));
  }
  return {{"texts", std::move(texts)}};
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);)
    std::cout << Answer(Json::parse(line)).dump() << std::endl;
  return 0;
}
