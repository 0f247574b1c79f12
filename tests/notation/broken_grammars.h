// Grammars that were cut or changed somewhere, for tests of what any text must lead to.
#ifndef MASKD_TESTS_NOTATION_BROKEN_GRAMMARS_H_
#define MASKD_TESTS_NOTATION_BROKEN_GRAMMARS_H_

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/error.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/read_result.h"

namespace maskd {

using ReadGrammar = absl::StatusOr<ReadResult> (*)(const GrammarSource&, const Limits&, Budget&);

// Every beginning of `grammar`, and it with one piece of it put elsewhere, twice or left out.
inline std::vector<std::string> BrokenGrammars(const std::string& grammar, int changed) {
  std::vector<std::string> all;
  for (std::size_t size = 0; size < grammar.size(); ++size) all.push_back(grammar.substr(0, size));
  std::mt19937_64 random(7);
  for (int i = 0; i < changed; ++i) {
    const std::size_t at = random() % grammar.size();
    const std::string piece = grammar.substr(at, 1 + random() % 4);
    std::string text = grammar;
    if (random() % 2 == 0) text.erase(at, piece.size());
    if (random() % 3 != 0) text.insert(random() % (text.size() + 1), piece);
    all.push_back(text);
  }
  return all;
}

// Whether `place` is line:column of a byte of `text`, or of its end.
inline bool IsPlaceIn(const std::string& place, const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(place, ':');
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  std::size_t line = 0;
  std::size_t column = 0;
  return parts.size() == 2 && absl::SimpleAtoi(parts[0], &line) &&
         absl::SimpleAtoi(parts[1], &column) && line >= 1 && line <= lines.size() && column >= 1 &&
         column <= lines[line - 1].size() + 1;
}

// All of them are read, or refused at a place in their text; what is read has its places there.
// How many are read.
inline int ExpectPlacesInTheText(ReadGrammar read, const std::vector<std::string>& grammars) {
  int read_well = 0;
  for (const std::string& text : grammars) {
    Budget budget(Budget::Bounds{.work = 200'000});
    Limits limits;
    limits.rule_instances = 500;
    const absl::StatusOr<ReadResult> result = read({"", text}, limits, budget);
    if (!result.ok()) {
      const bool is_out_of_work =
          ErrorPlace(result.status()).empty() && absl::IsResourceExhausted(result.status());
      EXPECT_TRUE(is_out_of_work || IsPlaceIn(ErrorPlace(result.status()), text))
          << result.status() << "\n"
          << text;
      continue;
    }
    ++read_well;
    for (const Diagnostic& warning : result->warnings)
      EXPECT_TRUE(IsPlaceIn(warning.place, text)) << warning.place << "\n" << text;
    for (const IrRule& rule : result->ir.rules)
      EXPECT_TRUE(IsPlaceIn(rule.place, text)) << rule.place << "\n" << text;
    for (const TokenSpec& tokens : result->ir.token_specs)
      EXPECT_TRUE(IsPlaceIn(tokens.place, text)) << tokens.place << "\n" << text;
    for (const auto& [rule, fault] : result->faults)
      EXPECT_TRUE(IsPlaceIn(ErrorPlace(fault), text)) << fault << "\n" << text;
  }
  return read_well;
}

}  // namespace maskd

#endif  // MASKD_TESTS_NOTATION_BROKEN_GRAMMARS_H_
