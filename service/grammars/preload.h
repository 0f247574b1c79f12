// Grammars of a folder, compiled before anybody asks: each file NAME.KIND holds a grammar's text,
// and is compiled against every tokenizer with the options that a request without any has, so that
// its id is the one such a request would get.
//
// Files    those that begin with '.' and folders are passed over, as a mounted ConfigMap has them.
//          A link that leads nowhere, and whatever else is no file, is an error.
// Threads  any; waits for the compiles.
#ifndef MASKD_SERVICE_GRAMMARS_PRELOAD_H_
#define MASKD_SERVICE_GRAMMARS_PRELOAD_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "service/grammars/grammar_store.h"
#include "service/grammars/tokenizer_store.h"

namespace maskd::service {

// Logs each with its id. `is_over`, where there is one, is asked now and then whether the caller
// has no use for them any more. Errors: INVALID_ARGUMENT, the file and why it is no grammar;
// CANCELLED.
absl::StatusOr<std::vector<cache::GrammarPtr>> Preload(const std::string& folder,
                                                       const TokenizerStore& tokenizers,
                                                       GrammarStore* grammars,
                                                       const std::function<bool()>& is_over = {});

}  // namespace maskd::service

#endif  // MASKD_SERVICE_GRAMMARS_PRELOAD_H_
