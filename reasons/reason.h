// Why a text stops where it does: the rules that speak about that place.
//
// Threads  plain values.
#ifndef MASKD_REASONS_REASON_H_
#define MASKD_REASONS_REASON_H_

#include <cstddef>
#include <string>
#include <vector>

#include "reasons/source_place.h"

namespace maskd::reasons {

// A rule and where it stands.
struct PlacedRule {
  // JSON Pointer, or the name of the rule in the source, or line:column of a pattern.
  std::string place = {};
  std::string says = {};
  SourceSpan span = {};
};

// Why a text stops where it does.
struct Reason {
  // "in the string /name", "in the rule item"; empty where it is not known.
  std::string where = {};
  std::vector<PlacedRule> rules = {};
  std::size_t left_out = 0;  // rules beyond those
};

// The place of the reason's first rule, a JSON Pointer or line:column; empty where there is none.
std::string FirstPlace(const Reason& reason);

}  // namespace maskd::reasons

#endif  // MASKD_REASONS_REASON_H_
