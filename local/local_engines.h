// The addresses "local:...": the engine inside the program that asks, without a server.
//
//   local::Enable();                                   // once; libmaskd does it by itself
//   client::Client::Connect({.address = "local:/models/qwen3/tokenizer.json"});
//
// Address  "local:" and what the server's flag --tokenizer takes, several split by ";", the default
//          first: "local:NAME=PATH,stop=<|im_end|>". A path alone is named after its file; that of
//          a model's folder means its tokenizer.json, tekken.json or tokenizer.model. "local:"
//          alone is the embedded vocabulary of bytes.
// Sharing  equal addresses are one engine, as long as a client or a stream uses it.
// Errors   INVALID_ARGUMENT and what LoadVocabulary() gives; the message starts with "address".
// Threads  any.
// Forks    a child has none of the engine's threads: connect after the fork.
#ifndef MASKD_LOCAL_LOCAL_ENGINES_H_
#define MASKD_LOCAL_LOCAL_ENGINES_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "service/config/config.h"

namespace maskd::local {

// From now on this process has local engines, and the service's log is silent.
void Enable();

// What an engine at `address` is made with.
absl::StatusOr<service::Config> ReadAddress(absl::string_view address);

}  // namespace maskd::local

#endif  // MASKD_LOCAL_LOCAL_ENGINES_H_
