// Random walks: texts that a model without any sense would write under the masks of real schemas.
//
//   random_walks --vocab llama3 --schemas 200 --walks 50 --tokens 60 --seed 1 > walks.jsonl
//
// Each step takes one of the allowed tokens, all equally likely; a stop id ends the walk. One that
// has not ended after --tokens tokens is completed by the shortest completion, a token at a time;
// or, with --close_within, the masks lead each to its end in so many tokens.
// On the way every promise is checked: no mask is all-zero, what is allowed is accepted, a finished
// row has no mask, and every place has a completion within the budget of a step.
//
// Output   one JSON object a line: id and schema of the case, text of the walk.
// Exit     0; 1 a promise was broken (told on stderr); 77 the data or vocabulary is missing.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include <nlohmann/json.hpp>

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/closing.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/loader.h"
#include "tests/oracle/maskbench_cases.h"

ABSL_FLAG(std::string, vocab, "llama3", "llama3, or bytes: the embedded vocabulary.");
ABSL_FLAG(int, schemas, 200, "Schemas that compile, spread over the file.");
ABSL_FLAG(int, walks, 50, "Walks of each schema.");
ABSL_FLAG(int, tokens, 60, "Tokens of a walk before it is completed.");
ABSL_FLAG(
    int, close_within, 0,
    "Tokens, the stop id among them, that a text is led to its end in, where one is so short; "
    "0: none is led.");
ABSL_FLAG(std::uint64_t, seed, 1, "Seed of the choice of schemas and of the walks.");
ABSL_FLAG(std::string, order, "declared", "Property order: declared or any.");
ABSL_FLAG(bool, compact, false, "No white space between JSON tokens.");

namespace maskd {
namespace {

constexpr int kSkipped = 77;
constexpr int kCompletionBytes = 1 << 16;

using Random = std::mt19937_64;

// The id of each single byte.
std::array<TokenId, 256> ByteTokens(const Vocabulary& vocabulary) {
  std::array<TokenId, 256> ids;
  ids.fill(-1);
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    const absl::string_view bytes = vocabulary.TokenBytes(id);
    if (!vocabulary.IsSpecial(id) && bytes.size() == 1)
      ids[static_cast<unsigned char>(bytes[0])] = id;
  }
  return ids;
}

void AllowedIds(const TokenMask& mask, std::vector<TokenId>* ids) {
  ids->clear();
  mask.VisitAllowed([&](TokenId id) { ids->push_back(id); });
}

// One walk through a grammar.
class Walk {
 public:
  Walk(const std::shared_ptr<const CompiledGrammar>& grammar,
       const std::array<TokenId, 256>& byte_tokens, Random* random)
      : matcher_(grammar), byte_tokens_(byte_tokens), random_(*random) {}

  // Whether there is a text of so many tokens, the stop id among them.
  [[nodiscard]] bool CanCloseWithin(int tokens) const {
    return matcher_.FewestTokens(tokens - 1).ok();
  }

  // The text, led to its end in `tokens` by `closing`. Errors: as below.
  absl::StatusOr<std::string> RunToEnd(int tokens, ClosingMasks* closing) {
    for (int left = tokens; left > 0 && !matcher_.finished(); --left) {
      const absl::StatusOr<MaskRef> mask = matcher_.Mask();
      if (!mask.ok()) return Broken(mask.status().ToString());
      const MaskRef fitting = closing->Narrow(matcher_.stepper(), matcher_.place(), *mask, left);
      if (const absl::Status taken = TakeAnyOf(*fitting); !taken.ok()) return taken;
    }
    if (!matcher_.finished()) return Broken(absl::StrCat("no end within ", tokens, " tokens"));
    return text_;
  }

  // The text. INTERNAL, with the place, where a promise is broken; RESOURCE_EXHAUSTED where the
  // completion is over the budget of a step.
  absl::StatusOr<std::string> Run(int tokens) {
    for (int i = 0; i < tokens && !matcher_.finished(); ++i)
      if (const absl::Status taken = TakeAny(); !taken.ok()) return taken;
    if (!matcher_.finished()) {
      if (const absl::Status completed = Complete(); !completed.ok()) return completed;
    }
    const absl::StatusOr<MaskRef> mask = matcher_.Mask();
    if (!mask.ok() || *mask != nullptr) return Broken("a finished row has a mask");
    return text_;
  }

 private:
  absl::Status TakeAny() {
    const absl::StatusOr<MaskRef> mask = matcher_.Mask();
    if (!mask.ok()) return Broken(mask.status().ToString());
    return TakeAnyOf(**mask);
  }

  absl::Status TakeAnyOf(const TokenMask& mask) {
    AllowedIds(mask, &allowed_);
    if (allowed_.empty()) return Broken("no token is allowed");
    std::uniform_int_distribution<std::size_t> any(0, allowed_.size() - 1);
    return Take(allowed_[any(random_)]);
  }

