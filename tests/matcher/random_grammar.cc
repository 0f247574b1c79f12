#include "tests/matcher/random_grammar.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace maskd {
namespace {

using Random = std::mt19937_64;

int Below(int limit, Random* random) {
  return static_cast<int>((*random)() % static_cast<unsigned>(limit));
}

std::string Word(Random* random) {
  std::string word;
  for (int i = Below(4, random); i >= 0; --i)
    absl::StrAppend(&word, Below(9, random) == 0 ? "é" : std::string(1, "abc"[Below(3, random)]));
  return word;
}

std::string Pattern(int depth, Random* random) {
  switch (depth == 0 ? Below(2, random) : Below(7, random)) {
    case 0:
      return Word(random);
    case 1:
      return Below(2, random) == 0 ? "[a-c]" : "[^b]";
    case 2:
      return absl::StrCat("(", Pattern(depth - 1, random), "|", Pattern(depth - 1, random), ")");
    case 3:
      return absl::StrCat("(", Pattern(depth - 1, random), "){", Below(3, random), ",",
                          2 + Below(3, random), "}");
    case 4:
      return absl::StrCat("(", Pattern(depth - 1, random), ")", Below(2, random) == 0 ? "*" : "?");
    default:
      return absl::StrCat(Pattern(depth - 1, random), Pattern(depth - 1, random));
  }
}

std::string Choice(Random* random) {
  std::string choices;
  for (int i = Below(5, random); i >= 0; --i)
    absl::StrAppend(&choices, choices.empty() ? "" : ",", "\"", Word(random), i, "\"");
  return absl::StrCat("[", choices, "]");
}

std::string Schema(int depth, Random* random);

std::string Object(int depth, Random* random) {
  std::string properties;
  std::string required;
  for (int i = Below(4, random); i > 0; --i) {
    const std::string name = absl::StrCat("\"", Word(random), i, "\"");
    absl::StrAppend(&properties, properties.empty() ? "" : ",", name, ":",
                    Schema(depth - 1, random));
    if (Below(2, random) == 0) absl::StrAppend(&required, required.empty() ? "" : ",", name);
  }
  return absl::StrCat(R"({"type":"object","properties":{)", properties, R"(},"required":[)",
                      required, R"(],"additionalProperties":)",
                      Below(4, random) == 0 ? "true" : "false", "}");
}

std::string Schema(int depth, Random* random) {
  switch (depth == 0 ? Below(4, random) : Below(8, random)) {
    case 0:
      return R"({"type":"boolean"})";
    case 1:
      return absl::StrCat(R"({"enum":)", Choice(random), "}");
    case 2:
      return Below(2, random) == 0 ? R"({"type":"integer"})" : R"({"type":"null"})";
    case 3:
      return absl::StrCat(R"({"type":"string","maxLength":)", Below(4, random), "}");
    case 4:
      return absl::StrCat(R"({"type":"array","items":)", Schema(depth - 1, random),
                          R"(,"minItems":)", Below(2, random), R"(,"maxItems":)",
                          1 + Below(3, random), "}");
    case 5:
      return absl::StrCat(R"({"anyOf":[)", Schema(depth - 1, random), ",",
                          Schema(depth - 1, random), "]}");
    default:
      return Object(depth, random);
  }
}

}  // namespace

GrammarSource RandomGrammar(Random* random) {
  switch (Below(4, random)) {
    case 0:
      return {"choice", Choice(random), {}};
    case 1:
      return {"regex", Pattern(4, random), {}};
    default: {
      GrammarSource source = {"json_schema", Schema(3, random), {}};
      const int layout = Below(6, random);
      if (layout < 2) source.options.white_space = WhiteSpace::kCompact;
      if (layout == 2) source.options.indent = Below(2, random);
      return source;
    }
  }
}

std::vector<GrammarSource> IndentedGrammars() {
  constexpr const char* kNested =
      R"({"type":"array","maxItems":2,"items":{"anyOf":[{"$ref":"#"},{"type":"boolean"}]}})";
  constexpr const char* kTree =
      R"({"type":"object","properties":{"a":{"$ref":"#"},"b":{"enum":["é",""]}},"required":["b"],"additionalProperties":false})";
  constexpr const char* kDistinct =
      R"({"type":"array","uniqueItems":true,"minItems":1,"items":{"anyOf":[{"enum":["a","b"]},{"type":"array","items":{"type":"null"}}]}})";
  const std::vector<GrammarSource> plain = {
      {"json", "", {}},
      {"json_schema", kNested, {}},
      {"json_schema", kTree, {}},
      {"json_schema", kDistinct, {}},
      {"lark", absl::StrCat("start: \"ab\" j*\nj: %json ", kNested), {}},
      {"structural_tag",
       absl::StrCat(R"({"format":{"type":"tag","begin":"<a>","content":{"type":"json_schema",)",
                    R"("json_schema":)", kTree, R"(},"end":"\n"}})"),
       {}}};
  std::vector<GrammarSource> grammars;
  for (const int spaces : {0, 1, 3, 16}) {
    for (const GrammarSource& source : plain) {
      grammars.push_back(source);
      grammars.back().options.indent = spaces;
    }
  }
  return grammars;
}

}  // namespace maskd
