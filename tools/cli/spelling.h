// Texts in a server's tokens.
#ifndef MASKD_TOOLS_CLI_SPELLING_H_
#define MASKD_TOOLS_CLI_SPELLING_H_

#include <vector>

#include "grammar_core/tokenizer/text_splitter.h"
#include "maskd/v1/tokenizer_service.pb.h"

namespace maskd::cli {

// A splitter over the ordinary ones of `tokens`, which must outlive it.
TextSplitter SplitterOf(const std::vector<v1::Token>& tokens);

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_SPELLING_H_