  // By single bytes to the end, and a stop id.
  absl::Status Complete() {
    const absl::StatusOr<std::string> rest = matcher_.ShortestCompletion(kCompletionBytes);
    if (!rest.ok()) return absl::Status(rest.status().code(), Place(rest.status().message()));
    for (const char byte : *rest) {
      const TokenId token = byte_tokens_[static_cast<unsigned char>(byte)];
      if (const absl::Status taken = TakeMasked(token); !taken.ok()) return taken;
    }
    return TakeMasked(matcher_.grammar().tokenizer().vocabulary().stop_ids().front());
  }

  absl::Status TakeMasked(TokenId token) {
    const absl::StatusOr<MaskRef> mask = matcher_.Mask();
    if (!mask.ok()) return Broken(mask.status().ToString());
    if (!(*mask)->Allows(token))
      return Broken(absl::StrCat("token ", token, " of the completion is not allowed"));
    return Take(token);
  }

  absl::Status Take(TokenId token) {
    if (const absl::Status taken = matcher_.Accept(token); !taken.ok())
      return Broken(absl::StrCat("an allowed token is refused: ", taken.ToString()));
    const Vocabulary& vocabulary = matcher_.grammar().tokenizer().vocabulary();
    if (!vocabulary.IsSpecial(token)) absl::StrAppend(&text_, vocabulary.TokenBytes(token));
    return absl::OkStatus();
  }

  [[nodiscard]] absl::Status Broken(absl::string_view what) const {
    return absl::InternalError(Place(what));
  }
  [[nodiscard]] std::string Place(absl::string_view what) const {
    return absl::StrCat("after \"", absl::CHexEscape(text_), "\": ", what);
  }

  Matcher matcher_;
  const std::array<TokenId, 256>& byte_tokens_;
  Random& random_;
  std::string text_;
  std::vector<TokenId> allowed_;
};

GrammarSource SourceOf(const MaskbenchCase& input) {
  GrammarSource source = {"json_schema", input.schema, {}};
  if (absl::GetFlag(FLAGS_order) == "any") source.options.property_order = PropertyOrder::kAny;
  if (absl::GetFlag(FLAGS_compact)) source.options.white_space = WhiteSpace::kCompact;
  return source;
}

struct Totals {
  int schemas = 0;
  int walks = 0;
  int broken = 0;
};

void WalkSchema(const MaskbenchCase& input, const std::shared_ptr<const CompiledGrammar>& grammar,
                const std::array<TokenId, 256>& byte_tokens, Random* random, Totals* totals) {
  ++totals->schemas;
  ClosingMasks closing;
  const int end = absl::GetFlag(FLAGS_close_within);
  for (int i = 0; i < absl::GetFlag(FLAGS_walks); ++i) {
    Walk walk(grammar, byte_tokens, random);
    if (end > 0 && !walk.CanCloseWithin(end)) return;
    const auto text =
        end > 0 ? walk.RunToEnd(end, &closing) : walk.Run(absl::GetFlag(FLAGS_tokens));
    ++totals->walks;
    if (!text.ok()) {
      ++totals->broken;
      std::cerr << input.id << " " << text.status() << "\n";
      continue;
    }
    const nlohmann::json line = {{"id", input.id}, {"schema", input.schema}, {"text", *text}};
    std::cout << line.dump() << "\n";
  }
}

absl::StatusOr<std::shared_ptr<const Vocabulary>> ChosenVocabulary() {
  if (absl::GetFlag(FLAGS_vocab) == "bytes") return EmbeddedByteVocabulary();
  return LoadLlama3(MASKD_SOURCE_DIR);
}

int Run() {
  const std::uint64_t seed = absl::GetFlag(FLAGS_seed);
  const auto vocabulary = ChosenVocabulary();
  const auto cases = ReadMaskbench(MaskbenchFile(MASKD_SOURCE_DIR), seed);
  if (!vocabulary.ok() || !cases.ok()) {
    std::cerr << "SKIPPED: " << (cases.ok() ? vocabulary.status() : cases.status()) << "\n";
    return kSkipped;
  }
  const std::array<TokenId, 256> byte_tokens = ByteTokens(**vocabulary);
  const std::shared_ptr<TokenizerSpace> space = TokenizerSpace::Create(*vocabulary);
  Random random(seed);
  Totals totals;
  for (const MaskbenchCase& input : *cases) {
    if (totals.schemas == absl::GetFlag(FLAGS_schemas)) break;
    Budget budget = Budget::Unlimited();
    const auto grammar = CompileGrammar(SourceOf(input), space, Limits(), budget);
    if (grammar.ok()) WalkSchema(input, *grammar, byte_tokens, &random, &totals);
  }
  std::cerr << totals.walks << " walks of " << totals.schemas << " schemas, " << totals.broken
            << " broke a promise\n";
  return totals.broken == 0 && totals.walks > 0 ? 0 : 1;
}

}  // namespace
}  // namespace maskd

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Random walks under the masks of MaskBench schemas.");
  absl::ParseCommandLine(argc, argv);
  return maskd::Run();
}
