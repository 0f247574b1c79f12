// A model of llama.cpp that answers in JSON of a schema, by the sampler of maskd_sampler.h.
//
//   maskd_llama MODEL.gguf SCHEMA.json PROMPT [ADDRESS]
//
// Prints the answer. ADDRESS: a server with the model's vocabulary; without one the engine of maskd
// runs in this process.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "examples/llama_sampler/maskd_sampler.h"

namespace {

constexpr int kMostTokens = 160;

struct Freed {
  void operator()(llama_model* model) const { llama_model_free(model); }
  void operator()(llama_context* context) const { llama_free(context); }
  void operator()(llama_sampler* sampler) const { llama_sampler_free(sampler); }
};
template <typename T>
using Owned = std::unique_ptr<T, Freed>;

std::vector<llama_token> Tokens(const llama_vocab* vocab, const std::string& text) {
  std::vector<llama_token> tokens(text.size() + 8);
  const int count = llama_tokenize(vocab, text.data(), static_cast<int>(text.size()), tokens.data(),
                                   static_cast<int>(tokens.size()), false, true);
  tokens.resize(static_cast<std::size_t>(count < 0 ? 0 : count));
  return tokens;
}

std::string Piece(const llama_vocab* vocab, llama_token token) {
  char bytes[256];
  const int count = llama_token_to_piece(vocab, token, bytes, sizeof(bytes), 0, false);
  return {bytes, static_cast<std::size_t>(count < 0 ? 0 : count)};
}

// The answer, greedy; nothing when the model cannot go on.
std::string Answer(llama_context* context, const llama_vocab* vocab, llama_sampler* chain,
                   std::vector<llama_token> tokens) {
  std::string text;
  for (int i = 0; i < kMostTokens; ++i) {
    if (llama_decode(context,
                     llama_batch_get_one(tokens.data(), static_cast<int>(tokens.size()))) != 0) {
      return "";
    }
    const llama_token token = llama_sampler_sample(chain, context, -1);  // accepts it too
    if (llama_vocab_is_eog(vocab, token)) break;
    text += Piece(vocab, token);
    tokens = {token};
  }
  return text;
}

int Run(const std::string& path, const std::string& schema, const std::string& prompt,
        const std::string& address) {
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  llama_backend_init();
  const Owned<llama_model> model(
      llama_model_load_from_file(path.c_str(), llama_model_default_params()));
  if (model == nullptr) return std::fprintf(stderr, "%s: is no model\n", path.c_str()), 1;
  llama_context_params params = llama_context_default_params();
  params.n_ctx = 1024;
  params.n_threads = params.n_threads_batch = 1;
  const Owned<llama_context> context(llama_init_from_model(model.get(), params));
  if (context == nullptr) return std::fputs("there is no memory for a context\n", stderr), 1;
  const llama_vocab* const vocab = llama_model_get_vocab(model.get());
  std::string error;
  const auto stream = maskd_llama::OpenStream(address, vocab, &error);
  if (stream == nullptr) return std::fprintf(stderr, "maskd: %s\n", error.c_str()), 1;
  llama_sampler* const masks = maskd_llama::NewSampler(stream, maskd_llama::SchemaGrammar(schema),
                                                       {.remaining_tokens = kMostTokens});
  const Owned<llama_sampler> chain(llama_sampler_chain_init(llama_sampler_chain_default_params()));
  llama_sampler_chain_add(chain.get(), masks);
  llama_sampler_chain_add(chain.get(), llama_sampler_init_greedy());
  const std::string text =
      Answer(context.get(), vocab, chain.get(),
             Tokens(vocab, "<|im_start|>user\n" + prompt + "<|im_end|>\n<|im_start|>assistant\n"));
  if (const std::string& why = maskd_llama::ErrorOf(masks); !why.empty())
    return std::fprintf(stderr, "maskd: %s\n", why.c_str()), 1;
  std::cout << text << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: maskd_llama MODEL.gguf SCHEMA.json PROMPT [ADDRESS]\n", stderr);
    return 2;
  }
  std::ifstream file(argv[2]);
  if (!file) return std::fprintf(stderr, "%s: cannot be read\n", argv[2]), 2;
  const std::string schema{std::istreambuf_iterator<char>(file), {}};
  const std::string local = std::string("local:model=") + argv[1];
  return Run(argv[1], schema, argv[3], argc > 4 ? argv[4] : local);
}
