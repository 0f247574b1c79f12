// What the oracle test and the random walks run on: schemas of MaskBench and vocabularies.
//
// Places   the shared data is beside the repository, or where MASKD_SHARED_DIR says; vocabularies
//          are where scripts/fetch-vocab puts them. What is missing is said by whoever asked.
// Threads  no state; any thread.
#ifndef MASKD_TESTS_ORACLE_MASKBENCH_CASES_H_
#define MASKD_TESTS_ORACLE_MASKBENCH_CASES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {

struct MaskbenchCase {
  std::string id;
  std::string schema;
  // The instances that the data calls valid.
  std::vector<std::string> valid;
};

std::string MaskbenchFile(absl::string_view source_dir);

// The cases of `path` in an order that depends on `seed` and in which any first part is spread
// evenly over the file. Errors: NOT_FOUND.
absl::StatusOr<std::vector<MaskbenchCase>> ReadMaskbench(const std::string& path,
                                                         std::uint64_t seed);

// Llama 3's, which ends with "<|eot_id|>". Errors: those of LoadVocabulary().
absl::StatusOr<std::shared_ptr<const Vocabulary>> LoadLlama3(absl::string_view source_dir);

}  // namespace maskd

#endif  // MASKD_TESTS_ORACLE_MASKBENCH_CASES_H_
