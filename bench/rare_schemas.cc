#include "bench/rare_schemas.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace maskd::bench {
namespace {

class Maker {
 public:
  explicit Maker(std::mt19937_64* random) : random_(*random) {}

  std::string Any(int levels) {
    if (levels == 0) return Scalar();
    switch (Below(4)) {
      case 0:
        return Array(levels - 1);
      case 1:
        return Map(levels - 1);
      case 2:
        return Object(levels - 1);
      default:
        return levels > 1 ? Conditional(levels - 1) : Scalar();
    }
  }

  std::string Container(int levels) {
    switch (Below(4)) {
      case 0:
        return Map(levels - 1);
      case 1:
        return Object(levels - 1);
      case 2:
        return Conditional(levels - 1);
      default:
        return Array(levels - 1);
    }
  }

 private:
  int Below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }
  bool Maybe() { return Below(2) == 0; }

  std::string Scalar() {
    switch (Below(8)) {
      case 0:
        return R"({"type":"integer"})";
      case 1:
        return absl::StrCat(R"({"type":"integer","minimum":)", Below(50), R"(,"maximum":)",
                            60 + Below(9000), "}");
      case 2:
        return R"({"enum":["red","green","dark blue",1,2,null]})";
      case 3:
        return R"({"type":"string","pattern":"^[a-z]{2,5}(-[0-9]{2})?$"})";
      case 4:
        return absl::StrCat(R"({"type":"string","minLength":)", Below(5), R"(,"maxLength":)",
                            8 + Below(40), "}");
      case 5:
        return R"({"type":"boolean"})";
      default:
        return R"({"type":"string"})";
    }
  }

  std::string Array(int levels) {
    std::string schema = absl::StrCat(R"({"type":"array","items":)", Any(levels));
    if (Below(4) > 0) absl::StrAppend(&schema, R"(,"uniqueItems":true)");
    if (Maybe()) absl::StrAppend(&schema, R"(,"minItems":)", 1 + Below(4));
    if (Below(3) == 0) {
      absl::StrAppend(&schema, R"(,"contains":)", Scalar());
      if (Maybe()) absl::StrAppend(&schema, R"(,"minContains":)", 1 + Below(2));
    }
    return schema + "}";
  }

  std::string Map(int levels) {
    std::string schema = absl::StrCat(R"({"type":"object","additionalProperties":)", Any(levels),
                                      R"(,"minProperties":)", 1 + Below(4));
    if (Below(3) == 0) absl::StrAppend(&schema, R"(,"maxProperties":)", 4 + Below(4));
    if (Below(3) == 0) absl::StrAppend(&schema, R"(,"propertyNames":{"pattern":"^[a-z_]{1,12}$"})");
    return schema + "}";
  }

  std::string Object(int levels) {
    std::vector<std::string> members;
    std::vector<std::string> required;
    for (const char* name : {"name", "kind", "tags", "count", "n"}) {
      if (Below(3) == 0) continue;
      members.push_back(absl::StrCat("\"", name, "\":", Any(levels)));
      if (Maybe()) required.push_back(absl::StrCat("\"", name, "\""));
    }
    return absl::StrCat(R"({"type":"object","properties":{)", absl::StrJoin(members, ","),
                        R"(},"required":[)", absl::StrJoin(required, ","), "]",
                        Maybe() ? R"(,"additionalProperties":false})" : "}");
  }

  std::string Conditional(int levels) {
    return absl::StrCat(R"({"type":"object","properties":{"kind":{"enum":["a","b"]},"value":)",
                        Any(levels), R"(},"required":["kind"],"if":{"properties":{"kind":)",
                        R"({"const":"a"}}},"then":{"required":["value"]},"else":{"properties":)",
                        R"({"size":{"type":"integer"}},"required":["size"]}})");
  }

  std::mt19937_64& random_;
};

}  // namespace

std::string RareSchema(std::mt19937_64* random, int levels) {
  return Maker(random).Container(levels);
}

}  // namespace maskd::bench
