#include "tests/frontend/golden_cases.h"

namespace maskd {
namespace {

GrammarOptions AnyOrderCompact() {
  GrammarOptions options;
  options.white_space = WhiteSpace::kCompact;
  options.property_order = PropertyOrder::kAny;
  return options;
}

GrammarOptions Indented() {
  GrammarOptions options;
  options.indent = 2;
  return options;
}

}  // namespace

const std::vector<GoldenCase>& GoldenCases() {
  static const auto* const cases = new std::vector<GoldenCase>{
      {"choice", "words", R"(["yes", "no", "maybe"])"},
      {"choice", "with_empty", R"(["", "x", "xy"])"},
      {"gbnf", "list",
       "root ::= item (\",\" ws item)*\nitem ::= [a-z]+ | \"(\" root \")\" | <[7]>\n"
       "ws ::= [ \\t]*\n"},
      {"ebnf", "dispatch",
       "root ::= TagDispatch((\"<t>\", r), excludes=(\"</t>\",))\nr[max_chars=3] ::= [a-z]*\n"},
      {"lark", "calls",
       "%import common.INT\n%ignore /[ \\t]+/\nstart: call (\";\" call)* <|end|>?\n"
       "call: NAME \"(\" [sep{value, \",\"}] \")\" -> call\nvalue: INT | call\n"
       "sep{x, s}: x (s x)*\nNAME: /[a-z]\\w*/ & ~/if|for/\n"},
      {"structural_tag", "calls",
       R"({"format":{"type":"sequence","elements":[
             {"type":"tag","begin":"<think>","content":{"type":"any_text"},"end":"</think>"},
             {"type":"triggered_tags","triggers":["<f="],"excludes":["</f>"],"tags":[
               {"begin":"<f=a>","content":{"type":"json_schema","json_schema":{"type":"null"}},
                "end":"</f>"},
               {"begin":"<f=b>","content":{"type":"json_schema","style":"qwen_xml","json_schema":
                 {"properties":{"x":{"type":"string"},"y":{"type":["null","boolean"]}},
                  "required":["x"],"additionalProperties":false}},"end":["</f>","</g>"]}]}]}})"},
      {"structural_tag", "overlapping_texts",
       R"({"format":{"type":"dispatch","excludes":["c"],"rules":[
             ["a",{"type":"token","token":7}],
             ["ab",{"type":"any_tokens","exclude_tokens":["<|end|>"]}]]}})"},
      {"json", "any", ""},
      {"json_object", "any", ""},
      {"json_schema", "person",
       R"({"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":40},
             "age":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"},
             "minItems":1,"maxItems":5}},"required":["name","age"],"additionalProperties":false})"},
      {"json_schema", "person_any_order_compact",
       R"({"type":"object","properties":{"name":{"type":"string"},"age":{"type":"number"}},
             "required":["name"]})",
       AnyOrderCompact()},
      {"json_schema", "enum_mixed", R"({"enum":["a","b",1,2.50,null,[1,{"x":true}]]})"},
      {"json_schema", "tree",
       R"({"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{
             "value":{"type":"integer"},
             "children":{"type":"array","items":{"$ref":"#/$defs/node"}}},
             "required":["value"],"additionalProperties":false}}})"},
      {"json_schema", "tree_indented",
       R"({"type":"object","properties":{"value":{"const":{"a":[1]}},
             "children":{"type":"array","items":{"$ref":"#"}}},"additionalProperties":false})",
       Indented()},
      {"json_schema", "tuple",
       R"({"type":"array","prefixItems":[{"type":"null"},{"type":"boolean"},{"const":3}],
             "items":{"type":"string"},"minItems":2,"maxItems":6})"},
      {"json_schema", "any_of_with_siblings",
       R"({"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"}},
             "anyOf":[{"required":["a"]},{"required":["b"]}],"additionalProperties":false})"},
      {"json_schema", "one_of_overlapping",
       R"({"oneOf":[{"type":"string","maxLength":3},{"type":"string","minLength":2}]})"},
      {"json_schema", "format_date", R"({"format":"date"})"},
      {"json_schema", "format_hostname_short",
       R"({"type":"string","format":"hostname","maxLength":20})"},
      {"json_schema", "not_a_bound", R"({"type":"number","not":{"minimum":0,"maximum":10}})"},
      {"json_schema", "any_of_consts",
       R"({"anyOf":[{"const":"a"},{"const":"b","title":"B"},{"enum":["c",4]},{"type":"null"}]})"},
      {"json_schema", "all_of_merged",
       R"({"allOf":[{"type":"string","minLength":2},{"type":["string","null"],"maxLength":9}]})"},
      {"json_schema", "required_undeclared",
       R"({"type":"object","properties":{"a":false},"required":["z"],
             "additionalProperties":{"type":"boolean"}})"},
  };
  return *cases;
}

}  // namespace maskd
