#include "grammar_core/frontend/lark/lark.h"

#include <utility>

#include "grammar_core/frontend/lark/lark_reader.h"
#include "grammar_core/frontend/notation/source_reading.h"

namespace maskd {

absl::StatusOr<ReadResult> ReadLark(const GrammarSource& source, const Limits& limits,
                                    Budget& budget) {
  SourceReading reading(source.text, limits, budget);
  if (absl::Status status = reading.cursor.CheckUtf8(); !status.ok()) return status;
  const absl::StatusOr<RuleId> start = LarkReader(source.options, 0, &reading).Read();
  if (!start.ok()) return start.status();
  return std::move(reading).Result(*start);
}

}  // namespace maskd
