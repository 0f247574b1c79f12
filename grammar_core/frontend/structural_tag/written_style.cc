#include "grammar_core/frontend/structural_tag/written_style.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "grammar_core/base/error.h"

namespace maskd {

WrittenStyleRef FindWrittenStyle(absl::string_view name) {
  if (const XmlStyle* const elements = FindXmlStyle(name); elements != nullptr)
    return std::make_shared<const WrittenStyle>(WrittenStyle{*elements});
  if (const ArgumentStyle* const literals = FindArgumentStyle(name); literals != nullptr)
    return std::make_shared<const WrittenStyle>(WrittenStyle{*literals});
  return nullptr;
}

absl::StatusOr<WrittenStyleRef> ReadWrittenStyle(const JsonValue& style) {
  if (style.is_object() && style.Find("quote").has_value()) {
    absl::StatusOr<ArgumentStyle> literals = ReadArgumentStyle(style);
    if (!literals.ok()) return literals.status();
    return std::make_shared<const WrittenStyle>(WrittenStyle{*std::move(literals)});
  }
  if (style.is_object()) {
    absl::StatusOr<XmlStyle> elements = ReadXmlStyle(style);
    if (!elements.ok()) return elements.status();
    return std::make_shared<const WrittenStyle>(WrittenStyle{*std::move(elements)});
  }
  if (style.is_string() && style.text() == "json") return nullptr;
  WrittenStyleRef found = style.is_string() ? FindWrittenStyle(style.text()) : nullptr;
  if (found != nullptr) return found;
  return InvalidAt(style.Pointer(),
                   absl::StrCat("must be one of json, ", absl::StrJoin(XmlStyleNames(), ", "),
                                ", python, gemma, or an object with \"open\" or \"quote\""));
}

}  // namespace maskd
