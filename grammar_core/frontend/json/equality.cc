#include "grammar_core/frontend/json/equality.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "grammar_core/base/decimal.h"

namespace maskd {
namespace {

std::string ScalarKey(const JsonValue& value) {
  if (!value.is_number()) return value.Compact();
  const Decimal number = ReadDecimal(value.text());
  return absl::StrCat(number.negative ? "-" : "", number.digits, "e", number.exponent);
}

std::string ContainerKey(const JsonValue& value, std::vector<std::string> children) {
  assert(children.size() == value.size());
  if (value.is_array()) return absl::StrCat("[", absl::StrJoin(children, ","), "]");
  std::sort(children.begin(), children.end());
  return absl::StrCat("{", absl::StrJoin(children, ","), "}");
}

}  // namespace

// Children stand behind their parent in the document, so they are ready when it is reached from the
// back.
std::string EqualityKey(const JsonValue& value) {
  std::vector<std::string> keys(value.subtree_end() - value.id());
  for (JsonId id = value.subtree_end(); id-- > value.id();) {
    const JsonValue node = value.at(id);
    std::string& key = keys[id - value.id()];
    if (!node.is_array() && !node.is_object()) {
      key = ScalarKey(node);
      continue;
    }
    std::vector<std::string> children;
    for (const JsonValue child : node.children()) {
      std::string name;
      if (node.is_object()) AppendJsonString(child.key(), &name);
      children.push_back(
          absl::StrCat(name, node.is_object() ? ":" : "", keys[child.id() - value.id()]));
      keys[child.id() - value.id()].clear();
    }
    key = ContainerKey(node, std::move(children));
  }
  return std::move(keys.front());
}

}  // namespace maskd
