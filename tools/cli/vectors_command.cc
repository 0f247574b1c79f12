// maskctl vectors: a file of test vectors, against a server.
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "tools/cli/command.h"
#include "tools/cli/connection.h"
#include "tools/cli/grammar_flags.h"
#include "tools/cli/terminal.h"
#include "tools/cli/vectors/tally.h"
#include "tools/cli/vectors/text_runner.h"
#include "tools/cli/vectors/vector.h"

namespace maskd::cli {
namespace {

std::vector<Flag> VectorsFlags() { return WithConnectionFlags(WithTextRunnerFlags({})); }

absl::StatusOr<std::vector<Vector>> ReadFileArgument(const Flags& flags) {
  const auto path = OneArgument(flags, "file of vectors");
  if (!path.ok()) return path.status();
  const auto lines = ReadFile(*path);
  if (!lines.ok()) return lines.status();
  auto vectors = ReadVectors(*lines);
  if (!vectors.ok())
    return absl::InvalidArgumentError(absl::StrCat(*path, ": ", vectors.status().message()));
  return vectors;
}

// Errors: those of the stream alone; what the vector meets is counted.
absl::Status RunVector(const Vector& vector, const Connection& connection, TextRunner& runner,
                       VectorTally& tally) {
  v1::CompileRequest request;
  request.set_tokenizer(connection.tokenizer());
  request.mutable_grammar()->set_kind(vector.kind);
  request.mutable_grammar()->set_source(vector.grammar);
  const auto compiled = connection.client().Compile(request);
  if (!compiled.ok()) {
    if (absl::IsUnavailable(compiled.status())) return compiled.status();
    if (IsUnknownKind(compiled.status()))
      ++tally.kinds_not_supported[vector.kind];
    else
      CountRefusal(vector, compiled.status(), tally);
    return absl::OkStatus();
  }
  std::vector<std::string> texts = vector.accepts;
  texts.insert(texts.end(), vector.rejects.begin(), vector.rejects.end());
  const auto verdicts = runner.Run(compiled->grammar_id(), texts);
  if (!verdicts.ok()) {
    return absl::Status(verdicts.status().code(),
                        absl::StrCat(vector.id, ": ", verdicts.status().message()));
  }
  CountTexts(vector, *verdicts, tally);
  return absl::OkStatus();
}

absl::Status RunVectors(const std::vector<Vector>& vectors, const Connection& connection,
                        TextRunner& runner, VectorTally& tally) {
  Progress progress("vectors", std::ssize(vectors));
  for (const Vector& vector : vectors) {
    progress.Step();
    if (absl::Status ran = RunVector(vector, connection, runner, tally); !ran.ok()) return ran;
  }
  return absl::OkStatus();
}

absl::StatusOr<int> RunVectorsCommand(const Flags& flags) {
  const auto vectors = ReadFileArgument(flags);
  if (!vectors.ok()) return vectors.status();
  const auto connection = Connection::Open(flags);
  if (!connection.ok()) return connection.status();
  const auto runner = TextRunner::Open(**connection, flags);
  if (!runner.ok()) return runner.status();
  VectorTally tally;
  absl::Status ran = RunVectors(*vectors, **connection, **runner, tally);
  if (!ran.ok()) return ran;
  if (flags.Has("json")) {
    absl::PrintF("%s", TallyJson(tally));
  } else {
    for (const VectorFailure& failure : tally.failures)
      absl::PrintF("%s: %s\n", failure.id, failure.what);
    absl::PrintF("%s%s", tally.failures.empty() ? "" : "\n", TallyTable(tally));
  }
  const bool ran_any = !tally.kinds.empty();
  return tally.failures.empty() && ran_any ? kExitYes : kExitNo;
}

}  // namespace

const Command kVectorsCommand = {
    "vectors",
    "FILE",
    "holds a server to a file of test vectors",
    "FILE has one JSON object a line: id, kind, grammar, expect (ok, error, exact-or-error, "
    "either),\n"
    "accepts, rejects. Each grammar is compiled and each text taken through its masks, token by\n"
    "token. Prints one line a failure and a table of totals by kind; kinds that the server has no\n"
    "front end for are named below it. Exit status 0 when nothing failed.\n\n"
    "  maskctl vectors --local grammar-open.jsonl\n",
    &VectorsFlags,
    &RunVectorsCommand,
};

}  // namespace maskd::cli
