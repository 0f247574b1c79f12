// The sampler over a real llama.cpp, the model's vocabulary alone.
//
//   maskd_sampler_test MODEL.gguf    exits with 1 at the first thing that is not so
//
// tests/engines/run_llama_sampler builds and runs it.
#include "examples/llama_sampler/maskd_sampler.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

namespace {

void Expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "maskd_sampler_test: not so: %s\n", what);
  std::exit(1);
}

// What the vocabulary has of these samplers' places.
class Vocabulary {
 public:
  explicit Vocabulary(const llama_vocab* vocab) : vocab_(vocab) {}

  // The texts that the sampler leaves; "<end>" for tokens that end a text.
  [[nodiscard]] std::set<std::string> Left(llama_sampler* sampler) const {
    std::vector<llama_token_data> all;
    for (llama_token id = 0; id < llama_vocab_n_tokens(vocab_); ++id)
      all.push_back({id, 1.0F, 0.0F});
    llama_token_data_array tokens = {all.data(), all.size(), -1, false};
    llama_sampler_apply(sampler, &tokens);
    std::set<std::string> left;
    for (const llama_token_data& each : all)
      if (!std::isinf(each.logit)) left.insert(Text(each.id));
    return left;
  }

  [[nodiscard]] llama_token Id(const std::string& text) const {
    for (llama_token id = 0; id < llama_vocab_n_tokens(vocab_); ++id)
      if (Text(id) == text) return id;
    Expect(false, "the vocabulary has the token");
    return -1;
  }

 private:
  [[nodiscard]] std::string Text(llama_token id) const {
    if (llama_vocab_is_eog(vocab_, id)) return "<end>";
    char bytes[256];
    const int count = llama_token_to_piece(vocab_, id, bytes, sizeof(bytes), 0, true);
    return {bytes, static_cast<std::size_t>(count < 0 ? 0 : count)};
  }

  const llama_vocab* vocab_;
};

using Texts = std::set<std::string>;

void TestPlaces(const Vocabulary& vocabulary, const std::shared_ptr<maskd_llama::Stream>& stream) {
  const std::string grammar = R"({"kind": "regex", "source": "x(y|z)q?"})";
  llama_sampler* const one = maskd_llama::NewSampler(stream, grammar, {});
  llama_sampler* const other = maskd_llama::NewSampler(stream, grammar, {});
  const Texts first = vocabulary.Left(one);
  Expect(first.contains("x") && !first.contains("y") && !first.contains("<end>"), "x comes first");
  llama_sampler_accept(one,
                       vocabulary.Id("x"));  // two steps under way, answered to the other's apply
  llama_sampler_accept(other, vocabulary.Id("x"));
  Expect(vocabulary.Left(other) == vocabulary.Left(one), "two samplers of one stream stand alike");
  Expect(vocabulary.Left(one).contains("y") && !vocabulary.Left(one).contains("x"), "then y or z");

  llama_sampler* const copy = llama_sampler_clone(one);
  llama_sampler_accept(copy, vocabulary.Id("y"));
  Expect(vocabulary.Left(copy) == Texts({"q", "<end>"}), "a copy goes its own way");
  Expect(vocabulary.Left(one) == vocabulary.Left(other), "and leaves the first where it is");
  llama_sampler_reset(copy);
  Expect(vocabulary.Left(copy) == first, "a reset takes all back");
  llama_sampler_free(one);
  llama_sampler_accept(copy, vocabulary.Id("x"));
  Expect(vocabulary.Left(copy) == vocabulary.Left(other), "a copy outlives what it is of");
  llama_sampler_free(copy);
  llama_sampler_free(other);
}

void TestErrors(const Vocabulary& vocabulary, const std::shared_ptr<maskd_llama::Stream>& stream) {
  llama_sampler* const bad =
      maskd_llama::NewSampler(stream, maskd_llama::SchemaGrammar("{\"type\":\n\t3}"), {});
  Expect(vocabulary.Left(bad) == Texts({"<end>"}),
         "of a grammar that is refused only the end is left");
  Expect(maskd_llama::ErrorOf(bad).find("/type") != std::string::npos, "its error has the place");
  llama_sampler_accept(bad, vocabulary.Id("x"));
  Expect(vocabulary.Left(bad) == Texts({"<end>"}), "and so it stays");
  llama_sampler_free(bad);

  llama_sampler* const strict =
      maskd_llama::NewSampler(stream, R"({"kind": "regex", "source": "xy"})", {});
  llama_sampler_accept(strict, vocabulary.Id("q"));
  Expect(vocabulary.Left(strict) == Texts({"<end>"}), "a token that was not allowed ends the text");
  Expect(!maskd_llama::ErrorOf(strict).empty(), "with an error");
  llama_sampler_free(strict);

  std::string error;
  Expect(maskd_llama::OpenStream("local:x=/no/such.gguf", nullptr, &error) == nullptr &&
             !error.empty(),
         "a vocabulary that is not there is an error");
}

}  // namespace

int main(int, char** argv) {
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  llama_model_params params = llama_model_default_params();
  params.vocab_only = true;
  llama_model* const model = llama_model_load_from_file(argv[1], params);
  Expect(model != nullptr, "the model is read");
  const llama_vocab* const vocab = llama_model_get_vocab(model);
  std::string error;
  const auto stream = maskd_llama::OpenStream(std::string("local:model=") + argv[1], vocab, &error);
  Expect(stream != nullptr, error.c_str());
  TestPlaces(Vocabulary(vocab), stream);
  TestErrors(Vocabulary(vocab), stream);
  llama_model_free(model);
  std::puts("maskd_sampler_test: passed");
  return 0;
}
