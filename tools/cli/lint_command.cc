// maskctl lint: what is wrong, dead, unbounded or costly in grammars, and what providers refuse.
// The compiler is the judge where it can be: the whole is compiled, then each member's schema
// alone, as a reference into the whole, which shows the members that no text can have.
//
// Invariant  findings of a schema that does not compile hold no guess about its members.
// Cost       one compile, and one for each member.
// Bounds     kMostMembers members.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include <nlohmann/json.hpp>

#include "client/cpp/base/errors.h"
#include "reasons/source_place.h"
#include "tools/cli/command.h"
#include "tools/cli/connection.h"
#include "tools/cli/grammar_flags.h"
#include "tools/cli/lint/provider_rules.h"
#include "tools/cli/lint/shape_rules.h"
#include "tools/cli/lint/subschemas.h"
#include "tools/cli/print.h"
#include "tools/cli/terminal.h"

namespace maskd::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<absl::string_view, 3> kSeverities = {"note", "warning", "error"};
constexpr std::array<absl::string_view, 4> kFailOn = {"note", "warning", "error", "never"};
constexpr std::array<Tone, 3> kTones = {Tone::kFaint, Tone::kWarning, Tone::kBad};

// A grammar of more bytes than this takes a noticeable part of a server's default cache.
constexpr std::int64_t kManyBytes = 16 << 20;
// Members whose schemas are compiled each by itself.
constexpr std::size_t kMostMembers = 500;
// The name under which a schema is a document of itself.
constexpr char kSelf[] = "urn:maskd:lint";

std::vector<Flag> LintFlags() {
  return WithConnectionFlags(WithGrammarFlags({
      {"provider", "NAME,NAME", "providers to hold schemas to: openai, anthropic"},
      {"fail_on", "note|warning|error|never", "the least that makes the exit status 1", "error"},
      {"quiet", "", "leave notes and costs out"},
  }));
}

struct LintOptions {
  std::vector<std::string> providers;
  int fail_on = 0;  // index in kFailOn
  bool quiet = false;
  bool as_json = false;
};

absl::StatusOr<LintOptions> ReadOptions(const Flags& flags) {
  LintOptions options;
  options.providers = absl::StrSplit(flags.Get("provider"), ',', absl::SkipEmpty());
  for (const std::string& name : options.providers)
    if (std::ranges::find(kProviders, name) == kProviders.end())
      return UsageError(absl::StrCat("--provider: \"", name, "\" is neither openai nor anthropic"));
  const auto fail_on = flags.GetChoice("fail_on", kFailOn);
  if (!fail_on.ok()) return UsageError(fail_on.status().message());
  options.fail_on = *fail_on;
  options.quiet = flags.Has("quiet");
  options.as_json = flags.Has("json");
  return options;
}

// The status in words, without its place: that stands before it in the line.
std::string TextWithoutPlace(const absl::Status& status) {
  const std::string prefix = absl::StrCat(client::ErrorPlace(status), ": ");
  std::string text = StatusText(status);
  const std::size_t at = text.find(prefix);
  return at == std::string::npos || prefix == ": " ? text : text.erase(at, prefix.size());
}

// What is said of one grammar.
struct Linted {
  std::vector<Finding> findings;
  std::optional<v1::GrammarCosts> costs;  // absent where it does not compile
};

// The compiler's own verdict and warnings. Gives the costs.
std::optional<v1::GrammarCosts> FindByCompiling(const Connection& connection,
                                                const v1::Grammar& grammar,
                                                std::vector<Finding>* findings) {
  v1::CompileRequest request;
  request.set_tokenizer(connection.tokenizer());
  *request.mutable_grammar() = grammar;
  const auto compiled = connection.client().Compile(request);
  if (!compiled.ok()) {
    const bool is_unsupported = absl::IsUnimplemented(compiled.status());
    findings->push_back({Severity::kError, is_unsupported ? "not-supported" : "not-compiled",
                         client::ErrorPlace(compiled.status()), TextWithoutPlace(compiled.status()),
                         is_unsupported ? "--strictness=relax leaves it out with a warning" : ""});
    return std::nullopt;
  }
  for (const v1::Diagnostic& warning : compiled->warnings())
    findings->push_back({Severity::kWarning, "compiler", warning.place(), warning.message(), ""});
  if (compiled->costs().held_bytes() > kManyBytes) {
    findings->push_back({Severity::kWarning, "large", "",
                         absl::StrFormat("the grammar holds %d bytes and took %s to compile",
                                         compiled->costs().held_bytes(),
                                         Milliseconds(compiled->costs().compile_us())),
                         "share repeated subschemas by $ref, and lower counts such as maxItems"});
  }
  return compiled->costs();
}

