// What a front end may use beside the source: of the vocabulary that the grammar is for, and what
// was read for others.
//
// Ownership  nothing of it is owned; all must outlive the reading.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_READ_CONTEXT_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_READ_CONTEXT_H_

#include <vector>

namespace maskd {

class MarkerTable;
class SchemaStore;
struct TagTool;

struct ReadContext {
  // Null: none is known, so all that is spelled is text.
  const MarkerTable* markers = nullptr;
  // Null: every schema is read again.
  SchemaStore* schemas = nullptr;
  // Those of which each has a tag, where a structural tag says so. Null: none.
  const std::vector<TagTool>* tools = nullptr;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_READ_CONTEXT_H_
