// What a caller asks to be compiled: a kind, a text and the options of its meaning.
//
// Options that a kind has no use for are ignored by it but are part of the grammar's id.
// Threads  plain values.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_GRAMMAR_SOURCE_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_GRAMMAR_SOURCE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace maskd {

// What of white space the JSON of a grammar may have.
enum class WhiteSpace {
  kFlexible,  // up to max_whitespace of space, tab, line feed, carriage return between JSON tokens
  kCompact,   // none
};

// In which order an object's members may come.
enum class PropertyOrder {
  kDeclared,  // as the schema lists them, undeclared ones after the declared
  kAny,       // any order, each declared name at most once
};

// How values may be spelled; which values there are does not depend on it.
enum class JsonSpelling {
  kAny,  // every spelling that JSON has: any escape, fraction and exponent
  // As a serializer writes it: escapes only where JSON asks for one, integers in digits, numbers
  // without needless zeros, exponents only of what is very large or small. Every value has one.
  kCanonical,
};

// What becomes of a schema that asks for more than is supported.
enum class Strictness {
  kRefuse,  // a keyword that is not supported is an error
  kRelax,   // it is dropped and reported as a warning
};

// Whether "format" says anything of strings.
enum class Formats {
  kByDraft,   // as the draft that a schema names has it: annotations from 2019-09 on, else asserted
  kAsserted,  // a string must be of its format
  kAnnotations,
};

// What a request may say beside its text. Part of a grammar's id, so each default is fixed.
struct GrammarOptions {
  WhiteSpace white_space = WhiteSpace::kFlexible;
  // Characters of white space in a row at most, between two JSON tokens.
  std::int32_t max_whitespace = 64;
  // Spaces of indentation a level, 0 to kMaxIndent: JSON on lines, as Python's json.dumps lays it
  // out, and no other white space anywhere. Not beside kCompact; max_whitespace says nothing then.
  std::optional<std::int32_t> indent = std::nullopt;
  // The exact texts between two members or items, and between a name and its value: ',' or ':' and
  // white space behind it. With one of them no other white space stands anywhere, but where
  // white_space allows it behind the other. Beside indent, where absent: "," and ": ".
  std::optional<std::string> item_separator = std::nullopt;
  std::optional<std::string> key_separator = std::nullopt;
  PropertyOrder property_order = PropertyOrder::kDeclared;
  // How strings, names and numbers of JSON are written.
  JsonSpelling spelling = JsonSpelling::kAny;
  Strictness strictness = Strictness::kRefuse;
  // What an object schema without additionalProperties allows: the standard's default is true.
  bool additional_properties = true;
  // Digits at most in a number's integer part and in its fraction.
  std::int32_t max_number_digits = 1024;
  // What the formats of the standard mean; a format of another name is an annotation.
  Formats formats = Formats::kByDraft;
  // Tokens of the text at most, its end not counted. Of every kind.
  std::optional<std::int32_t> max_tokens = std::nullopt;
  // Characters (code points) of the text at most. Of every kind.
  std::optional<std::int32_t> max_characters = std::nullopt;

  static constexpr std::int32_t kMaxIndent = 16;

  bool operator==(const GrammarOptions&) const = default;
};

// A grammar as a caller gives it; nothing of it is read yet.
struct GrammarSource {
  // A text that the source may refer to by `uri`; it is read only if it does.
  struct Document {
    std::string uri;
    std::string text;
  };

  // A name of FrontEndKinds(), such as "json_schema" or "choice".
  std::string kind;
  std::string text;
  GrammarOptions options = {};
  // JSON Schema: what a $ref may lead to beside the schema itself. Nothing else is ever fetched.
  std::vector<Document> documents = {};
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_GRAMMAR_SOURCE_H_