// A message about a place in the schema as a document of itself.
std::string WithoutSelf(absl::string_view message) {
  return absl::StrReplaceAll(message, {{absl::StrCat(kSelf, "#"), ""}});
}

// Members that no text can have: their schema, by itself, has no value. Each is compiled as a
// reference into the schema, so that its own references hold.
void FindDeadMembers(const Connection& connection, const v1::Grammar& grammar,
                     const std::string& root_place, const Subschemas& schemas,
                     std::vector<Finding>* findings) {
  if (FindMember(*schemas.all.front().json, "$id") != nullptr) return;  // it has a name of its own
  std::size_t compiled = 0;
  for (const Subschema& schema : schemas.all) {
    const bool is_member = absl::StrContains(schema.place, "/properties/");
    if (!is_member || !schema.json->is_object() || compiled++ >= kMostMembers) continue;
    v1::CompileRequest request;
    request.set_tokenizer(connection.tokenizer());
    *request.mutable_grammar() = grammar;
    request.mutable_grammar()->set_kind("json_schema");
    const Json reference = {
        {"$ref", absl::StrCat(kSelf, "#", schema.place.substr(root_place.size()))}};
    request.mutable_grammar()->set_source(reference.dump());
    v1::Document* const self = request.mutable_grammar()->add_documents();
    self->set_uri(kSelf);
    self->set_text(schemas.all.front().json->dump());
    const auto answer = connection.client().Compile(request);
    // The whole compiled: what is wrong with the part by itself is that it has no value.
    if (!absl::IsInvalidArgument(answer.status())) continue;
    findings->push_back({Severity::kWarning, "dead-member", schema.place,
                         absl::StrCat("no text has it: ", WithoutSelf(answer.status().message())),
                         "remove it, or correct its schema"});
  }
}

// The schema of a grammar and its place in the source; nothing for other kinds.
std::optional<std::pair<Json, std::string>> SchemaOf(const v1::Grammar& grammar) {
  const bool is_format = grammar.kind() == "response_format";
  if (grammar.kind() != "json_schema" && !is_format) return std::nullopt;
  Json json = Json::parse(grammar.source(), nullptr, /*allow_exceptions=*/false);
  if (!is_format) return std::pair(std::move(json), std::string());
  const Json::json_pointer place("/json_schema/schema");
  if (!json.contains(place)) return std::nullopt;
  return std::pair(Json(json.at(place)), place.to_string());
}

Linted Lint(const Connection& connection, const v1::Grammar& grammar, const LintOptions& options) {
  Linted linted;
  std::vector<Finding>& findings = linted.findings;
  linted.costs = FindByCompiling(connection, grammar, &findings);
  const bool is_compiled = linted.costs.has_value();
  const auto schema = SchemaOf(grammar);
  if (schema.has_value() && (schema->first.is_object() || schema->first.is_boolean())) {
    const Subschemas schemas = FindSubschemas(schema->first, schema->second);
    FindDeadValues(schemas, &findings);
    if (is_compiled) FindDeadMembers(connection, grammar, schema->second, schemas, &findings);
    FindOpenPlaces(schemas, &findings);
    for (const std::string& provider : options.providers)
      FindRefusals(provider, schemas, Severity::kError, &findings);
  }
  if (options.quiet)
    std::erase_if(findings, [](const Finding& each) { return each.severity == Severity::kNote; });
  return linted;
}

std::string LineText(const std::string& file, const std::string& source, const Finding& finding) {
  const auto span = reasons::FindPlace(source, finding.place);
  const auto severity = static_cast<std::size_t>(finding.severity);
  const std::string at = span.has_value() ? absl::StrCat(span->line, ":", span->column) : "";
  // A place that is a line and a column has been said.
  const std::string place = finding.place == at ? "" : finding.place;
  return absl::StrCat(
      file, at.empty() ? "" : ":", at, ": ", Painted(kSeverities[severity], kTones[severity]), ": ",
      place, place.empty() ? "" : ": ", finding.message, " [", finding.rule, "]\n",
      finding.fix.empty() ? "" : "    fix: ", finding.fix, finding.fix.empty() ? "" : "\n");
}

