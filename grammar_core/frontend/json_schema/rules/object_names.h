// Which names an object may have: those that schemas or conditions speak of one by one, and the
// classes of all others, told apart by patternProperties and propertyNames.
//
// Errors   RESOURCE_EXHAUSTED: too many patterns meet in one object. Those of patterns.
// Threads  one thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_OBJECT_NAMES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_OBJECT_NAMES_H_

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/frontend/json_schema/rules/object_conditions.h"
#include "grammar_core/frontend/json_schema/rules/rules.h"

namespace maskd {

// A name that some keyword spells; `at` is where, for errors.
struct DeclaredName {
  JsonValue at;
  absl::string_view text;
  bool in_properties = false;
  bool required = false;
};

// Of one object: Read() once, then the questions below.
class ObjectNames {
 public:
  // All must outlive this.
  ObjectNames(const MergedSchema& schema, const ObjectConditions& conditions, RuleContext& context);

  // Reads the patterns. Nothing below may be called if this fails.
  absl::Status Read();

  // In the order of `properties`, then required ones, then those that only conditions name.
  [[nodiscard]] const std::vector<DeclaredName>& declared() const { return declared_; }

  // A name as far as claims depend on it, and whether it satisfies a propertyNames.
  struct Name {
    MemberName member;
    std::function<bool(const Claim& property_names)> satisfies;
    // Whether some pattern of the object matches.
    bool matches_some = false;
    // Whether propertyNames rules it out.
    bool forbidden = false;
  };
  [[nodiscard]] Name Declared(const DeclaredName& name) const;

  using Visit = std::function<void(const Name& name, NodeId language)>;
  // Visits the classes of names that are not declared; they do not overlap, and none is known to be
  // empty. `visit` gets a class and the node of its names.
  absl::Status VisitOthers(const Visit& visit) const;

 private:
  // What tells classes of other names apart: a key of patternProperties (its node), or a claim.
  struct Test {
    std::optional<JsonValue> pattern;
    Claim property_names;
    NodeId language;
    // All its names are declared ones.
    bool listed = false;
  };
  void Declare(const JsonValue& at, absl::string_view text, bool in_properties, bool required);
  void DeclareAll();
  absl::Status AddPatterns(const JsonValue& keyword);
  absl::Status AddPatternsOf(const Claim& literal);
  [[nodiscard]] std::vector<std::vector<bool>> Selections() const;
  absl::Status AddNamesTest(const Claim& property_names);
  absl::Status AddBaseLanguage(const Claim& property_names);
  bool AreToldApart(NodeId language, const JsonValue& at);
  bool DeclareListed(NodeId language, const JsonValue& at, std::size_t most);
  void DeclareOf(const Claim& literal, bool is_fact);
  void DeclareAllOf(const std::optional<JsonValue>& properties);
  [[nodiscard]] Name Other(const std::vector<bool>& signs) const;
  [[nodiscard]] NodeId LanguageOf(const std::vector<bool>& signs,
                                  std::optional<NodeId>* undeclared) const;
  [[nodiscard]] NodeId Undeclared() const;

  const MergedSchema& schema_;
  const ObjectConditions& conditions_;
  RuleContext& context_;
  std::vector<DeclaredName> declared_;
  absl::flat_hash_map<absl::string_view, std::size_t> index_;
  // Names that stand in no node.
  std::deque<std::string> texts_;
  std::vector<Test> tests_;
  // What every name must be.
  std::vector<NodeId> base_;
  // propertyNames keywords that hold for every name.
  std::vector<Claim> property_names_;
  bool no_others_ = false;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_OBJECT_NAMES_H_
