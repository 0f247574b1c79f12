#include "tests/frontend/schema_tally.h"

#include <iostream>

#include "absl/strings/str_cat.h"

#include "tests/frontend/ir_recognizer.h"
#include "tests/frontend/reading.h"

namespace maskd {

namespace {

void Judge(const JsonValue& group, const GrammarIr& ir, Tally* tally) {
  IrRecognizer recognizer(ir);
  const std::string id(group.Find("id")->text());
  bool right = true;
  for (const JsonValue text : group.Find("valid")->children()) {
    if (recognizer.Accepts(text.text())) continue;
    tally->valid_refused.push_back(absl::StrCat(id, " ", text.text()));
    right = false;
  }
  for (const JsonValue text : group.Find("invalid")->children()) {
    if (!recognizer.Accepts(text.text())) continue;
    tally->invalid_accepted.push_back(absl::StrCat(id, " ", text.text()));
    right = false;
  }
  tally->right += right ? 1 : 0;
}

}  // namespace

void Take(const JsonValue& group, absl::string_view text,
          const std::vector<GrammarSource::Document>& documents, Tally* tally, Formats formats) {
  GrammarOptions options;
  options.formats = formats;
  options.property_order = PropertyOrder::kAny;
  ++tally->groups;
  const auto read = ReadForTest("json_schema", text, options, {}, documents);
  if (read.ok()) return Judge(group, read->ir, tally);
  if (absl::IsUnimplemented(read.status()) || absl::IsResourceExhausted(read.status())) {
    ++tally->refused;
    tally->refusals.push_back(absl::StrCat(group.Find("id")->text(), " ", read.status().message()));
  } else if (group.Find("valid")->size() == 0) {
    ++tally->unsatisfiable;
  } else {
    tally->errors.push_back(absl::StrCat(group.Find("id")->text(), " ", read.status().ToString()));
  }
}

void Tally::Print() const {
  std::cout << groups << " groups: right " << right + unsatisfiable << ", refused " << refused
            << ", valid refused " << valid_refused.size() << ", invalid accepted "
            << invalid_accepted.size() << ", other errors " << errors.size() << "\n";
  for (const std::string& text : refusals) std::cout << "refused: " << text << "\n";
  for (const std::string& text : valid_refused) std::cout << "valid refused: " << text << "\n";
  for (const std::string& text : invalid_accepted)
    std::cout << "invalid accepted: " << text << "\n";
  for (const std::string& text : errors) std::cout << "error: " << text << "\n";
}

}  // namespace maskd
