// The front ends: from a source text to the one IR. One file a front end, one row in the table of
// registry.cc.
//
// Errors   INVALID_ARGUMENT with a JSON Pointer or line:column, UNIMPLEMENTED naming the construct,
//          RESOURCE_EXHAUSTED naming the limit. Nothing is ignored in silence: what a relaxed
//          option drops is a Diagnostic.
// Threads  no state; any thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_FRONT_END_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_FRONT_END_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/parsed_source.h"

namespace maskd {

// A place in the source and what the compiler has to say about it.
struct Diagnostic {
  std::string place;
  std::string message;
};

struct ReadResult;  // read_result.h

// Checks `source` and reads its text where that is JSON. INVALID_ARGUMENT for an unknown kind,
// naming the known ones. What `context` views must outlive what is parsed.
absl::StatusOr<ParsedSource> ParseSource(GrammarSource source, const Limits& limits,
                                         const ReadContext& context = {});

// Reads a parsed source by the front end of its kind. What it makes is not reduced yet: it may have
// parts that no text matches and left recursion (compile/pipeline.h). Takes the tree out of
// `parsed`, and leaves the source there.
absl::StatusOr<ReadResult> ReadParsed(ParsedSource& parsed, const Limits& limits, Budget& budget);

// The source text in the form that its meaning depends on, for hashing: JSON (schemas, choice
// lists) without insignificant white space, keys in their order; nothing for kinds that take no
// text.
std::string NormalText(const ParsedSource& parsed);

// The kinds' names, in the table's order.
std::vector<std::string> FrontEndKinds();

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_FRONT_END_H_
