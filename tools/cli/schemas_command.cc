// maskctl schemas: a file of JSON schemas with instances, against a server. Each line is compiled
// and each of its texts taken through the masks; what a line says of the text is compared with what
// the masks did.
//
// Invariant  a line that cannot be read ends the run; a schema that is refused is counted.
// Cost       one compile for each line; its texts go side by side, as rows of one stream.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

#include "tools/cli/command.h"
#include "tools/cli/connection.h"
#include "tools/cli/grammar_flags.h"
#include "tools/cli/schemas/respelling.h"
#include "tools/cli/schemas/schema_case.h"
#include "tools/cli/schemas/schema_tally.h"
#include "tools/cli/terminal.h"
#include "tools/cli/vectors/text_runner.h"

namespace maskd::cli {
namespace {

// In the order of Respelling's values.
constexpr std::array<absl::string_view, 3> kTexts = {"given", "spaced", "escaped"};

std::vector<Flag> SchemasFlags() {
  return WithConnectionFlags(WithGrammarFlags(WithTextRunnerFlags({
      {"texts", "given|spaced|escaped",
       "as they are, with a space behind each comma and colon, or with strings as \\uXXXX",
       "given"},
      {"by", "FIELD", "the field of a line that schemas are counted by", "keyword"},
      {"only", "FIELD=VALUE", "only lines with this value"},
      {"limit", "COUNT", "lines of failures at most", "50"},
  })));
}

// What a run needs, and what it has counted.
struct SchemaRun {
  const Connection& connection;
  TextRunner& runner;
  v1::Grammar grammar;  // all but its source
  Respelling respelling = Respelling::kGiven;
  std::string by;
  std::pair<std::string, std::string> only;
  SchemaTally tally;
  int shuffled_left_out = 0;
};

// Errors: those of the server and the stream; what the case meets is counted.
absl::Status RunCase(const SchemaCase& one, SchemaRun& run) {
  const auto field = one.fields.find(run.by);
  const std::string group = field == one.fields.end() ? "" : field->second;
  v1::CompileRequest request;
  request.set_tokenizer(run.connection.tokenizer());
  *request.mutable_grammar() = run.grammar;
  request.mutable_grammar()->set_source(one.schema);
  const auto compiled = run.connection.client().Compile(request);
  if (!compiled.ok()) {
    if (absl::IsUnavailable(compiled.status())) return compiled.status();
    CountRefusedSchema(one, group, compiled.status(), run.tally);
    return absl::OkStatus();
  }
  const bool any_order = run.grammar.options().property_order() == v1::PROPERTY_ORDER_ANY;
  if (!any_order) run.shuffled_left_out += static_cast<int>(one.shuffled.size());
  std::vector<std::string> texts = TextsOf(one, any_order);
  for (std::string& text : texts) text = Respelled(text, run.respelling);
  const auto verdicts = run.runner.Run(compiled->grammar_id(), texts);
  if (!verdicts.ok()) {
    return absl::Status(verdicts.status().code(),
                        absl::StrCat(one.id, ": ", verdicts.status().message()));
  }
  CountSchema(one, group, texts, *verdicts, run.tally);
  return absl::OkStatus();
}

absl::Status RunLines(absl::string_view lines, SchemaRun& run) {
  int number = 0;
  Progress progress("schemas", std::ranges::count(lines, '\n'));
  for (const absl::string_view line : absl::StrSplit(lines, '\n')) {
    ++number;
    progress.Step();
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    absl::StatusOr<SchemaCase> one = ReadSchemaCase(line);
    if (!one.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": ", one.status().message()));
    }
    if (one->id.empty()) one->id = absl::StrCat("line ", number);
    const auto& [name, value] = run.only;
    if (!name.empty() && one->fields[name] != value) continue;
    if (absl::Status ran = RunCase(*one, run); !ran.ok()) return ran;
  }
  return absl::OkStatus();
}

int Report(const SchemaRun& run, std::int64_t limit, bool as_json) {
  const std::vector<std::string>& failures = run.tally.failures;
  std::int64_t printed = 0;
  if (as_json) {
    absl::PrintF("%s", SchemaTallyJson(run.tally));
    return failures.empty() && !run.tally.groups.empty() ? kExitYes : kExitNo;
  }
  for (const std::string& failure : failures) {
    if (printed++ == limit) break;
    absl::PrintF("%s\n", failure);
  }
  const auto more = static_cast<std::int64_t>(failures.size()) - limit;
  if (more > 0) absl::PrintF("... and %d more failures\n", more);
  absl::PrintF("%s%s", failures.empty() ? "" : "\n", SchemaTables(run.tally, run.by));
  if (run.shuffled_left_out > 0) {
    absl::PrintF("\nNOT RUN, they need --property_order=any: %d shuffled texts\n",
                 run.shuffled_left_out);
  }
  return failures.empty() && !run.tally.groups.empty() ? kExitYes : kExitNo;
}

absl::Status ReadRunFlags(const Flags& flags, SchemaRun& run) {
  const auto texts = flags.GetChoice("texts", kTexts);
  if (!texts.ok()) return UsageError(texts.status().message());
  run.respelling = static_cast<Respelling>(*texts);
  run.by = flags.Get("by");
  if (flags.Has("only")) {
    run.only = absl::StrSplit(flags.Get("only"), absl::MaxSplits('=', 1));
    if (flags.Get("only").find('=') == std::string::npos)
      return UsageError("--only: is not FIELD=VALUE");
  }
  return absl::OkStatus();
}

absl::StatusOr<int> RunSchemas(const Flags& flags) {
  const auto path = OneArgument(flags, "file of schemas");
  if (!path.ok()) return path.status();
  const auto limit = flags.GetNumber("limit", 0, std::numeric_limits<std::int32_t>::max());
  if (!limit.ok()) return UsageError(limit.status().message());
  auto grammar = ReadGrammarFlags(flags);
  if (!grammar.ok()) return grammar.status();
  if (!flags.Has("spelling")) grammar->mutable_options()->set_spelling(v1::JSON_SPELLING_ANY);
  const auto lines = ReadFile(*path);
  if (!lines.ok()) return lines.status();
  const auto connection = Connection::Open(flags);
  if (!connection.ok()) return connection.status();
  const auto runner = TextRunner::Open(**connection, flags);
  if (!runner.ok()) return runner.status();
  SchemaRun run{**connection, **runner, *std::move(grammar), {}, {}, {}, {}, 0};
  if (absl::Status read = ReadRunFlags(flags, run); !read.ok()) return read;
  if (absl::Status ran = RunLines(*lines, run); !ran.ok())
    return absl::Status(ran.code(), absl::StrCat(*path, ": ", ran.message()));
  return Report(run, *limit, flags.Has("json"));
}

}  // namespace

const Command kSchemasCommand = {
    "schemas",
    "FILE",
    "holds a server to a file of JSON schemas with instances",
    "FILE, gzip or plain, has one JSON object a line: schema (a schema or its text), valid and\n"
    "invalid (lists of texts) or tests (a list of objects with valid and text), and, where\n"
    "present, draft (the $schema of a schema without one), shuffled (valid texts with members in\n"
    "another order; they need --property_order=any), id, and fields to count by. Each schema is\n"
    "compiled and each text taken through its masks, token by token. Prints one line a failure, a\n"
    "table of totals, and what was refused by keyword. Exit status 0 when nothing failed.\n\n"
    "  maskctl schemas --local --remotes=remotes.json json-schema-test-suite.jsonl\n"
    "  maskctl schemas --local --property_order=any open.jsonl.gz\n",
    &SchemasFlags,
    &RunSchemas,
};

}  // namespace maskd::cli
