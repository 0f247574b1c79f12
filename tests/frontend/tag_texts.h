// Texts of structural tags, for tests.
#ifndef MASKD_TESTS_FRONTEND_TAG_TEXTS_H_
#define MASKD_TESTS_FRONTEND_TAG_TEXTS_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace maskd {

inline std::string Whole(absl::string_view format) {
  return absl::StrCat(R"({"type":"structural_tag","format":)", format, "}");
}

inline std::string Tag(absl::string_view begin, absl::string_view content, absl::string_view end) {
  return absl::StrCat(R"({"type":"tag","begin":)", begin, R"(,"content":)", content, R"(,"end":)",
                      end, "}");
}

inline std::string Const(absl::string_view text) {
  return absl::StrCat(R"({"type":"const_string","value":")", text, "\"}");
}

inline constexpr absl::string_view kAny = R"({"type":"any_text"})";

// {"type": "triggered_tags"} of one tag, <f=a>k</f>, and what else is said.
inline std::string Triggered(absl::string_view triggers, absl::string_view more = "") {
  return absl::StrCat(R"({"type":"triggered_tags","triggers":)", triggers, R"(,"tags":[)",
                      Tag(R"("<f=a>")", Const("k"), R"("</f>")"), "]", more, "}");
}

inline std::string TokenTriggered(absl::string_view triggers, absl::string_view more = "") {
  return absl::StrCat(
      R"({"type":"token_triggered_tags","trigger_tokens":)", triggers, R"(,"tags":[)",
      Tag(R"({"type":"token","token":60})", Const("k"), R"({"type":"token","token":62})"), "]",
      more, "}");
}

inline std::string Dispatch(absl::string_view rules, absl::string_view more = "") {
  return absl::StrCat(R"({"type":"dispatch","rules":)", rules, more, "}");
}

inline std::string Separated(absl::string_view separator, absl::string_view more = "") {
  return absl::StrCat(R"({"type":"tags_with_separator","separator":)", separator, R"(,"tags":[)",
                      Tag(R"("<a>")", Const("1"), R"("</a>")"), ",",
                      Tag(R"("<b>")", kAny, R"("</b>")"), "]", more, "}");
}

inline std::string Schema(absl::string_view schema, absl::string_view more = "") {
  return absl::StrCat(R"({"type":"json_schema","json_schema":)", schema, more, "}");
}

}  // namespace maskd

#endif  // MASKD_TESTS_FRONTEND_TAG_TEXTS_H_
