// Messages become the types of stream_types.h and of the core, checked field by field: from here on
// no number is out of its range and no enumeration unknown. A field that this version does not know
// is refused, since it may change what the others mean.
//
// Invariant  an error of one row of a step is that row's (`refusal`) and does not end the stream;
//            what is wrong with the message itself does.
// Order      the place of an error is that of the field in the caller's own message.
// Cost       a copy of each text and list; nothing is parsed.
// Threads    whoever has the message: a stream's thread, its shared-memory thread, a call's thread.
//            Nothing here waits.
#include "service/wire/request_reader.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include "grammar_core/base/error.h"
#include "service/base/errors.h"

namespace maskd::service {
namespace {

// Bounds of the protocol that no flag changes: what a client may ask for before its tokenizer or
// its grammar is known. They keep one number from asking for gigabytes.
constexpr std::uint32_t kMaxLogitsWidth = 1U << 24;
constexpr std::uint32_t kMaxDictionarySize = 1U << 16;
constexpr std::int32_t kMaxWhitespace = 65'536;
constexpr std::int32_t kMaxTokens = 1'000'000;
constexpr std::int32_t kMaxCharacters = 1'000'000'000;
constexpr std::int32_t kMaxNumberDigits = 1'000'000;
constexpr int kMaxDocuments = 1'024;

// A field from a later version of the protocol: it may change the meaning, so it is refused.
// Called for each message on the way down: protobuf keeps the unknown fields of a nested message in
// that one alone.
absl::Status RefuseUnknownFields(const google::protobuf::Message& message) {
  const google::protobuf::UnknownFieldSet& unknown =
      message.GetReflection()->GetUnknownFields(message);
  if (unknown.empty()) return absl::OkStatus();
  return ErrorAt(absl::StatusCode::kUnimplemented, message.GetDescriptor()->name(), "UNKNOWN_FIELD",
                 absl::StrCat("this server does not know field number ", unknown.field(0).number(),
                              " of ", message.GetDescriptor()->full_name()));
}

absl::Status CheckRange(absl::string_view field, std::int64_t value, std::int64_t min,
                        std::int64_t max) {
  return value >= min && value <= max
             ? absl::OkStatus()
             : BadField(field, absl::StrCat(value, " is not in [", min, ", ", max, "]"));
}

// proto3 lets any number through as an enumeration. One that this version does not know may forbid
// what the client does not want, so it is an error and not the default.
absl::Status ReadEnums(const v1::GrammarOptions& wire, GrammarOptions* options) {
  if (!v1::WhiteSpace_IsValid(wire.white_space()))
    return BadField("options.white_space", "is not a known value");
  if (!v1::PropertyOrder_IsValid(wire.property_order()))
    return BadField("options.property_order", "is not a known value");
  if (!v1::Strictness_IsValid(wire.strictness()))
    return BadField("options.strictness", "is not a known value");
  if (!v1::JsonSpelling_IsValid(wire.spelling()))
    return BadField("options.spelling", "is not a known value");
  if (wire.spelling() != v1::JSON_SPELLING_UNSPECIFIED) {
    options->spelling =
        wire.spelling() == v1::JSON_SPELLING_ANY ? JsonSpelling::kAny : JsonSpelling::kCanonical;
  }
  if (wire.white_space() == v1::WHITE_SPACE_COMPACT) options->white_space = WhiteSpace::kCompact;
  if (wire.property_order() == v1::PROPERTY_ORDER_ANY)
    options->property_order = PropertyOrder::kAny;
  if (wire.strictness() == v1::STRICTNESS_RELAX) options->strictness = Strictness::kRelax;
  return absl::OkStatus();
}

// Absent leaves the default, which is why each field is asked for its presence. The bounds of
// indent and the separators are the front ends' (grammar_core/frontend/registry.cc).
absl::Status ReadValues(const v1::GrammarOptions& wire, GrammarOptions* options) {
  if (wire.has_item_separator()) options->item_separator = wire.item_separator();
  if (wire.has_key_separator()) options->key_separator = wire.key_separator();
  if (wire.has_indent()) options->indent = wire.indent();
  if (wire.has_max_whitespace()) options->max_whitespace = wire.max_whitespace();
  if (wire.has_max_number_digits()) options->max_number_digits = wire.max_number_digits();
  if (wire.has_additional_properties())
    options->additional_properties = wire.additional_properties();
  if (wire.has_assert_formats())
    options->formats = wire.assert_formats() ? Formats::kAsserted : Formats::kAnnotations;
  if (wire.has_max_tokens()) {
    if (absl::Status checked = CheckRange("options.max_tokens", wire.max_tokens(), 1, kMaxTokens);
        !checked.ok()) {
      return checked;
    }
    options->max_tokens = static_cast<std::int32_t>(wire.max_tokens());
  }
  if (wire.has_max_characters()) {
    if (absl::Status checked =
            CheckRange("options.max_characters", wire.max_characters(), 1, kMaxCharacters);
        !checked.ok()) {
      return checked;
    }
    options->max_characters = static_cast<std::int32_t>(wire.max_characters());
  }
  // These two are checked also when absent: the defaults are in range, and one check serves both.
  absl::Status checked =
      CheckRange("options.max_whitespace", options->max_whitespace, 0, kMaxWhitespace);
  if (checked.ok()) {
    checked =
        CheckRange("options.max_number_digits", options->max_number_digits, 1, kMaxNumberDigits);
  }
  return checked;
}

absl::StatusOr<GrammarOptions> ReadOptions(const v1::GrammarOptions& wire, JsonSpelling spelling) {
  GrammarOptions options;
  options.spelling = spelling;
  absl::Status read = RefuseUnknownFields(wire);
  if (read.ok()) read = ReadEnums(wire, &options);
  if (read.ok()) read = ReadValues(wire, &options);
  if (!read.ok()) return read;
  return options;
}

absl::StatusOr<std::vector<GrammarSource::Document>> ReadDocuments(const v1::Grammar& grammar) {
  // Their number is bounded here, their bytes by the message, what they refer to by the compile.
  if (grammar.documents_size() > kMaxDocuments) {
    return BadField("documents",
                    absl::StrCat(grammar.documents_size(), " are more than ", kMaxDocuments));
  }
  std::vector<GrammarSource::Document> documents;
  absl::flat_hash_set<absl::string_view> uris;
  for (const v1::Document& wire : grammar.documents()) {
    const std::string field = absl::StrCat("documents[", documents.size(), "].uri");
    if (absl::Status known = RefuseUnknownFields(wire); !known.ok()) return known;
    if (wire.uri().empty()) return BadField(field, "is needed: what a $ref names the document by");
    if (!uris.insert(wire.uri()).second)
      return BadField(field, absl::StrCat("\"", wire.uri(), "\" names two documents"));
    documents.push_back({wire.uri(), wire.text()});
  }
  return documents;
}

// Compile, Explain and Check name their target alike, and so does a row that is opened. Check reads
// any spelling of JSON unless told otherwise: it judges texts that others wrote.
template <typename Message>
absl::StatusOr<GrammarTarget> ReadTargetOf(const Message& message,
                                           JsonSpelling spelling = JsonSpelling::kCanonical) {
  if (absl::Status known = RefuseUnknownFields(message); !known.ok()) return known;
  GrammarTarget target;
  switch (message.target_case()) {
    case Message::kGrammarId:
      target.id = message.grammar_id();
      return target;
    case Message::kGrammar: {
      absl::StatusOr<GrammarSource> source = ReadGrammarMessage(message.grammar(), spelling);
      if (!source.ok()) return source.status();
      target.source = *std::move(source);
      return target;
    }
    default:
      return BadField("target", "neither grammar_id nor grammar is set");
  }
}

// For bounds of tokens: a bound that no row can reach is the same as a smaller one that no row can
// reach, so it is no error.
int ClampToInt(std::uint32_t value) {
  return static_cast<int>(std::min<std::uint32_t>(value, std::numeric_limits<int>::max()));
}

// Only the message. Whether the style is known and the tokens are in the vocabulary is found by
// ReasoningGate::Create(), which has the tokenizer.
absl::Status ReadGate(const v1::ReasoningGate& wire, GateRequest* gate) {
  gate->end_tokens.assign(wire.end_tokens().begin(), wire.end_tokens().end());
  gate->style = wire.style();
  gate->prompt_tail.assign(wire.prompt_tail().begin(), wire.prompt_tail().end());
  if (wire.has_max_tokens()) gate->max_tokens = ClampToInt(wire.max_tokens());
  gate->constrain_inside = wire.constrain_inside();
  return RefuseUnknownFields(wire);
}

// That the parents make a tree is checked when the row is moved (CheckDrafts() in row_errors.cc),
// where the short way of step_reader.cc arrives too.
absl::Status ReadDrafts(const v1::Drafts& wire, RowToMove* move) {
  move->has_drafts = true;
  move->drafts.assign(wire.tokens().begin(), wire.tokens().end());
  move->draft_parents.assign(wire.parents().begin(), wire.parents().end());
  return RefuseUnknownFields(wire);
}

absl::Status ReadBiases(const v1::OpenRow& wire, std::vector<LogitBias>* biases) {
  for (const v1::LogitBias& bias : wire.biases()) {
    if (absl::Status known = RefuseUnknownFields(bias); !known.ok()) return known;
    // A NaN added to one logit would spoil the softmax of the whole row.
    if (!std::isfinite(bias.bias()))
      return BadField(absl::StrCat("biases[", biases->size(), "].bias"), "is not finite");
    biases->push_back({bias.id(), bias.bias()});
  }
  // Ascending, so that twice the same is a neighbour, and appliers go through the logits once.
  std::ranges::sort(*biases, {}, &LogitBias::id);
  const auto twice = std::ranges::adjacent_find(*biases, {}, &LogitBias::id);
  return twice == biases->end()
             ? absl::OkStatus()
             : BadField("biases", absl::StrCat("token ", twice->id, " is named twice"));
}

// What positions shall carry beside their masks.
absl::Status ReadTuning(const v1::OpenRow& wire, RowOptions* options) {
  if (wire.has_temperature()) {
    if (!std::isfinite(wire.temperature()) || wire.temperature() < 0)
      return BadField("temperature", "is not a finite number from 0 on");
    options->temperature = wire.temperature();
  }
  return ReadBiases(wire, &options->biases);
}

absl::Status ReadOpenFields(const v1::OpenRow& wire, RowToOpen* open) {
  if (wire.has_remaining_tokens()) open->remaining_tokens = ClampToInt(wire.remaining_tokens());
  // Also looks for unknown fields of the OpenRow itself.
  absl::StatusOr<GrammarTarget> target = ReadTargetOf(wire);
  if (!target.ok()) return target.status();
  open->target = *std::move(target);
  open->tokens.assign(wire.tokens().begin(), wire.tokens().end());
  open->options.stop_ids.assign(wire.stop_ids().begin(), wire.stop_ids().end());
  open->options.min_tokens = ClampToInt(wire.min_tokens());
  open->options.want_answer = wire.want_answer();
  open->options.observe = wire.observe();
  if (absl::Status read = ReadTuning(wire, &open->options); !read.ok()) return read;
  return wire.has_reasoning() ? ReadGate(wire.reasoning(), &open->options.gate.emplace())
                              : absl::OkStatus();
}

// Every field of `move` but its row and refusal: it may have been another row's before.
absl::Status ReadMoveFields(const v1::RowUpdate& wire, RowToMove* move) {
  // Absent means "as before", which 0 does not.
  move->remaining_tokens.reset();
  if (wire.has_remaining_tokens()) move->remaining_tokens = ClampToInt(wire.remaining_tokens());
  move->has_drafts = false;
  move->drafts.clear();
  move->draft_parents.clear();
  if (wire.has_drafts()) {
    if (absl::Status read = ReadDrafts(wire.drafts(), move); !read.ok()) return read;
  }
  move->want_forced = wire.want_forced();
  if (absl::Status checked =
          CheckRange("rollback", wire.rollback(), 0, std::numeric_limits<int>::max());
      !checked.ok()) {
    return checked;
  }
  move->rollback = static_cast<int>(wire.rollback());
  move->tokens.assign(wire.tokens().begin(), wire.tokens().end());
  return RefuseUnknownFields(wire);
}

// Against the protocol alone. That the width suits the tokenizer is for AgreeOnTerms().
absl::Status CheckHello(const v1::Hello& hello) {
  if (hello.logits_width() == 0)
    return BadField("hello.logits_width", "is needed: the width of the logits in tokens");
  absl::Status width = CheckRange("hello.logits_width", hello.logits_width(), 1, kMaxLogitsWidth);
  return width.ok() ? RefuseUnknownFields(hello) : width;
}

FormTerms ReadForms(const v1::Hello& wire) {
  FormTerms forms;
  for (const int form : wire.row_forms()) {
    forms.same_as |= form == v1::ROW_FORM_SAME_AS;
    forms.allowed_ids |= form == v1::ROW_FORM_ALLOWED_IDS;
    forms.forbidden_ids |= form == v1::ROW_FORM_FORBIDDEN_IDS;
    forms.delta |= form == v1::ROW_FORM_DELTA;
  }
  // A form that this version does not know is one it does not use: no error.
  forms.dictionary_size = static_cast<int>(std::min(wire.dictionary_size(), kMaxDictionarySize));
  forms.temperature = wire.want_temperature();
  forms.biases = wire.want_bias();
  return forms;
}

// Never fails: what is wrong with a row is in its refusal, and the rows beside it go on. Moves keep
// their vectors from step to step; opens and forks are rare and are made anew.
void ReadRows(const v1::Step& wire, StepRequest* step) {
  step->opens.clear();
  step->opens.reserve(static_cast<std::size_t>(wire.open_size()));
  for (const v1::OpenRow& row : wire.open()) ReadOpen(row, &step->opens.emplace_back());
  step->moves.resize(static_cast<std::size_t>(wire.rows_size()));
  for (int i = 0; i < wire.rows_size(); ++i)
    ReadMove(wire.rows(i), &step->moves[static_cast<std::size_t>(i)]);
  step->forks.clear();
  for (const v1::ForkRow& row : wire.fork()) step->forks.push_back({row.parent(), row.child()});
}

}  // namespace

absl::StatusOr<GrammarSource> ReadGrammarMessage(const v1::Grammar& grammar,
                                                 JsonSpelling spelling) {
  if (absl::Status known = RefuseUnknownFields(grammar); !known.ok()) return known;
  absl::StatusOr<GrammarOptions> options = ReadOptions(grammar.options(), spelling);
  if (!options.ok()) return options.status();
  auto documents = ReadDocuments(grammar);
  if (!documents.ok()) return documents.status();
  return GrammarSource{grammar.kind(), grammar.source(), *options, *std::move(documents)};
}

absl::StatusOr<GrammarTarget> ReadTarget(const v1::CompileRequest& request) {
  return ReadTargetOf(request);
}

absl::StatusOr<GrammarTarget> ReadTarget(const v1::CheckRequest& request) {
  return ReadTargetOf(request, JsonSpelling::kAny);
}

absl::StatusOr<GrammarTarget> ReadTarget(const v1::ExplainRequest& request) {
  return ReadTargetOf(request);
}

// A step that comes first is a message at the wrong time, one with neither hello nor step is a
// wrong message: two codes, as the protocol has it.
absl::StatusOr<Hello> ReadHello(const v1::DecodeRequest& request) {
  if (!request.has_hello()) {
    return request.has_step() ? ErrorAt(absl::StatusCode::kFailedPrecondition, "hello", "NO_HELLO",
                                        "the first message of a stream must be a Hello")
                              : BadField("hello", "the first message of a stream must be a Hello");
  }
  const v1::Hello& hello = request.hello();
  if (absl::Status checked = CheckHello(hello); !checked.ok()) return checked;
  return Hello{hello.tokenizer(), hello.tokenizer_hash(), static_cast<int>(hello.logits_width()),
               ReadForms(hello), hello.shared_memory()};
}

void ReadMove(const v1::RowUpdate& wire, RowToMove* move) {
  move->row = wire.row();
  move->refusal = ReadMoveFields(wire, move);
}

void ReadOpen(const v1::OpenRow& wire, RowToOpen* open) {
  open->row = wire.row();
  open->refusal = ReadOpenFields(wire, open);
}

// The long way. Most steps are read by step_reader.cc without a message; the two must agree, and
// tests compare them.
absl::Status ReadStep(const v1::DecodeRequest& request, StepRequest* step) {
  if (!request.has_step()) return BadField("step", "every message after the Hello must be a Step");
  const v1::Step& wire = request.step();
  if (absl::Status known = RefuseUnknownFields(wire); !known.ok()) return known;
  step->step = wire.step();
  step->wait_ms = wire.wait_for_compile_ms();
  ReadRows(wire, step);
  step->snapshots.assign(wire.snapshot().begin(), wire.snapshot().end());
  step->closes.assign(wire.close().begin(), wire.close().end());
  return absl::OkStatus();
}

}  // namespace maskd::service
