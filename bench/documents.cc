#include "bench/documents.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

#include "bench/cases.h"
#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/text_splitter.h"

namespace maskd::bench {
namespace {

// The document of a case, if it has one.
std::optional<Document> MakeDocument(const Case& one, const TextSplitter& splitter,
                                     const std::shared_ptr<TokenizerSpace>& space) {
  const auto instance = std::ranges::find_if(
      one.tests, [](const Instance& test) { return test.valid && test.tokens.size() > 1; });
  if (instance == one.tests.end()) return std::nullopt;
  Document document{one.id, {"json_schema", one.schema, {}}, nullptr, {}};
  auto grammar = CompileForBench(document.source, space);
  auto tokens = splitter.Longest(instance->text);
  if (!grammar.ok() || !tokens.has_value()) return std::nullopt;
  document.grammar = *std::move(grammar);
  document.tokens = *std::move(tokens);
  if (!TakeDocument(document.grammar, document.tokens)) return std::nullopt;
  return document;
}

}  // namespace

absl::StatusOr<std::vector<Document>> LoadDocuments(const std::string& path,
                                                    const std::shared_ptr<TokenizerSpace>& space,
                                                    int count) {
  const TextSplitter splitter(space->vocabulary());
  // Some schemas do not compile: more are asked for than are needed.
  auto cases = ReadCases(path, {.sample = 4 * count});
  if (!cases.ok()) return cases.status();
  std::vector<Document> documents;
  for (const Case& one : *cases) {
    if (static_cast<int>(documents.size()) == count) break;
    std::optional<Document> document = MakeDocument(one, splitter, space);
    if (document.has_value()) documents.push_back(*std::move(document));
  }
  if (static_cast<int>(documents.size()) == count) return documents;
  return absl::NotFoundError(
      absl::StrCat(path, ": ", documents.size(), " documents, ", count, " needed"));
}

absl::StatusOr<std::shared_ptr<const CompiledGrammar>> CompileForBench(
    const GrammarSource& source, const std::shared_ptr<TokenizerSpace>& space) {
  Budget budget{Budget::Bounds()};
  return CompileGrammar(source, space, Limits(), budget);
}

bool TakeDocument(const std::shared_ptr<const CompiledGrammar>& grammar,
                  const std::vector<TokenId>& tokens) {
  Matcher matcher(grammar);
  for (const TokenId token : tokens) {
    const auto mask = matcher.Mask();
    if (!mask.ok() || !(*mask)->Allows(token) || !matcher.Accept(token).ok()) return false;
  }
  return matcher.Mask().ok() && matcher.may_end();
}

}  // namespace maskd::bench
