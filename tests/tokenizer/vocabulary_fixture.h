// Vocabulary files for tests.
#ifndef MASKD_TESTS_TOKENIZER_VOCABULARY_FIXTURE_H_
#define MASKD_TESTS_TOKENIZER_VOCABULARY_FIXTURE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "grammar_core/tokenizer/loader.h"
#include "grammar_core/tokenizer/vocabulary.h"
#include "tests/base/test_folder.h"

namespace maskd {

// A source with the name "test" and no wish.
inline VocabularySource SourceOf(const std::string& path) {
  VocabularySource source;
  source.name = "test";
  source.path = path;
  return source;
}

// Loads a file of that name and content, which is alone in its folder.
inline absl::StatusOr<std::shared_ptr<const Vocabulary>> LoadContent(absl::string_view name,
                                                                     absl::string_view content) {
  const TestFolder folder;
  return LoadVocabulary(SourceOf(folder.Write(name, content)));
}

// The error's text without the path of the folder, which is another one in each run.
inline std::string MessageAfterPath(const absl::Status& status) {
  const std::string message(status.message());
  const std::size_t colon = message.find(": ");
  return colon == std::string::npos ? message : message.substr(colon + 2);
}

}  // namespace maskd

#endif  // MASKD_TESTS_TOKENIZER_VOCABULARY_FIXTURE_H_
