// Prints a vocabulary as the loader reads it, for compare_vocabularies.py, or the tokens that its
// rules make of texts, for compare_made.py.
//
//   dump_vocabulary PATH [preset=NAME] [format=NAME] [stop=TEXT ...] [encode]
//
// encode   reads a JSON string a line, a whole text, and prints the JSON list of its certain
//          tokens; "unknown" alone where the file does not say how texts are cut.
// Output   "load_us N" (processor time of LoadVocabulary), "hash HEX", "stop ID ...", then a line
//          for each id in order: "token" (ordinary), "special" or "gap", and the bytes in
//          hexadecimal.
// Exit     0; 1 with the error on standard error; 2 for a wrong argument.
#include <ctime>
#include <iostream>
#include <memory>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "nlohmann/json.hpp"

#include "grammar_core/tokenizer/canonical_encoder.h"
#include "grammar_core/tokenizer/loader.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace {

bool ReadOption(absl::string_view option, maskd::VocabularySource* source) {
  if (absl::ConsumePrefix(&option, "preset="))
    source->special_preset = std::string(option);
  else if (absl::ConsumePrefix(&option, "format="))
    source->format = std::string(option);
  else if (absl::ConsumePrefix(&option, "stop="))
    source->stop_tokens.emplace_back(option);
  else
    return false;
  return true;
}

void Print(const maskd::Vocabulary& vocabulary) {
  std::cout << "hash " << vocabulary.hash() << "\nstop "
            << absl::StrJoin(vocabulary.stop_ids(), " ") << "\n";
  for (maskd::TokenId id = 0; id < vocabulary.size(); ++id) {
    const absl::string_view bytes = vocabulary.TokenBytes(id);
    const char* const kind = vocabulary.IsSpecial(id) ? "special" : bytes.empty() ? "gap" : "token";
    std::cout << kind << " " << absl::BytesToHexString(bytes) << "\n";
  }
}

void Encode(const maskd::Vocabulary& vocabulary) {
  const auto encoder = maskd::CanonicalEncoder::Create(vocabulary);
  if (encoder == nullptr) {
    std::cout << "unknown\n";
    return;
  }
  // The text ends, and no token goes over its end.
  const maskd::CanonicalEncoder::Followers nothing = {{""},
                                                      [](absl::string_view) { return false; }};
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto text = nlohmann::json::parse(line).get<std::string>();
    std::cout << nlohmann::json(encoder->CertainTokens("", text, nothing)) << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  maskd::VocabularySource source;
  source.name = "dumped";
  source.path = argc > 1 ? argv[1] : "";
  bool encodes = false;
  for (int i = 2; i < argc; ++i) {
    if (argv[i] == absl::string_view("encode")) {
      encodes = true;
    } else if (!ReadOption(argv[i], &source)) {
      std::cerr << "dump_vocabulary: unknown argument " << argv[i] << "\n";
      return 2;
    }
  }
  const std::clock_t start = std::clock();
  const auto vocabulary = maskd::LoadVocabulary(source);
  const std::clock_t taken = std::clock() - start;
  if (!vocabulary.ok()) {
    std::cerr << vocabulary.status().ToString() << "\n";
    return 1;
  }
  if (encodes) {
    Encode(**vocabulary);
    return 0;
  }
  constexpr std::clock_t kTicksPerMicrosecond = CLOCKS_PER_SEC / 1000000;
  std::cout << "load_us " << taken / kTicksPerMicrosecond << "\n";
  Print(**vocabulary);
  return 0;
}