Json FindingJson(const std::string& file, const std::string& source, const Finding& finding) {
  Json json = {{"file", file},
               {"severity", kSeverities[static_cast<std::size_t>(finding.severity)]},
               {"rule", finding.rule},
               {"place", finding.place},
               {"message", finding.message},
               {"fix", finding.fix}};
  if (const auto span = reasons::FindPlace(source, finding.place); span.has_value()) {
    json["line"] = span->line;
    json["column"] = span->column;
  }
  return json;
}

std::string CostsLine(const std::string& file, const v1::GrammarCosts& costs) {
  return absl::StrCat(file, ": costs: holds ", Counted(costs.rules(), "rule"), ", ",
                      costs.ir_nodes(), " nodes, ", costs.terms(), " terms, ", costs.held_bytes(),
                      " bytes; compiled in ", Milliseconds(costs.compile_us()), "\n");
}

Json CostsJson(const std::string& file, const v1::GrammarCosts& costs) {
  Json json = Json::parse(JsonText(costs));
  json["file"] = file;
  return json;
}

// Everything that is printed, and the findings by severity.
struct LintReport {
  std::string lines;
  Json findings = Json::array();
  Json costs = Json::array();
  std::array<int, 3> counts = {};
};

void Append(const std::string& file, const std::string& source, const Linted& linted, bool is_quiet,
            LintReport* report) {
  for (const Finding& finding : linted.findings) {
    ++report->counts[static_cast<std::size_t>(finding.severity)];
    report->findings.push_back(FindingJson(file, source, finding));
    report->lines += LineText(file, source, finding);
  }
  if (!linted.costs.has_value()) return;
  report->costs.push_back(CostsJson(file, *linted.costs));
  if (!is_quiet) report->lines += CostsLine(file, *linted.costs);
}

std::string ReportText(const LintReport& report, std::size_t files, bool as_json) {
  if (as_json) {
    return Json{{"findings", report.findings}, {"costs", report.costs}}.dump(
        -1, ' ', false, Json::error_handler_t::replace);
  }
  return absl::StrCat(report.lines, Counted(static_cast<std::int64_t>(files), "file"), ": ",
                      Counted(report.counts[2], "error"), ", ",
                      Counted(report.counts[1], "warning"), ", ",
                      Counted(report.counts[0], "note"));
}

absl::StatusOr<int> RunLint(const Flags& flags) {
  if (flags.arguments().empty()) return UsageError("a grammar file is needed");
  const auto options = ReadOptions(flags);
  if (!options.ok()) return options.status();
  const auto connection = Connection::Open(flags);
  if (!connection.ok()) return connection.status();
  LintReport report;
  for (const std::string& file : flags.arguments()) {
    const auto grammar = ReadGrammarFile(file, flags);
    if (!grammar.ok()) return grammar.status();
    Append(file, grammar->source(), Lint(**connection, *grammar, *options), options->quiet,
           &report);
  }
  absl::PrintF("%s\n", ReportText(report, flags.arguments().size(), options->as_json));
  for (std::size_t severity = static_cast<std::size_t>(options->fail_on); severity < 3; ++severity)
    if (report.counts[severity] > 0) return kExitNo;
  return kExitYes;
}

}  // namespace

const Command kLintCommand = {
    "lint",
    "SCHEMA ...",
    "says what is wrong, dead, unbounded or costly in grammars, and what providers refuse",
    "Prints one line a finding, FILE:LINE:COLUMN: SEVERITY: PLACE: what [rule], and a fix where "
    "one "
    "is\n"
    "known; then what each grammar costs. Errors do not compile, or a provider of --provider "
    "refuses them; warnings are probably "
    "not\n"
    "meant; notes are places without a bound. Exit status 1 when something of --fail_on or worse "
    "was\n"
    "found: for continuous integration.\n\n"
    "  maskctl lint --local --provider=openai --quiet schemas/*.json\n",
    &LintFlags,
    &RunLint,
};

}  // namespace maskd::cli
