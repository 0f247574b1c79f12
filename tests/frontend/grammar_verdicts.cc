// Reads lines of JSON from the standard input and answers each with a line: what compiles, and
// which texts a grammar matches. For tests in other languages.
//
//   {"kind": "lark", "grammar": "...", "texts": ["..."]}  ->  {"ok": true, "verdicts": [true]}
//                                  or  {"ok": false, "code": "INVALID_ARGUMENT", "error": "..."}
// With "indent", "item_separator" or "key_separator" the grammar has these options; with
// "any_order": true, property_order any; with "canonical": true, canonical spelling. With
// "pieces": true the vocabulary has JsonPieces(), which every mask must allow as their bytes are.
//
// Texts are given byte by byte as tokens, each of which the mask of its step must allow.
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

#include "tests/frontend/verdict.h"

namespace {

using Json = nlohmann::json;

maskd::GrammarOptions OptionsOf(const Json& request) {
  maskd::GrammarOptions options;
  if (request.contains("indent")) options.indent = request["indent"].get<std::int32_t>();
  if (request.contains("item_separator")) options.item_separator = request["item_separator"];
  if (request.contains("key_separator")) options.key_separator = request["key_separator"];
  if (request.value("any_order", false)) options.property_order = maskd::PropertyOrder::kAny;
  if (request.value("canonical", false)) options.spelling = maskd::JsonSpelling::kCanonical;
  return options;
}

Json Answer(const Json& request) {
  const auto compile =
      request.value("pieces", false) ? maskd::CompileOverPieces : maskd::CompileOverBytes;
  const auto compiled = compile(request["kind"].get<std::string>(),
                                request["grammar"].get<std::string>(), OptionsOf(request));
  if (!compiled.ok()) {
    return {{"ok", false},
            {"code", absl::StatusCodeToString(compiled.status().code())},
            {"error", std::string(compiled.status().message())}};
  }
  std::vector<Json> verdicts;
  for (const Json& text : request["texts"]) {
    const absl::StatusOr<bool> accepts = maskd::AcceptsByMasks(*compiled, text.get<std::string>());
    verdicts.push_back(accepts.ok() ? Json(*accepts)
                                    : Json(std::string(accepts.status().message())));
  }
  return {{"ok", true}, {"verdicts", verdicts}};
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);)
    std::cout << Answer(Json::parse(line)).dump() << std::endl;
  return 0;
}
