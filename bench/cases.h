// MaskBench cases for benchmarks: one JSON object a line, fields id, schema, tests[valid, text,
// tokens], gzip or plain.
//
// Threads  a reader belongs to one thread; cases are plain values.
#ifndef MASKD_BENCH_CASES_H_
#define MASKD_BENCH_CASES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd::bench {

struct Instance {
  bool valid = false;
  std::string text;
  std::vector<TokenId> tokens;  // of Llama 3's vocabulary
};

struct Case {
  std::string id;
  std::string schema;
  std::vector<Instance> tests;
};

class CaseReader {
 public:
  // "-" is standard input, a line at a time as it comes. Errors: NOT_FOUND.
  static absl::StatusOr<std::unique_ptr<CaseReader>> Open(const std::string& path);
  virtual ~CaseReader() = default;

  // False at the end. Errors: INVALID_ARGUMENT with the line's number.
  absl::StatusOr<bool> Next(Case* out);

 protected:
  virtual bool NextLine(std::string* line) = 0;

 private:
  int number_ = 0;
};

// Which of a file's cases are taken.
struct Selection {
  // How many; 0 takes all. Those whose id has the smallest SHA-256: the same ones for every program
  // that selects so, and a part of each larger selection.
  int sample = 0;
  // Part of an id that it must have; empty takes all.
  std::string id_part = {};
};

// The selected cases, in the file's order.
absl::StatusOr<std::vector<Case>> ReadCases(const std::string& path, const Selection& selection);

// A vocabulary of a file, with the special tokens and ends of NAME.special.json beside it where
// scripts/fetch-vocab wrote one; the embedded bytes when `path` is empty.
// `stop` empty: all the ends.
absl::StatusOr<std::shared_ptr<const Vocabulary>> LoadBenchVocabulary(const std::string& path,
                                                                      const std::string& stop);

}  // namespace maskd::bench

#endif  // MASKD_BENCH_CASES_H_
