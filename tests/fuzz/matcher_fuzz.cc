// A stream of calls on matchers, drawn from the input: first byte the grammar, second the
// vocabulary, then one operation after the other, each a byte and its arguments.
//
// Promises   a token is taken exactly if its mask allows it; a mask is never all-zero and stays the
//            same until the matcher moves; rolled back to, a place has the mask it had; a fork is
//            where its original was and does not move with it; forced bytes are a prefix of what
//            can follow; the shortest completion completes; a text is matched as far as its bytes
//            are taken one by one; a draft's positions have the masks that taking its tokens gives.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/loader.h"
#include "tests/fuzz/fuzz_checks.h"
#include "tests/fuzz/fuzz_target.h"

namespace maskd::fuzz {
namespace {

constexpr int kMaxBytes = 1 << 12;
constexpr std::size_t kMaxSequences = 4;

const std::vector<GrammarSource>& Sources() {
  static const std::vector<GrammarSource> sources = {
      GrammarSource{"json", ""},
      GrammarSource{"json_object", ""},
      GrammarSource{"choice", R"(["", "a", "ab", "abc", "b\u00e9", "\"", "true"])"},
      GrammarSource{"regex", R"((a|b|ab|ba)*c?)"},
      GrammarSource{"regex", R"([^\x00-\x1f"]{2,5}|\p{L}+[0-9]{1000,2000})"},
      GrammarSource{"regex", R"((?:\u00e9|e\u0301){3,}\.?)"},
      GrammarSource{"json_schema", R"({"type": "string", "minLength": 2, "maxLength": 5})"},
      GrammarSource{"json_schema", R"({"type": "string", "maxLength": 1000000})"},
      GrammarSource{
          "json_schema",
          R"({"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3})"},
      GrammarSource{
          "json_schema",
          R"({"type": "array", "prefixItems": [{"type": "null"}, {"enum": [1, "x", [true]]}], "items": false})"},
      GrammarSource{
          "json_schema",
          R"({"type": "object", "properties": {"ab": {"type": "number"}, "a": {"type": "boolean"}, "abc": {"$ref": "#"}}, "required": ["a"]})"},
      GrammarSource{
          "json_schema",
          R"({"type": "object", "properties": {"\u00e9": {"const": "\u00e9\ud83d\ude00"}}, "required": ["x"], "additionalProperties": {"type": "string"}})"},
      GrammarSource{
          "json_schema",
          R"({"anyOf": [{"type": "object", "properties": {"k": {"const": 1}}, "required": ["k"]}, {"type": "object", "properties": {"k": {"const": 12}, "v": {"type": "null"}}, "required": ["k"]}, {"type": "string"}]})"},
      GrammarSource{
          "json_schema",
          R"({"$ref": "#/$defs/t", "$defs": {"t": {"type": "object", "properties": {"l": {"$ref": "#/$defs/t"}, "r": {"anyOf": [{"$ref": "#/$defs/t"}, {"type": "null"}]}}, "additionalProperties": false}}})"},
      GrammarSource{
          "json_schema",
          R"({"type": "array", "items": {"enum": [1, 1.5, "a", "b", null, [1], [2]]}, "uniqueItems": true, "minItems": 2})"},
      GrammarSource{
          "json_schema",
          R"({"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string", "maxLength": 2}}, "additionalProperties": false}, "uniqueItems": true})"},
      GrammarSource{
          "json_schema",
          R"({"type": "object", "properties": {"a": {"type": "integer"}, "ab": {"enum": ["ab", "abab"]}, "b": true}, "required": ["a", "b"], "patternProperties": {"b$": {"not": {"type": "null"}}}, "additionalProperties": {"type": "boolean"}, "maxProperties": 4})",
          {.property_order = PropertyOrder::kAny}},
      GrammarSource{
          "json_schema",
          R"({"type": "array", "contains": {"const": 12}, "minContains": 1, "maxContains": 2, "items": {"type": "number", "multipleOf": 0.5, "minimum": -1, "exclusiveMaximum": 1000}})"},
      GrammarSource{
          "json_schema",
          R"({"oneOf": [{"required": ["a"]}, {"required": ["k"]}], "type": "object", "propertyNames": {"pattern": "^[ak]+$"}, "additionalProperties": {"type": "string", "format": "date"}})",
          {.property_order = PropertyOrder::kAny, .formats = Formats::kAsserted}},
      GrammarSource{
          "json_schema",
          R"({"type": "object", "properties": {"l": {"type": "array", "items": {"type": "null"}}, "x": {"$ref": "#"}}})",
          {.indent = 2}},
      GrammarSource{
          "json_schema",
          R"({"type": "string", "allOf": [{"pattern": "ab"}, {"pattern": "ba"}, {"not": {"pattern": "aa|bb"}}], "maxLength": 12})"},
      GrammarSource{"json", "", {.max_characters = 20}},
      GrammarSource{
          "json_schema", R"({"type": "array", "items": {"type": "string"}})", {.max_tokens = 8}},
      GrammarSource{"regex", R"((?=.*ab)(?!.*12)[a-z0-9 ]{4,}(?<=\.|e))"},
      GrammarSource{"lark",
                    "start: expr\nexpr: expr \"+\" expr | expr expr | A | \"[\" expr \"]\"\nA: "
                    "/[ab]+/ & ~\"abab\"\n%ignore /[ \\n]+/\n"},
      GrammarSource{"lark",
                    "start: (\"ab\" <[34,100-120]> | <[97-99]> \"12\" | <[65]>? T)+\nT: "
                    "/[^\\x00-\\x1f]{2,}/\n"},
      GrammarSource{"ebnf", "root ::= word (\", \" word)* \".\"\nword[max_tokens=2] ::= [a-z]+\n"},
      GrammarSource{"gbnf",
                    "root ::= a | b\na ::= \"a\" a \"b\" | \"\"\nb ::= b \"ab\" | "
                    "[^\\x00-\\x7F]{2,3} b | \"x\"\n"},
      GrammarSource{
          "structural_tag",
          R"({"type": "structural_tag", "format": {"type": "triggered_tags", "triggers": ["[["], "tags": [{"begin": "[[a", "content": {"type": "json_schema", "json_schema": {"type": "integer"}}, "end": "]]"}, {"begin": "[[b", "content": {"type": "any_text"}, "end": "]]"}]}})"},
  };
  return sources;
}

bool CountsTokens(const GrammarSource& source) {
  return source.options.max_tokens.has_value() || absl::StrContains(source.text, "max_tokens");
}

// The bytes, and words of JSON and text over them, two of them twice; the last three are special.
std::shared_ptr<const Vocabulary> WordVocabulary() {
  std::vector<Vocabulary::Token> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back({std::string(1, static_cast<char>(byte))});
  for (const char* word : {"{\"",      "\":",      "\": ",     "\",",
                           "\", \"",   "\"}",      "},",       "[[",
                           "]]",       "],",       "[\"",      "true",
                           "tru",      "false",    "null",     "nul",
                           "12",       "123",      "1000",     "-1",
                           "0.",       ".5",       "e+",       "\\u",
                           "\\u00",    "\\\"",     "\\\\",     "  ",
                           "\n  ",     ", ",       "ab",       "abc",
                           "aba",      "bab",      "ba",       "abab",
                           "\xC3\xA9", "\xF0\x9F", "\x98\x80", "\xF0\x9F\x98\x80",
                           "\xA9\"",   "00e9",     "{\"a\": ", "\"abc\"",
                           "{}",       "[]",       "[],",      "hello",
                           " world",   "\"hello",  "x\": \"",  "\"k\":",
                           "k\": 1",   "ab",       "[[",       ": {\"l\": {\"l\":"}) {
    tokens.push_back({word});
  }
  for (const char* special : {"<|end|>", "<|other|>", "<|end of turn|>"})
    tokens.push_back({special, true});
  const auto size = static_cast<TokenId>(tokens.size());
  return Vocabulary::Create("words", std::move(tokens), {size - 3, size - 1}).value();
}

std::shared_ptr<const CompiledGrammar> GrammarAt(std::size_t source, std::size_t vocabulary) {
  static const std::array spaces = {TokenizerSpace::Create(WordVocabulary()),
                                    TokenizerSpace::Create(EmbeddedByteVocabulary())};
  static std::vector<std::array<std::shared_ptr<const CompiledGrammar>, 2>> made(Sources().size());
  std::shared_ptr<const CompiledGrammar>& grammar = made[source][vocabulary];
  if (grammar == nullptr) {
    const Limits limits;
    Budget budget = Budget::Unlimited();
    auto compiled = CompileGrammar(Sources()[source], spaces[vocabulary], limits, budget);
    Require(compiled.ok(), "the target's own grammars compile", compiled.status().ToString());
    grammar = *std::move(compiled);
  }
  return grammar;
}

// The input, byte by byte; zeros past its end.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  [[nodiscard]] bool done() const { return at_ >= size_; }
  std::uint32_t Byte() { return done() ? 0 : data_[at_++]; }
  std::uint32_t Word() { return Byte() << 8 | Byte(); }
  std::string Text() {
    std::string text;
    for (std::uint32_t left = Byte() % 16; left > 0; --left)
      text.push_back(static_cast<char>(Byte()));
    return text;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

// A matcher, and the masks of the places it has been at.
class Sequence {
 public:
  Sequence(const std::shared_ptr<const CompiledGrammar>& grammar, bool counts_tokens)
      : matcher_(grammar), counts_tokens_(counts_tokens), masks_(1) {}

  void TakeToken(TokenId token) {
    const bool was_finished = matcher_.finished();
    const std::optional<TokenMask>& mask = LookAtMask();
    const absl::Status taken = matcher_.Accept(token);
    if (absl::IsResourceExhausted(taken)) return;
    if (mask.has_value() && !was_finished) {
      const bool allowed = token < vocabulary().size() && mask->Allows(token);
      Require(allowed == taken.ok(), "a token is taken exactly if its mask allows it",
              std::string(taken.ToString()));
    }
    if (taken.ok()) masks_.emplace_back();
    RequireCount();
  }

  // The allowed token after `skip` others, going round.
  void TakeAllowed(std::uint32_t skip) {
    const std::optional<TokenMask>& mask = LookAtMask();
    if (!mask.has_value()) return;
    std::vector<TokenId> allowed;
    mask->VisitAllowed([&](TokenId token) { allowed.push_back(token); });
    TakeToken(allowed[skip % allowed.size()]);
  }

  void TakeStop() { TakeToken(vocabulary().stop_ids().back()); }

  void Rollback(int count) {
    const bool possible = count <= matcher_.token_count();
    Require(matcher_.Rollback(count).ok() == possible, "what was taken can be taken back");
    if (possible) masks_.resize(masks_.size() - static_cast<std::size_t>(count));
    RequireCount();
    LookAtMask();
  }

  // Compares the mask with the one that this place had before, if it was looked at.
  const std::optional<TokenMask>& LookAtMask() {
    const auto mask = matcher_.Mask();
    std::optional<TokenMask>& known = masks_.back();
    if (!mask.ok()) {
      RequireClear(mask.status());
      return known;
    }
    Require((*mask == nullptr) == matcher_.finished(), "there is a mask until the end");
    if (*mask == nullptr) return known;
    Require(!(*mask)->empty(), "a mask allows a token");
    Require(!known.has_value() || *known == **mask, "a place keeps its mask");
    const TokenId stop = vocabulary().stop_ids().front();
    Require((*mask)->Allows(stop) == matcher_.may_end(), "a stop id is allowed where it may end");
    if (!known.has_value()) known = **mask;
    return known;
  }

  void CheckForced() {
    const absl::StatusOr<std::string> forced = matcher_.ForcedBytes(kMaxBytes);
    if (!forced.ok()) return RequireClear(forced.status());
    if (forced->empty()) return;
    Require(!matcher_.may_end(), "nothing is forced where the text may end");
    const auto match = matcher_.MatchText(*forced);
    if (match.ok()) {
      Require(static_cast<std::size_t>(match->matched_bytes) == forced->size(),
              "forced bytes can be taken", *forced);
    }
    const std::optional<TokenMask>& mask = LookAtMask();
    if (!mask.has_value()) return;
    mask->VisitAllowed([&](TokenId token) {
      const absl::string_view bytes = vocabulary().TokenBytes(token);
      Require(absl::StartsWith(bytes, *forced) || absl::StartsWith(*forced, bytes),
              "an allowed token begins as what is forced", *forced);
    });
  }

  void CheckCompletion() {
    const absl::StatusOr<std::string> completion = matcher_.ShortestCompletion(kMaxBytes);
    if (!completion.ok()) return RequireClear(completion.status());
    const auto match = matcher_.MatchText(*completion);
    if (!match.ok()) return RequireClear(match.status());
    Require(static_cast<std::size_t>(match->matched_bytes) == completion->size() && match->may_end,
            "the shortest completion completes the text", *completion);
    Require(matcher_.may_end() == completion->empty() || matcher_.finished(),
            "where the text may end nothing is missing");
  }

  // MatchText() against single bytes, whose ids are the bytes in both vocabularies; no text says
  // how many tokens it is cut into.
  void CheckText(const std::string& text) {
    if (matcher_.finished() || counts_tokens_) return;
    const auto match = matcher_.MatchText(text);
    if (!match.ok()) return RequireClear(match.status());
    Matcher ahead = matcher_.Fork();
    int taken = 0;
    for (const char byte : text) {
      const absl::Status status = ahead.Accept(static_cast<unsigned char>(byte));
      if (absl::IsResourceExhausted(status)) return;
      if (!status.ok()) break;
      ++taken;
    }
    Require(match->matched_bytes == taken, "a text is matched as far as its bytes are taken", text);
    Require(match->may_end == ahead.may_end(), "a text may end where its bytes may", text);
  }

  // A draft against taking its tokens one by one. `parents` gives a tree, empty a chain.
  void CheckDraft(const std::vector<TokenId>& tokens, const std::vector<int>& parents) {
    DraftMasks masks;
    const absl::Status filled = matcher_.MaskDraft({tokens, parents}, &masks);
    if (!filled.ok()) return RequireClear(filled);
    std::vector<std::optional<Matcher>> ways = {matcher_.Fork()};
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::size_t before = parents.empty() ? i : static_cast<std::size_t>(parents[i] + 1);
      ways.push_back(ways[before]);
      std::optional<Matcher>& way = ways.back();
      if (way.has_value() && !(tokens[i] >= 0 && way->Accept(tokens[i]).ok())) way.reset();
    }
    Require(masks.positions.size() == ways.size(), "a draft has a position more than tokens");
    for (std::size_t i = 0; i < ways.size(); ++i) ComparePosition(masks.positions[i], ways[i]);
  }

 private:
  static void ComparePosition(const DraftPosition& position, std::optional<Matcher>& way) {
    using State = DraftPosition::State;
    Require((position.state == State::kInvalid) == !way.has_value(),
            "a draft's position is there if its tokens can be taken");
    if (!way.has_value()) return;
    Require((position.state == State::kFinished) == way->finished(), "a draft ends as its tokens");
    if (way->finished()) return;
    const auto mask = way->Mask();
    Require(position.may_end == way->may_end(), "a draft may end where its tokens may");
    if (mask.ok()) Require(**mask == *position.mask, "a draft's masks are those of its tokens");
  }

  [[nodiscard]] const Vocabulary& vocabulary() const {
    return matcher_.grammar().tokenizer().vocabulary();
  }
  void RequireCount() const {
    Require(static_cast<std::size_t>(matcher_.token_count()) + 1 == masks_.size(),
            "tokens are counted");
  }

  Matcher matcher_;
  bool counts_tokens_;
  std::vector<std::optional<TokenMask>> masks_;  // by tokens taken; empty where not looked at
};

// Up to seven tokens, in a chain or a tree; allowed ones are found by chance alone.
void CheckDraft(Input& input, Sequence& sequence) {
  const std::uint32_t shape = input.Byte();
  std::vector<TokenId> tokens;
  std::vector<int> parents;
  for (std::uint32_t i = 0; i < shape % 8; ++i) {
    tokens.push_back(static_cast<TokenId>(input.Byte()) - 1);
    if (shape >= 128) parents.push_back(static_cast<int>(input.Byte() % (i + 1)) - 1);
  }
  sequence.CheckDraft(tokens, parents);
}

void RunOperations(Input& input) {
  const std::size_t source = input.Byte() % Sources().size();
  std::vector<Sequence> sequences = {
      Sequence(GrammarAt(source, input.Byte() % 2), CountsTokens(Sources()[source]))};
  while (!input.done()) {
    const std::uint32_t operation = input.Byte();
    const std::size_t at = (operation >> 4) % sequences.size();
    Sequence& sequence = sequences[at];
    switch (operation % 16) {
      case 0:
      case 1:
        sequence.TakeToken(static_cast<TokenId>(input.Byte()));
        break;
      case 2:
        CheckDraft(input, sequence);
        break;
      case 3:
        sequence.TakeToken(static_cast<TokenId>(input.Word() % 400));
        break;
      case 4:
      case 5:
      case 6:
      case 7:
        sequence.TakeAllowed(input.Byte());
        break;
      case 8:
        sequence.TakeStop();
        break;
      case 9:
      case 10:
        sequence.Rollback(static_cast<int>(input.Byte() % 8));
        break;
      case 11:
        if (sequences.size() < kMaxSequences) sequences.push_back(Sequence(sequence));
        break;
      case 12:
        sequence.CheckForced();
        break;
      case 13:
        sequence.CheckCompletion();
        break;
      case 14:
        sequence.CheckText(input.Text());
        break;
      default:
        for (Sequence& each : sequences) each.LookAtMask();
    }
  }
}

void RunMatcher(absl::string_view /*name*/, absl::string_view input) {
  Input operations(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  RunOperations(operations);
}

}  // namespace

MASKD_FUZZ_TARGETS(RunMatcher, "matcher");

}  // namespace maskd::fuzz
