// Samplers of llama.cpp whose masks come from maskd: over maskd's C library and llama.h alone.
//
//   auto stream = maskd_llama::OpenStream("local:model=model.gguf", vocab, &error);
//   llama_sampler* chain = llama_sampler_chain_init(llama_sampler_chain_default_params());
//   llama_sampler_chain_add(chain, maskd_llama::NewSampler(stream, grammar_json, {}));
//   llama_sampler_chain_add(chain, llama_sampler_init_greedy());
//
// accept   says the token and returns at once: the mask is made while the model computes.
// apply    waits for the mask, a bounded time; logits of other tokens become minus infinity.
// reset takes all tokens back. clone: a new row, at the same place.
// Errors   end the text, never the program: of a sampler that has failed only the tokens that end a
//          text are left, and ErrorOf() says why.
// Threads  all samplers of one stream: one thread at a time.
#ifndef MASKD_EXAMPLES_LLAMA_CPP_MASKD_SAMPLER_H_
#define MASKD_EXAMPLES_LLAMA_CPP_MASKD_SAMPLER_H_

#include <cstdint>
#include <memory>
#include <string>

#include <llama.h>

namespace maskd_llama {

class Stream;

// `address`: of a server whose vocabulary is the model's, or "local:NAME=PATH", the engine in this
// process with the vocabulary of a GGUF file. Null, and `*error`, where there is none.
std::shared_ptr<Stream> OpenStream(const std::string& address, const llama_vocab* vocab,
                                   std::string* error);

struct SamplerOptions {
  // The text is complete within so many tokens, its end included. 0: no bound.
  std::uint32_t remaining_tokens = 0;
  // How long apply() waits for a mask; the first one, of a grammar that compiles, so long too.
  std::int64_t timeout_ms = 10'000;
};

// `grammar_json`: a Grammar of protos/maskd/v1, such as {"kind": "regex", "source": "[0-9]+"}. A
// grammar that is refused is the sampler's error, from its first apply() on.
llama_sampler* NewSampler(std::shared_ptr<Stream> stream, const std::string& grammar_json,
                          const SamplerOptions& options);

// Why the sampler has failed, with the place in the grammar; "" while it has not.
const std::string& ErrorOf(const llama_sampler* sampler);

// A JSON Schema as `grammar_json`.
std::string SchemaGrammar(const std::string& schema);

}  // namespace maskd_llama

#endif  // MASKD_EXAMPLES_LLAMA_CPP_MASKD_SAMPLER_H_
