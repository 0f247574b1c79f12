// Objects that are written as one element a member, as some models write the arguments of a call:
// strings as they are, other values as JSON.
//
//   qwen_xml   <parameter=city>Paris</parameter><parameter=days>3</parameter>
//
// Source   the formats of the models' chat templates, under the names that xgrammar 0.2.8 has for
//          them; others are said as an object (ReadXmlStyle()).
// White space  as the options allow it: around elements, and around values except strings that may
//          be any text.
// Members  in declared order, or in any where the options say so and they are at most
//          kMaxFreeMembers; others behind them, by names that need no escapes.
// Ends     no value holds what closes its element, strings within JSON included: who reads it takes
//          the first one for the end. A listed string with it is left out, with a warning.
// Names    a declared one that holds `behind_name` would be read back as another: its member is
//          left out with a warning.
// Errors   UNIMPLEMENTED for such a name that is required, and for counts and conditions of
//          members. In styles that write arrays and objects not as JSON also where they are given
//          (`const`, `enum`), or where a schema counts items.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_XML_STYLE_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_XML_STYLE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/read_result.h"
#include "grammar_core/frontend/structural_tag/marker_speller.h"
#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/passes/ir_copier.h"

namespace maskd {

// What a model writes around a member; read from a request or from the table of known styles.
struct XmlStyle {
  std::string name;
  // An element: `open`, the name, `behind_name`, what says the value's type, `before_value`, the
  // value, `close`.
  std::string open;
  std::string behind_name;
  // By ValueType: string, number, boolean, null, array, object.
  std::array<absl::string_view, 6> type_names = {};
  std::string before_value = "";
  std::string close;
  // Around an item of an array, in styles that write arrays and objects not as JSON.
  std::string item_open = "";
  std::string item_close = "";
  // Whether white space may stand between `behind_name` and the rest, and around strings of a
  // schema that does not take all.
  bool space_in_head = false;
  bool space_around_strings = true;
  // Whether `close` is followed by the name and '>'.
  bool closes_by_name = false;
  // Whether names are written with the entities of XML.
  bool escapes_names = false;
  // What models write around every value, which is no part of a string. Strings are taken as they
  // are; who reads one leaves this out at either end.
  std::string pad = "";
  // What may stand around a string, so that it may hold `close`: a CDATA section. A string that
  // stands in none begins otherwise. Both or neither are empty.
  std::string cdata_begin = "";
  std::string cdata_end = "";

  // Whether arrays and objects within are written in the style, and not as JSON.
  [[nodiscard]] bool nests() const { return !item_open.empty(); }
  // What no value holds that is not in a CDATA section: the first one ends it.
  [[nodiscard]] absl::string_view end_of_values() const {
    return absl::StripSuffix(close, closes_by_name ? "</" : "");
  }
};

// Members that may come in any order: each doubles the rules.
inline constexpr std::size_t kMaxFreeMembers = 8;

// The style `name`; null where there is none. "json" is none.
const XmlStyle* FindXmlStyle(absl::string_view name);
std::vector<absl::string_view> XmlStyleNames();
// A style that is said as {"open", "behind_name", "before_value"?, "close", "pad"?, "cdata_begin"?,
// "cdata_end"?}. Errors: INVALID_ARGUMENT at its member.
absl::StatusOr<XmlStyle> ReadXmlStyle(const JsonValue& at);

// Texts that strings do not hold.
struct XmlExcludes {
  const std::vector<std::string>& of_all;
  const std::vector<std::string>& of_a_whole_value;  // what ends the tag around it
  // What a string that is the whole value does not end with.
  const std::vector<std::string>& at_its_end;
};

// The objects of `read`, a schema with a rule for each value where the style nests, written in
// `style`; `copier` has copied its rules into `builder`. Where no value is an object, the values: a
// string as it is, others as JSON. Remarks are added to those of `read`.
absl::StatusOr<NodeId> WriteAsXml(const XmlStyle& style, const XmlExcludes& excludes,
                                  const GrammarOptions& options, const IrCopier& copier,
                                  MarkerSpeller& speller, IrBuilder& builder, Budget& budget,
                                  ReadResult& read);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_XML_STYLE_H_
