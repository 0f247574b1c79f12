#include "grammar_core/frontend/lark/common_terminals.h"

#include <array>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace maskd {
namespace {

// Patterns may hold {NAME} for a terminal that stands above.
struct Terminal {
  absl::string_view name;
  absl::string_view pattern;
};

constexpr std::array kTerminals = {
    Terminal{"DIGIT", "[0-9]"},
    Terminal{"HEXDIGIT", "[0-9A-Fa-f]"},
    Terminal{"INT", "[0-9]+"},
    Terminal{"SIGNED_INT", "[+-]?{INT}"},
    Terminal{"DECIMAL", "(?:{INT}\\.[0-9]*|\\.{INT})"},
    Terminal{"_EXP", "[eE]{SIGNED_INT}"},
    Terminal{"FLOAT", "(?:{INT}{_EXP}|{DECIMAL}(?:{_EXP})?)"},
    Terminal{"SIGNED_FLOAT", "[+-]?{FLOAT}"},
    Terminal{"NUMBER", "(?:{FLOAT}|{INT})"},
    Terminal{"SIGNED_NUMBER", "[+-]?{NUMBER}"},
    Terminal{"ESCAPED_STRING", R"("(?:[^"\\\n]|\\[^\n])*")"},
    Terminal{"LCASE_LETTER", "[a-z]"},
    Terminal{"UCASE_LETTER", "[A-Z]"},
    Terminal{"LETTER", "[A-Za-z]"},
    Terminal{"WORD", "[A-Za-z]+"},
    Terminal{"CNAME", "[A-Za-z_][A-Za-z_0-9]*"},
    Terminal{"WS_INLINE", "[ \\t]+"},
    Terminal{"WS", "[ \\t\\f\\r\\n]+"},
    Terminal{"CR", "\\r"},
    Terminal{"LF", "\\n"},
    Terminal{"NEWLINE", "(?:\\r?\\n)+"},
    Terminal{"SH_COMMENT", "#[^\\n]*"},
    Terminal{"CPP_COMMENT", "//[^\\n]*"},
    // Ends at the first "*/".
    Terminal{"C_COMMENT", "/\\*(?:[^*]|\\*+[^*/])*\\*+/"},
    Terminal{"SQL_COMMENT", "--[^\\n]*"},
};

}  // namespace

std::string CommonTerminal(absl::string_view name) {
  std::string pattern;
  // From the last one up, each terminal is put where its name stands.
  for (auto terminal = kTerminals.rbegin(); terminal != kTerminals.rend(); ++terminal) {
    if (terminal->name == name) {
      pattern = std::string(terminal->pattern);
    } else if (!pattern.empty()) {
      const std::string braced = "{" + std::string(terminal->name) + "}";
      pattern = absl::StrReplaceAll(pattern, {{braced, terminal->pattern}});
    }
  }
  return pattern;
}

std::string CommonTerminalNames() {
  return absl::StrJoin(kTerminals, ", ", [](std::string* out, const Terminal& terminal) {
    out->append(terminal.name.data(), terminal.name.size());
  });
}

}  // namespace maskd
