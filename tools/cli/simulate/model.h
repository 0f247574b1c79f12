// A pretended language model: pseudo-random logits that read like words and come to an end.
//
// Logits   a score of each token by its text (words high; rare, broken and special ones low) plus
//          Gumbel noise, so that the largest logit is a sample of the model's distribution. A few
//          classes of tokens (string ends, closing brackets, separators, stop ids) get a bonus that
//          makes their weight what it would be in real JSON, whatever the vocabulary.
// Ending   past half of its budget of tokens a text is drawn to its end, ever more strongly: inside
//          a string to the quote, outside to closing brackets and stop ids. The masks decide what
//          is legal; this decides only what is likely. It stands in for closing in time on the
//          server.
// Padding  logits past the vocabulary are large, as a careless model's might be: an applier that
//          left them alone would be found out.
// Threads  immutable after construction.
#ifndef MASKD_TOOLS_CLI_SIMULATE_MODEL_H_
#define MASKD_TOOLS_CLI_SIMULATE_MODEL_H_

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "maskd/v1/tokenizer_service.pb.h"
#include "tools/cli/simulate/json_place.h"

namespace maskd::cli {

// Scores are made once for a vocabulary; a forward pass adds noise and bonuses.
class Model {
 public:
  // What a sequence's next logits depend on.
  struct Context {
    JsonPlace place;
    std::int64_t token_count = 0;
    std::int64_t token_budget = 0;
    bool is_json = false;  // held to a schema
  };

  // Both spans are read now alone. The same seed gives the same scores.
  Model(std::span<const v1::Token> tokens, std::span<const std::int32_t> stop_ids,
        std::uint64_t seed);

  // Fills one row of logits, at least as wide as the vocabulary.
  void Forward(const Context& context, std::mt19937_64& random, std::span<float> logits) const;

 private:
  // Tokens of one kind and what must be added to each so that they weigh as much as all others.
  struct Class {
    std::vector<std::int32_t> ids;
    float to_parity = 0;
  };

  [[nodiscard]] Class MakeClass(std::vector<std::int32_t> ids) const;
  [[nodiscard]] Class MakeClassByFirstByte(std::span<const v1::Token> tokens,
                                           const char* first_bytes) const;
  static void Add(const Class& to, float bonus, std::span<float> logits);

  std::vector<float> scores_;  // by token
  std::vector<float> noise_;   // read from a random place on, for each row
  float total_weight_ = 0;     // logarithm of the scores' weights together
  Class stops_;
  Class quotes_;
  Class closers_;
  Class separators_;
  Class openers_;
  Class spaces_;
};

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_SIMULATE_MODEL_H_
