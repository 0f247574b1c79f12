// A sampler is a row of a stream. Steps of several samplers are under way at once and are answered
// in order, each by the sampler's own or another's apply(): what comes is put down at its row.
//
// Invariant  a row is answered once for each step that names it; `owed` counts answers to come.
#include "examples/llama_sampler/maskd_sampler.h"

#include <cmath>
#include <cstdio>
#include <unordered_map>
#include <utility>
#include <vector>

#include <maskd.h>

namespace maskd_llama {
namespace {

// The status's words, and its end.
std::string Take(maskd_status* status) {
  if (status == nullptr) return "";
  std::string text = maskd_status_message(status);
  maskd_status_free(status);
  return text.empty() ? "maskd has failed" : text;
}

}  // namespace

struct Row {
  std::uint64_t id = 0;
  std::vector<std::int32_t> words;  // bit t % 32 of word t / 32: token t is allowed
  int owed = 0;
  std::uint32_t taken = 0;  // tokens that the row has been given
  bool finished = false;
  std::string error;
};

class Stream {
 public:
  Stream(maskd_stream* stream, std::vector<llama_token> ends)
      : stream_(stream),
        step_(maskd_step_new()),
        result_(maskd_result_new()),
        ends_(std::move(ends)) {}
  ~Stream() {
    maskd_result_free(result_);
    maskd_step_free(step_);
    maskd_stream_free(stream_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  std::shared_ptr<Row> NewRow() {
    auto row = std::make_shared<Row>();
    row->id = ++last_id_;
    rows_[row->id] = row;
    return row;
  }

  // An empty step, to be filled.
  maskd_step* Step() {
    maskd_step_clear(step_);
    return step_;
  }

  // Sends it, after what went wrong in filling it; it names the row, which is answered.
  void Send(Row& row, maskd_status* filling) {
    row.error = Take(filling);
    if (row.error.empty()) row.error = Take(maskd_stream_submit(stream_, step_, nullptr));
    if (row.error.empty()) ++row.owed;
  }

  // Waits until the row's mask is that of its last token.
  void Await(Row& row, std::int64_t timeout_ms) {
    while (row.owed > 0 && row.error.empty()) {
      row.error = Take(maskd_stream_collect(stream_, timeout_ms, result_));
      if (row.error.empty()) Spread();
    }
  }

  void Close(const Row& row) {
    rows_.erase(row.id);
    maskd_status_free(maskd_step_close(Step(), row.id));
    maskd_status_free(maskd_stream_submit(stream_, step_, nullptr));
  }

  // The model's tokens that end a text.
  [[nodiscard]] const std::vector<llama_token>& ends() const { return ends_; }

 private:
  // Each answer of the result to its row.
  void Spread() {
    for (std::int64_t i = 0; i < maskd_result_row_count(result_); ++i) {
      maskd_row_result answer = {};
      answer.struct_size = sizeof(answer);
      maskd_status_free(maskd_result_row(result_, i, &answer));
      const auto found = rows_.find(answer.row);
      if (found == rows_.end()) continue;
      Row& row = *found->second;
      if (row.owed > 0) --row.owed;
      Read(answer, row);
    }
  }

  void Read(const maskd_row_result& answer, Row& row) {
    row.taken = answer.token_count;
    row.finished = answer.state == MASKD_STATE_FINISHED;
    if (answer.error_code != MASKD_OK) {
      row.error = answer.error_message;
    } else if (answer.refused_index >= 0) {
      row.error = "token " + std::to_string(answer.refused_token) + ": the grammar refuses it";
    } else if (answer.state == MASKD_STATE_COMPILING) {
      row.error = "the grammar still compiles";
    } else {
      const std::int64_t count = maskd_stream_mask_words(stream_);
      row.words.resize(static_cast<std::size_t>(count));
      row.error = Take(maskd_result_copy_masks(result_, &row.id, 1, row.words.data(), count));
    }
  }

  maskd_stream* stream_;
  maskd_step* step_;
  maskd_result* result_;
  std::vector<llama_token> ends_;
  std::uint64_t last_id_ = 0;
  std::unordered_map<std::uint64_t, std::shared_ptr<Row>> rows_;
};

namespace {

struct Sampler {
  std::shared_ptr<Stream> stream;
  std::shared_ptr<Row> row;
  std::int64_t timeout_ms;
};

Sampler& Of(const llama_sampler* sampler) { return *static_cast<Sampler*>(sampler->ctx); }

const char* Name(const llama_sampler*) { return "maskd"; }

void Accept(llama_sampler* sampler, llama_token token) {
  const auto& [stream, row, timeout_ms] = Of(sampler);
  if (row->finished || !row->error.empty()) return;
  maskd_status* const filled = maskd_step_take(stream->Step(), row->id, &token, 1);
  stream->Send(*row, filled);
}

void Apply(llama_sampler* sampler, llama_token_data_array* tokens) {
  const auto& [stream, row, timeout_ms] = Of(sampler);
  stream->Await(*row, timeout_ms);
  if (!row->error.empty() || row->finished) {
    row->words.assign(row->words.size(), 0);
    for (const llama_token end : stream->ends()) {
      const auto word = static_cast<std::size_t>(end) / 32;
      if (word >= row->words.size()) row->words.resize(word + 1);
      row->words[word] |= static_cast<std::int32_t>(1U << (static_cast<unsigned>(end) % 32));
    }
  }
  for (std::size_t i = 0; i < tokens->size; ++i) {
    const auto token = static_cast<std::size_t>(tokens->data[i].id);
    const bool allowed =
        token / 32 < row->words.size() &&
        (static_cast<std::uint32_t>(row->words[token / 32]) >> (token % 32) & 1) != 0;
    if (!allowed) tokens->data[i].logit = -INFINITY;
  }
  tokens->sorted = false;
}

void Reset(llama_sampler* sampler) {
  const auto& [stream, row, timeout_ms] = Of(sampler);
  stream->Await(*row, timeout_ms);  // how many tokens there are to take back
  if (row->taken == 0 && row->error.empty()) return;
  row->finished = false;
  maskd_step* const step = stream->Step();
  maskd_status* filled = maskd_step_rollback(step, row->id, row->taken);
  if (filled == nullptr) filled = maskd_step_take(step, row->id, nullptr, 0);
  stream->Send(*row, filled);
}

llama_sampler* Clone(const llama_sampler* sampler);

void Free(llama_sampler* sampler) {
  Sampler* const of = &Of(sampler);
  of->stream->Close(*of->row);
  delete of;
}

llama_sampler_i* Interface() {
  static llama_sampler_i functions = [] {
    llama_sampler_i made = {};
    made.name = Name;
    made.accept = Accept;
    made.apply = Apply;
    made.reset = Reset;
    made.clone = Clone;
    made.free = Free;
    return made;
  }();
  return &functions;
}

llama_sampler* Clone(const llama_sampler* sampler) {
  const auto& [stream, row, timeout_ms] = Of(sampler);
  stream->Await(*row, timeout_ms);
  std::shared_ptr<Row> copy = stream->NewRow();
  if (row->error.empty()) {
    maskd_step* const step = stream->Step();
    maskd_status* filled = maskd_step_fork(step, row->id, copy->id);
    if (filled == nullptr) filled = maskd_step_take(step, copy->id, nullptr, 0);
    stream->Send(*copy, filled);
  }
  copy->error = row->error.empty() ? copy->error : row->error;
  return llama_sampler_init(Interface(), new Sampler{stream, std::move(copy), timeout_ms});
}

}  // namespace

std::shared_ptr<Stream> OpenStream(const std::string& address, const llama_vocab* vocab,
                                   std::string* error) {
  maskd_client* client = nullptr;
  *error = Take(maskd_client_connect(address.c_str(), 10'000, &client));
  if (!error->empty()) return nullptr;
  const std::int32_t size = llama_vocab_n_tokens(vocab);
  maskd_stream_options options = {};
  options.struct_size = sizeof(options);
  options.logits_width = static_cast<std::uint32_t>(size);
  options.shared_memory = 1;
  maskd_stream* stream = nullptr;
  *error = Take(maskd_stream_open_with(client, &options, 10'000, &stream));
  maskd_client_free(client);
  if (!error->empty()) return nullptr;
  std::vector<llama_token> ends;
  for (llama_token token = 0; token < size; ++token)
    if (llama_vocab_is_eog(vocab, token)) ends.push_back(token);
  return std::make_shared<Stream>(stream, std::move(ends));
}

llama_sampler* NewSampler(std::shared_ptr<Stream> stream, const std::string& grammar_json,
                          const SamplerOptions& options) {
  std::shared_ptr<Row> row = stream->NewRow();
  maskd_open_options open = {};
  open.struct_size = sizeof(open);
  open.stop_ids = stream->ends().data();
  open.stop_id_count = static_cast<std::int64_t>(stream->ends().size());
  open.remaining_tokens = options.remaining_tokens;
  maskd_step* const step = stream->Step();
  maskd_status* filled = maskd_step_open_grammar(step, row->id, grammar_json.c_str(), &open);
  if (filled == nullptr) filled = maskd_step_wait_for_compile(step, options.timeout_ms);
  stream->Send(*row, filled);
  return llama_sampler_init(Interface(),
                            new Sampler{std::move(stream), std::move(row), options.timeout_ms});
}

const std::string& ErrorOf(const llama_sampler* sampler) { return Of(sampler).row->error; }

std::string SchemaGrammar(const std::string& schema) {
  std::string source;
  for (const char c : schema) {
    char number[8];
    if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(number, sizeof(number), "\\u%04x", static_cast<unsigned>(c));
      source += number;
      continue;
    }
    if (c == '"' || c == '\\') source += '\\';
    source += c;
  }
  return R"({"kind": "json_schema", "source": ")" + source + "\"}";
}

}  // namespace maskd_llama
