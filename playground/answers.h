// What the playground's page is answered: its files, and the JSON calls under /api.
//
//   GET  /             the page; its files beside it (assets.h)
//   GET  /api/about    version, server, tokenizers, kinds of grammar
//   GET  /api/metrics  the server's Prometheus page
//   POST /api/compile  {tokenizer, grammar: {kind, source, options, documents}}
//   POST /api/place    {tokenizer, grammar_id, text, at, limit, find, known}
//   POST /api/why      {tokenizer, grammar_id, text, token}
//   POST /api/ending   {tokenizer, grammar_id, text}
//
// Grammar  as protos/maskd/v1/grammar.proto in proto3 JSON.
// Text     is UTF-8. Tokens are {id, text, bytes}: `text` for people, with \xNN for what is not
//          UTF-8; `bytes` says whether it has such, so that it cannot be typed.
// Errors   {error: {code, reason, message, place, span}} with the HTTP status that fits the code.
// Threads  any number at once.
#ifndef MASKD_PLAYGROUND_ANSWERS_H_
#define MASKD_PLAYGROUND_ANSWERS_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

#include "client/cpp/client.h"
#include "playground/http_message.h"
#include "playground/position.h"
#include "playground/sources.h"
#include "playground/vocabularies.h"

namespace maskd::playground {

// Fixed for the page's lifetime.
struct PlaygroundSetup {
  const client::Client* client = nullptr;  // outlives the answers
  std::string version;
  std::string server;  // its address, for people
  // Its metrics, in Prometheus' text format; any thread. Null: none are known.
  std::function<absl::StatusOr<std::string>()> metrics;
  std::size_t most_idle_streams = 8;
};

// The page's calls, without HTTP around them, so that tests ask them directly.
class Answers {
 public:
  using Json = nlohmann::json;

  // Asks the server nothing yet.
  explicit Answers(PlaygroundSetup setup);

  // By method and path; 404 where there is no such file or call. Blocks for as long as the server
  // takes.
  HttpResponse Answer(const HttpRequest& request);
  // Ends the streams that wait: the server is about to stop.
  void Close() { streams_.Close(); }

 private:
  absl::StatusOr<Json> About();
  absl::StatusOr<Json> Compile(const Json& request);
  absl::StatusOr<Json> Place(const Json& request);
  absl::StatusOr<Json> Why(const Json& request);
  absl::StatusOr<Json> Ending(const Json& request);
  [[nodiscard]] HttpResponse Metrics() const;
  HttpResponse Call(const HttpRequest& request);
  // What speaks about the place behind `taken`, a beginning of the question's text and its token,
  // as JSON.
  Json ReasonOf(const PositionQuestion& question, absl::string_view taken);

  const PlaygroundSetup setup_;
  Vocabularies vocabularies_;
  Streams streams_;
  Sources sources_;
};

}  // namespace maskd::playground

#endif  // MASKD_PLAYGROUND_ANSWERS_H_
