// Values of a JSON document by their JSON Pointers, for tests.
#ifndef MASKD_TESTS_JSON_SCHEMA_READING_POINTERS_H_
#define MASKD_TESTS_JSON_SCHEMA_READING_POINTERS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "grammar_core/frontend/json/json_document.h"

namespace maskd {

// The value at `pointer`, which must be in the text of `root`; `root` where it is not.
inline JsonValue ValueAt(const JsonValue& root, absl::string_view pointer) {
  for (JsonId id = root.id(); id < root.subtree_end(); ++id)
    if (root.at(id).Pointer() == pointer) return root.at(id);
  ADD_FAILURE() << "nothing is at " << pointer;
  return root;
}

// Where each of `values` is.
inline std::vector<std::string> PointersOf(const std::vector<JsonValue>& values) {
  std::vector<std::string> pointers;
  for (const JsonValue& value : values) pointers.push_back(value.Pointer());
  return pointers;
}

}  // namespace maskd

#endif  // MASKD_TESTS_JSON_SCHEMA_READING_POINTERS_H_
