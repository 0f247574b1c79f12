// The style in which values of a schema are written, where that is not JSON: elements
// (xml_style.h) or literals (argument_style.h).
//
// Said as   a name, {"open": ...} for elements or {"quote": ...} for literals.
// Threads   immutable; shared by whoever holds one.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_WRITTEN_STYLE_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_WRITTEN_STYLE_H_

#include <memory>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/structural_tag/argument_style.h"
#include "grammar_core/frontend/structural_tag/xml_style.h"

namespace maskd {

// One of the two, behind one interface.
struct WrittenStyle {
  std::variant<XmlStyle, ArgumentStyle> form;

  // Null where it is the other one.
  [[nodiscard]] const XmlStyle* elements() const { return std::get_if<XmlStyle>(&form); }
  [[nodiscard]] const ArgumentStyle* literals() const { return std::get_if<ArgumentStyle>(&form); }
  [[nodiscard]] const std::string& name() const {
    return elements() != nullptr ? elements()->name : literals()->name;
  }
  // Whether arrays and objects within are written in the style, too, and not as JSON.
  [[nodiscard]] bool nests() const { return elements() == nullptr || elements()->nests(); }
};

// Null: JSON.
using WrittenStyleRef = std::shared_ptr<const WrittenStyle>;

// Null where there is none of that name; also for "json".
WrittenStyleRef FindWrittenStyle(absl::string_view name);
// The style that `style` says. Errors: INVALID_ARGUMENT at it.
absl::StatusOr<WrittenStyleRef> ReadWrittenStyle(const JsonValue& style);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_WRITTEN_STYLE_H_
