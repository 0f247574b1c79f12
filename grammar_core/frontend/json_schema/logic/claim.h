// What is said of one JSON value: that a schema, or a keyword of one, holds for it or does not.
// A grammar of a value is that of a set of claims, all of them true. Claims that stand for other
// claims (a schema, allOf, not) are taken apart by ClaimLogic::Expand(). Three kinds are left: own
// assertions of schemas; atoms, which are single keywords that are violated; and choices, each one
// of several lists of claims (see Alternatives()).
//
// Threads  plain values.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_CLAIM_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_CLAIM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/json_schema/reading/keywords.h"
#include "grammar_core/frontend/json_schema/reading/types.h"

namespace maskd {

// A literal of the logic: small, copied freely, compared field by field.
struct Claim {
  // What is claimed to hold. Expand() takes all kinds apart but kOwn, atoms and choices.
  enum class Kind : std::uint8_t {
    kSchema,   // the schema `at` holds
    kOwn,      // the assertions of the schema `at` hold, what it says by other schemas apart
    kTypes,    // the value's type is in the TypeSet `at`
    kKeyword,  // the keyword `at` holds
    kElement,  // the same of one element of a keyword: a schema or a name in its value
    kHas,      // the value is an object; it has a member of the name at `at` (see NameAt())
    kValue,    // the value is equal to the one at `at`
  };
  Kind kind = Kind::kSchema;
  // The claim is that this does not hold. A negated kHas still says that the value is an object,
  // and a negated keyword that the value is of a type which the keyword speaks of.
  bool negated = false;
  Keyword keyword = Keyword::kAnnotation;  // kKeyword, kElement
  // Numbers of ClaimLogic: which schemas with unevaluatedItems or unevaluatedProperties see what
  // this evaluates, and where $dynamicRef leads from here. 0: none, and nowhere special.
  std::uint16_t watchers = 0;
  std::uint16_t scope = 0;
  JsonId at = 0;

  auto operator<=>(const Claim&) const = default;
  // For sets of claims: a rule of the grammar is found by its set.
  template <typename H>
  friend H AbslHashValue(H h, const Claim& c) {
    constexpr int kByte = 8;
    const std::uint32_t what = static_cast<std::uint32_t>(c.kind) +
                               (static_cast<std::uint32_t>(c.negated) << kByte) +
                               (static_cast<std::uint32_t>(c.keyword) << (2 * kByte));
    const std::uint32_t where = (std::uint32_t{c.watchers} << (2 * kByte)) + c.scope;
    return H::combine(std::move(h), (std::uint64_t{what} << (4 * kByte)) + where, c.at);
  }

  // The contrary, which no schema sees evaluate anything.
  [[nodiscard]] Claim Negated() const {
    Claim claim = *this;
    claim.negated = !negated;
    claim.watchers = 0;
    return claim;
  }
};

// That the value satisfies the schema, and that it does not.
inline Claim SchemaHolds(JsonId schema) { return {.at = schema}; }
inline Claim SchemaFails(JsonId schema) { return {.negated = true, .at = schema}; }

// The name that a node stands for in `required`, `properties` and their like: a string of a list,
// or the key under which it stands.
inline absl::string_view NameAt(const JsonValue& at) {
  const std::optional<JsonValue> parent = at.parent();
  return parent.has_value() && parent->is_array() ? at.text() : at.key();
}

// Claims that are all true, taken apart.
struct Conjunction {
  TypeSet types = kEveryType;
  // kOwn, in the order of the keywords in the source; nothing else is in their order.
  std::vector<Claim> own;
  std::vector<Claim> atoms;
  std::vector<Claim> choices;
  // Claims that contradict one another were met; the place of one of them.
  bool is_false = false;
  JsonId false_at = 0;

  // Nothing is claimed.
  [[nodiscard]] bool empty() const {
    return types == kEveryType && own.empty() && atoms.empty() && choices.empty() && !is_false;
  }
  // Equal for equal conjunctions, byte for byte.
  [[nodiscard]] std::string Key() const;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_CLAIM_H_
