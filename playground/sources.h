// The sources that the page has compiled last, by grammar id: to say where in them a rule stands.
//
// Bounds   kMost sources of kMostBytes together; the one that was used longest ago goes. A parsed
//          source takes some thirty times its bytes at worst.
// Threads  internally synchronised; a source is immutable.
#ifndef MASKD_PLAYGROUND_SOURCES_H_
#define MASKD_PLAYGROUND_SOURCES_H_

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include <nlohmann/json.hpp>

#include "grammar_core/frontend/notation/next_parts.h"
#include "playground/source_place.h"

namespace maskd::playground {

// A rule and where it stands.
struct PlacedRule {
  std::string place;
  std::string says;
  SourceSpan span;
};

// Why a text stops where it does.
struct Reason {
  std::string where;  // "in the string /name", "in the rule item"; empty where it is not known
  std::vector<PlacedRule> rules;
};

// A text that the page has compiled, and what reasons are looked for in: of a schema its tree, of
// rules (gbnf, ebnf, lark) their network.
class Source {
 public:
  // Parses the text.
  Source(absl::string_view kind, std::string text);

  // As the page sent it.
  [[nodiscard]] const std::string& text() const { return text_; }
  // Of schemas and rules: what speaks about the place behind `taken`. Empty for other kinds.
  [[nodiscard]] Reason ReasonBehind(absl::string_view taken) const;

 private:
  [[nodiscard]] Reason SchemaReason(absl::string_view taken) const;
  [[nodiscard]] Reason RulesReason(absl::string_view taken) const;

  std::string text_;
  std::unique_ptr<const NextParts> next_parts_;  // of rules; else null
  bool is_schema_ = false;
  std::string schema_pointer_;  // where in the text the schema stands
  nlohmann::ordered_json json_;
};

// Shared by all handlers; a source that one holds lives on when it is dropped here.
class Sources {
 public:
  static constexpr std::size_t kMost = 16;
  static constexpr std::size_t kMostBytes = 2 << 20;  // but for the last one, which is always kept

  // Replaces an earlier one of that id.
  void Keep(const std::string& grammar_id, absl::string_view kind, const std::string& text)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Null where it is not kept.
  [[nodiscard]] std::shared_ptr<const Source> Find(const std::string& grammar_id)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::Mutex mutex_;
  // The one used last first.
  std::list<std::pair<std::string, std::shared_ptr<const Source>>> kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace maskd::playground

#endif  // MASKD_PLAYGROUND_SOURCES_H_
