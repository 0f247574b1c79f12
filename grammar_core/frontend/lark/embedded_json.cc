// A JSON object in a grammar is cut out by its brackets alone and then read by the JSON reader, so
// its syntax is known in one place. A schema's IR is copied into the grammar's; errors and warnings
// move to the line and column of the object and keep their own place in the message.
//
// Invariant  no status that leaves this file has a place within the JSON only.
// Cost       the object is scanned twice, once for its end; a schema's rules are copied once.
// Source     llguidance's extensions of Lark.
#include "grammar_core/frontend/lark/embedded_json.h"

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/json_schema/json_schema.h"
#include "grammar_core/frontend/lark/lark_names.h"
#include "grammar_core/frontend/notation/splice.h"
#include "grammar_core/frontend/notation/substring.h"
#include "grammar_core/frontend/regex/char_classes.h"
#include "grammar_core/ir/passes/ir_copier.h"

namespace maskd {
namespace {

constexpr absl::string_view kWhat = "in the JSON here: ";

// `status`, which speaks of the JSON that begins at the byte `at`, as one of the grammar.
absl::Status Within(const absl::Status& status, std::size_t at, const SourceReading& reading) {
  return EnclosedStatus(status, reading.lines.Place(at), kWhat);
}

// Takes a JSON object by its brackets; whether it is one is for its reader to say.
absl::StatusOr<absl::string_view> TakeObject(SourceReading& reading) {
  PatternCursor& cursor = reading.cursor;
  PassLines(cursor);
  const std::size_t begin = cursor.at();
  if (cursor.Peek() != '{') return cursor.Expected("'{' and a JSON object");
  std::int64_t depth = 0;
  bool in_string = false;
  do {
    if (absl::Status status = reading.budget.Spend(); !status.ok()) return status;
    const std::uint32_t c = cursor.Next();
    if (c == PatternCursor::kEnd)
      return cursor.Invalid(begin, "the JSON object has no end, expected '}'");
    if (c == '"') in_string = !in_string;
    if (in_string) {
      if (c == '\\') cursor.Next();
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  } while (depth > 0);
  return reading.text.substr(begin, cursor.at() - begin);
}

// The document of an object, and the byte where it begins.
struct Embedded {
  std::size_t at;
  JsonDocument document;
};

absl::StatusOr<Embedded> ReadObject(SourceReading& reading) {
  const absl::StatusOr<absl::string_view> text = TakeObject(reading);
  if (!text.ok()) return text.status();
  const std::size_t at = reading.cursor.at() - text->size();
  absl::StatusOr<JsonDocument> document = JsonDocument::Parse(*text, reading.limits);
  if (!document.ok()) return Within(document.status(), at, reading);
  return Embedded{at, *std::move(document)};
}

// Copies the rules of `read`, with their faults; the copy of its start.
absl::StatusOr<RuleId> Splice(const ReadResult& read, SourceReading& reading) {
  IrCopier copier(read.ir, &reading.builder);
  const absl::Status status =
      SpliceRules(read, copier, reading.builder, reading.budget, reading.faults);
  if (!status.ok()) return status;
  return copier.RuleOf(read.ir.start);
}

std::vector<std::string> Characters(absl::string_view utf8) {
  std::vector<std::string> characters;
  for (std::size_t at = 0; at < utf8.size();) {
    const std::size_t begin = at;
    DecodeUtf8(utf8, &at);
    characters.emplace_back(utf8.substr(begin, at - begin));
  }
  return characters;
}

// Runs of spaces, runs of letters, digits and '_', runs of other characters: one chunk each.
std::vector<std::string> Words(absl::string_view utf8) {
  static const CharSet* const spaces = new CharSet(*PropertyChars("White_Space"));
  static const CharSet* const letters =
      new CharSet(PropertyChars("Alphabetic")->Union(*PropertyChars("N")).Union(CharSet::One('_')));
  std::vector<std::string> words;
  int last = -1;
  for (std::size_t at = 0; at < utf8.size();) {
    const std::size_t begin = at;
    const std::uint32_t c = *DecodeUtf8(utf8, &at);
    const int type = spaces->Contains(c) ? 0 : letters->Contains(c) ? 1 : 2;
    if (type != last) words.emplace_back();
    words.back().append(utf8.data() + begin, at - begin);
    last = type;
  }
  return words;
}

absl::StatusOr<std::vector<std::string>> ChunksOf(const JsonValue& pattern) {
  assert(pattern.size() == 1);
  const JsonValue value = *pattern.Nth(0);
  if (value.key() == "substring_chars" && value.is_string()) return Characters(value.text());
  if (value.key() == "substring_words" && value.is_string()) return Words(value.text());
  if (value.key() != "substring_chunks" || !value.is_array()) {
    return InvalidAt(value.Pointer(),
                     "expected substring_chunks (a list), substring_words or substring_chars");
  }
  std::vector<std::string> chunks;
  for (const JsonValue chunk : value.children()) {
    if (!chunk.is_string()) return InvalidAt(chunk.Pointer(), "a chunk is a string");
    chunks.emplace_back(chunk.text());
  }
  return chunks;
}

absl::Status SetOption(const JsonValue& option, SourceGrammar& grammar) {
  constexpr absl::string_view kNames[] = {"allow_initial_skip", "ignore_once", "no_forcing",
                                          "allow_invalid_utf8"};
  if (!absl::c_linear_search(kNames, option.key())) {
    return InvalidAt(option.Pointer(),
                     "expected allow_initial_skip, ignore_once, no_forcing or allow_invalid_utf8");
  }
  if (!option.is_bool()) return InvalidAt(option.Pointer(), "expected true or false");
  const bool value = option.type() == JsonType::kTrue;
  if (option.key() == "allow_initial_skip") grammar.ignore_first = value;
  if (option.key() == "ignore_once") grammar.ignore_once = value;
  if (option.key() == "allow_invalid_utf8" && value)
    return UnsupportedAt(option.Pointer(), "allow_invalid_utf8");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ExprId> ReadEmbeddedSchema(const GrammarOptions& options, SourceReading& reading,
                                          SourceGrammar& grammar) {
  const absl::StatusOr<absl::string_view> text = TakeObject(reading);
  if (!text.ok()) return text.status();
  const std::size_t at = reading.cursor.at() - text->size();
  absl::StatusOr<ReadResult> read =
      ReadJsonSchema({"json_schema", std::string(*text), options}, reading.limits, reading.budget);
  if (!read.ok()) return Within(read.status(), at, reading);
  EnclosePlaces(reading.lines.Place(at), kWhat, &*read);
  for (Diagnostic& warning : read->warnings) AddWarning(std::move(warning), &reading.warnings);
  for (Diagnostic& bound : read->bounds) AddWarning(std::move(bound), &reading.bounds);
  const absl::StatusOr<RuleId> start = Splice(*read, reading);
  if (!start.ok()) return start.status();
  const NodeId call = reading.builder.Call(*start);
  return grammar.Add({.kind = ExprKind::kBytes, .a = call, .at = at});
}

absl::StatusOr<ExprId> ReadStructuredPattern(SourceReading& reading, SourceGrammar& grammar) {
  const absl::StatusOr<Embedded> embedded = ReadObject(reading);
  if (!embedded.ok()) return embedded.status();
  const JsonValue pattern = embedded->document.root();
  if (pattern.size() != 1) return reading.cursor.Invalid(embedded->at, "expected one member");
  const absl::StatusOr<std::vector<std::string>> chunks = ChunksOf(pattern);
  if (!chunks.ok()) return Within(chunks.status(), embedded->at, reading);
  const absl::StatusOr<NodeId> node = SubstringOf(*chunks, reading.budget, reading.builder);
  if (!node.ok()) return node.status();
  return AddCharacters(grammar, *node, chunks->size(), embedded->at);
}

absl::Status ReadLarkOptions(SourceReading& reading, SourceGrammar& grammar) {
  const absl::StatusOr<Embedded> embedded = ReadObject(reading);
  if (!embedded.ok()) return embedded.status();
  for (const JsonValue option : embedded->document.root().children()) {
    const absl::Status status = SetOption(option, grammar);
    if (!status.ok()) return Within(status, embedded->at, reading);
  }
  return absl::OkStatus();
}

}  // namespace maskd
