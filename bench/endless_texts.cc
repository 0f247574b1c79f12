#include "bench/endless_texts.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include <nlohmann/json.hpp>

namespace maskd::bench {
namespace {

using Json = nlohmann::ordered_json;

std::string Repeated(int count, const std::function<std::string(int)>& one) {
  std::vector<std::string> parts;
  for (int i = 0; i < count; ++i) parts.push_back(one(i));
  return absl::StrJoin(parts, ",");
}

constexpr const char* kNames[] = {"add", "sub", "mul", "div", "pow", "min",
                                  "max", "and", "or",  "not", "if",  "let"};

std::string AnyTree(Random* random, int depth) {
  if (depth == 0 || (*random)() % 4 == 0) return absl::StrCat((*random)() % 100);
  const int count = 1 + static_cast<int>((*random)() % 3);
  return absl::StrCat(R"({"op":")", kNames[(*random)() % 12], R"(","args":[)",
                      Repeated(count, [&](int) { return AnyTree(random, depth - 1); }), "]}");
}

std::string AnyValue(Random* random, int depth) {
  const auto kind = (*random)() % (depth > 0 ? 6 : 4);
  const int count = static_cast<int>((*random)() % 4);
  switch (kind) {
    case 0:
      return absl::StrCat(static_cast<double>((*random)() % 100'000) / 8);
    case 1:
      return "null";
    case 2:
    case 3:
      return absl::StrCat("\"w", (*random)() % 10'000, " and ", (*random)() % 10, "\"");
    case 4:
      return absl::StrCat("[", Repeated(count, [&](int) { return AnyValue(random, depth - 1); }),
                          "]");
    default:
      return absl::StrCat("{",
                          Repeated(count,
                                   [&](int i) {
                                     return absl::StrCat("\"k", i, (*random)() % 1'000,
                                                         "\":", AnyValue(random, depth - 1));
                                   }),
                          "}");
  }
}

// `value` with the members of all its objects in the order of those of `declared`, the others last.
Json InOrder(const Json& value, const Json& declared) {
  if (value.is_array()) {
    Json items = Json::array();
    for (const Json& item : value) items.push_back(InOrder(item, declared));
    return items;
  }
  if (!value.is_object()) return value;
  Json members = Json::object();
  for (const auto& [name, unused] : declared.items())
    if (value.contains(name)) members[name] = InOrder(value[name], declared);
  for (const auto& [name, member] : value.items())
    if (!members.contains(name)) members[name] = InOrder(member, declared);
  return members;
}

}  // namespace

EndlessTexts MembersInAnyOrder() {
  constexpr int kMembers = 40;
  constexpr int kWritten = 25;
  const auto member = [](int i) { return absl::StrCat("\"member_", i, "\""); };
  const std::string schema = absl::StrCat(
      R"({"type":"object","additionalProperties":false,"properties":{)",
      Repeated(kMembers, [&](int i) { return absl::StrCat(member(i), R"(:{"type":"integer"})"); }),
      "}}");
  GrammarOptions options;
  options.property_order = PropertyOrder::kAny;
  return {"members", {"json_schema", schema, options}, [member](Random* random) {
            std::vector<int> order(kMembers);
            for (int i = 0; i < kMembers; ++i) order[static_cast<std::size_t>(i)] = i;
            std::shuffle(order.begin(), order.end(), *random);
            return absl::StrCat("{",
                                Repeated(kWritten,
                                         [&](int i) {
                                           return absl::StrCat(
                                               member(order[static_cast<std::size_t>(i)]), ": ",
                                               (*random)() % 1'000);
                                         }),
                                "}");
          }};
}

EndlessTexts SyntaxTrees() {
  const std::string operations = Repeated(12, [&](int i) {
    return absl::StrCat(
        R"({"type":"object","additionalProperties":false,"required":["op","args"],)",
        R"("properties":{"op":{"const":")", kNames[i],
        R"("},"args":{"type":"array","items":{"$ref":"#/$defs/e"}}}})");
  });
  const std::string schema = absl::StrCat(R"({"$ref":"#/$defs/e","$defs":{"e":{"anyOf":[)",
                                          R"({"type":"number"},)", operations, "]}}}");
  return {"tree", {"json_schema", schema, {}}, [](Random* random) { return AnyTree(random, 6); }};
}

EndlessTexts OpenObjects() {
  return {"open", {"json_schema", R"({"type":"object"})", {}}, [](Random* random) {
            return absl::StrCat("{\"first\":", AnyValue(random, 5),
                                ",\"second\":", AnyValue(random, 5), "}");
          }};
}

EndlessTexts NestedTexts(int levels) {
  return {"nested", {"json_object", "", {}}, [levels](Random* random) {
            constexpr const char* kOpen[] = {"[", "{\"\":", "[1,", "{\"a\":"};
            std::string text = "{\"\":";
            std::string ends = "}";
            for (int i = 1; i < levels; ++i) {
              const auto kind = (*random)() % 4;
              text += kOpen[kind];
              ends += kind % 2 == 0 ? ']' : '}';
            }
            std::reverse(ends.begin(), ends.end());
            return text + "0" + ends;
          }};
}

EndlessTexts SchemasAsTexts(const std::string& schema, bool any_order,
                            const std::vector<Case>& cases) {
  constexpr std::size_t kMostBytes = 4'000;
  const Json declared = Json::parse(schema)["properties"];
  auto texts = std::make_shared<std::vector<std::string>>();
  for (const Case& one : cases) {
    const Json text = Json::parse(one.schema, nullptr, /*allow_exceptions=*/false);
    if (!text.is_object() || one.schema.size() > kMostBytes) continue;
    texts->push_back(InOrder(text, declared).dump());
  }
  GrammarOptions options;
  if (any_order) options.property_order = PropertyOrder::kAny;
  const auto make = [texts](Random* random) {
    std::string text = (*texts)[(*random)() % texts->size()];
    text.pop_back();
    return absl::StrCat(text, text.size() > 1 ? "," : "", "\"x", (*random)(), "\":0}");
  };
  return {any_order ? "schemas any" : "schemas", {"json_schema", schema, options}, make};
}

}  // namespace maskd::bench
