#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

void AppendNodes(const ObjectSpec& spec, std::vector<NodeId>* out) {
  for (const ObjectSpec::Member& member : spec.members) {
    out->push_back(member.value);
    for (const ObjectSpec::Way& way : member.ways) out->push_back(way.value);
  }
  for (const ObjectSpec::Others& others : spec.others) {
    out->push_back(others.name);
    out->push_back(others.value);
  }
  out->push_back(spec.space);
}

}  // namespace maskd
