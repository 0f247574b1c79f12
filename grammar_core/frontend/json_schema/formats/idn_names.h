// Internationalised host names: IDNA 2008 (RFC 5890 to 5893) as a regular set.
//
// Exactness  every name is valid; left out are those that docs/grammars.md lists under
//            idn-hostname.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_FORMATS_IDN_NAMES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_FORMATS_IDN_NAMES_H_

#include <cstdint>

#include "grammar_core/frontend/json_schema/formats/format.h"

namespace maskd {

// Which spellings of one name are in the set.
enum class Composition : std::uint8_t {
  kNfc,  // as U-labels are
  kAny,  // composites may be written as their parts
};

// Names with U-labels and labels of ASCII, with `dot` (one character) between them.
NodeId IdnNames(NodeId dot, Composition composition, FormatMaker& maker);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_FORMATS_IDN_NAMES_H_
