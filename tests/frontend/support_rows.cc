#include "tests/frontend/support_rows.h"

namespace maskd {

const std::vector<SupportRow>& SupportRows() {
  static const auto* const rows = new std::vector<SupportRow>{
      {"`type`",
       "a name or a list; without it every type",
       {
           {R"j({"type":["integer","null"]})j",
            {R"j(1)j", R"j(null)j", R"j(1.0)j"},
            {R"j("a")j", R"j(1.5)j", R"j(true)j"}},
       }},
      {"`properties`, `required`, `additionalProperties`",
       "`required` of undeclared names too; a member whose schema is `false` is a "
       "forbidden name",
       {
           {R"j({"type":"object","properties":{"a":{"type":"integer"},"b":false},"required":["a","z"],"additionalProperties":{"type":"null"}})j",
            {R"j({"a":1,"z":null})j"},
            {R"j({"a":1})j", R"j({"a":1,"z":1})j", R"j({"a":"1","z":null})j",
             R"j({"a":1,"b":1,"z":null})j"}},
       }},
      {"`enum`, `const`",
       "any value; strings and numbers in every way that `spelling` has of the same value; white "
       "space free; objects in the schema's order of keys, or in any "
       "with `property_order = any`. Values that the keywords beside them exclude are "
       "left out",
       {
           {R"j({"enum":["é",1,{"b":[2]}]})j",
            {R"j("\u00e9")j", R"j(1.0)j", R"j({"b": [2]})j"},
            {R"j(2)j", R"j("e")j"}},
           {R"j({"const":null})j", {R"j(null)j"}, {R"j(0)j"}},
       }},
      {"`items`, `prefixItems`, `additionalItems`, `minItems`, `maxItems`",
       "both forms of `items`, by draft",
       {
           {R"j({"type":"array","prefixItems":[{"type":"null"}],"items":{"type":"integer"},"minItems":1,"maxItems":2})j",
            {R"j([null])j", R"j([null,1])j"},
            {R"j([])j", R"j([1])j", R"j([null,null])j", R"j([null,1,2])j"}},
           {R"j({"type":"array","items":[{"type":"null"}],"additionalItems":false})j",
            {R"j([null])j"},
            {R"j([null,1])j"}},
       }},
      {"`minLength`, `maxLength`",
       "code points; an escaped surrogate pair is one",
       {
           {R"j({"type":"string","minLength":1,"maxLength":1})j",
            {R"j("a")j", R"j("\ud83d\ude00")j"},
            {R"j("")j", R"j("ab")j"}},
       }},
      {"`pattern`",
       "some part of the string matches; the dialect of [regex.md](regex.md), whose "
       "constructs that are not supported are refused. Several, by `allOf` or `$ref`, "
       "hold together and with the lengths. Strings of `enum` and `const` are matched "
       "while compiling",
       {
           {R"j({"type":"string","pattern":"^a+$"})j",
            {R"j("a")j", R"j("aa")j"},
            {R"j("")j", R"j("b")j"}},
       }},
      {"`minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`",
       "decimals of any size, never rounded; draft 4's booleans too. Several meet; an "
       "empty interval is an error that names both ends",
       {
           {R"j({"type":"number","minimum":0.1,"exclusiveMaximum":3})j",
            {R"j(0.1)j", R"j(2.99)j", R"j(1e0)j"},
            {R"j(0.09)j", R"j(3)j", R"j(-1)j"}},
           {R"j({"type":"number","exclusiveMinimum":0,"maximum":1})j",
            {R"j(1)j", R"j(0.001)j"},
            {R"j(0)j", R"j(1.1)j"}},
       }},
      {"`multipleOf`",
       "up to a modulus of 10^15: the least common multiple of all divisors that hold "
       "together, in units of their last decimal (`0.01` and `1` are 1, `0.25` is 25, "
       "`60` is 60). Larger: refused",
       {
           {R"j({"type":"number","multipleOf":0.01})j", {R"j(0.05)j", R"j(3)j"}, {R"j(0.005)j"}},
       }},
      {"`anyOf`, `allOf`",
       "with any keywords beside them, merged keyword by keyword",
       {
           {R"j({"anyOf":[{"type":"string"},{"type":"null"}],"allOf":[{"maxLength":1}]})j",
            {R"j("a")j", R"j(null)j"},
            {R"j("ab")j", R"j(1)j"}},
       }},
      {"`not`, `oneOf`, `if`/`then`/`else`",
       "pushed down to keywords, so that no branch overlaps another by mistake; `not` of"
       " a schema with `unevaluatedItems` or `unevaluatedProperties` is refused where what they "
       "see "
       "evaluated depends on the value (a branch that may fail, a `contains`), and of "
       "`patternProperties` of more than 256 names that have an end, such as `^[a-z]{2}$`",
       {
           {R"j({"type":"integer","not":{"const":1}})j", {R"j(2)j"}, {R"j(1)j", R"j(1.0)j"}},
           {R"j({"oneOf":[{"type":"integer"},{"minimum":2,"type":"number"}]})j",
            {R"j(1)j", R"j(2.5)j"},
            {R"j(2)j", R"j(1.5)j"}},
           {R"j({"if":{"type":"string"},"then":{"minLength":1},"else":{"type":"null"}})j",
            {R"j("a")j", R"j(null)j"},
            {R"j("")j", R"j(1)j"}},
       }},
      {"`patternProperties`, `propertyNames`",
       "every pattern that a name matches applies to its value; with "
       "`additionalProperties` and `properties` beside them; at most 256 sets of "
       "patterns that a name may match together, those left out that differ in how they "
       "begin or end",
       {
           {R"j({"type":"object","patternProperties":{"^a":{"type":"integer"},"b$":{"minimum":1}},"propertyNames":{"maxLength":2}})j",
            {R"j({"a":0,"ab":1})j"},
            {R"j({"ab":0})j", R"j({"abc":1})j", R"j({"a":"x"})j"}},
       }},
      {"`minProperties`, `maxProperties`",
       "where two undeclared members or more are needed, no name is written twice; elsewhere an "
       "undeclared name that is written twice counts as two towards `maxProperties`",
       {
           {R"j({"type":"object","minProperties":2})j",
            {R"j({"a":1,"b":2})j"},
            {R"j({"a":1,"a":2})j", R"j({"a":1,"\u0061":2})j"}},
           {R"j({"type":"object","minProperties":1,"maxProperties":1})j",
            {R"j({"a":1})j"},
            {R"j({})j", R"j({"a":1,"b":2})j"}},
       }},
      {"`dependentRequired`, `dependentSchemas`, `dependencies`",
       "`dependencies` is read in every draft",
       {
           {R"j({"type":"object","properties":{"a":{},"b":{}},"dependentRequired":{"a":["b"]}})j",
            {R"j({})j", R"j({"a":1,"b":1})j"},
            {R"j({"a":1})j"}},
           {R"j({"type":"object","properties":{"a":{},"b":{}},"dependentSchemas":{"a":{"required":["b"]}}})j",
            {R"j({"b":1})j"},
            {R"j({"a":1})j"}},
           {R"j({"type":"object","properties":{"a":{},"b":{}},"dependencies":{"a":["b"]}})j",
            {R"j({"b":1})j"},
            {R"j({"a":1})j"}},
       }},
      {"`contains`, `minContains`, `maxContains`",
       "several beside one another too",
       {
           {R"j({"type":"array","contains":{"type":"null"},"minContains":1,"maxContains":2})j",
            {R"j([null])j", R"j([1,null,null])j"},
            {R"j([])j", R"j([1])j", R"j([null,null,null])j"}},
       }},
      {"`uniqueItems`",
       "of items of any kind, by the standard's equality: `1` is `1.0`, the order of names "
       "and how a string is escaped do not count. No object within such an item has a name twice",
       {
           {R"j({"type":"array","uniqueItems":true,"items":{"type":["string","null"]}})j",
            {R"j(["a",null,"b"])j"},
            {R"j([null,null])j", R"j(["a","\u0061"])j"}},
           {R"j({"type":"array","uniqueItems":true,"items":{"enum":["a",1,{"b":1,"c":2}]}})j",
            {R"j([1,"a"])j"},
            {R"j([1,1.0])j", R"j(["a","a"])j"}},
           {R"j({"type":"array","uniqueItems":true})j",
            {R"j([{"a":1,"b":[]},{"a":1},[],1])j"},
            {R"j([{"a":1,"b":[]},{"b":[],"a":1.0}])j", R"j([10,1e1])j", R"j([{"a":1,"a":1}])j"}},
           {R"j({"type":"array","uniqueItems":true,"prefixItems":[true],"items":{"type":"string"}})j",
            {R"j([1,"a"])j", R"j(["b","a"])j"},
            {R"j(["a","a"])j"}},
           {R"j({"type":"array","uniqueItems":true,"contains":{"const":"a"}})j",
            {R"j(["a",1])j", R"j([{},"a"])j"},
            {R"j(["a","a"])j", "[1]"}},
           {R"j({"type":"array","uniqueItems":true,"minItems":2,"items":{"type":"integer","minimum":1,"maximum":3}})j",
            {R"j([1,2])j", R"j([3,1,2])j"},
            {R"j([1])j", R"j([1,2,1.0])j"}},
       }},
      {"`uniqueItems` of several items that must be there",
       "where `minContains` from 2 asks for them, or they may have fewer values than `minItems` "
       "(the patterns and lengths of strings are not counted out, nor items of arrays); of numbers "
       "that only more than 64 digits tell apart; and under a `not`, unless it is an `if` or a "
       "dependency that asks for it, or another one holds beside it",
       {
           {R"j({"uniqueItems":true,"minItems":2,"type":"array","items":{"type":"array","items":{"const":1}}})j"},
           {R"j({"type":"array","uniqueItems":true,"contains":{"type":"integer"},"minContains":2})j"},
           {R"j({"type":"array","not":{"uniqueItems":true}})j"},
       }},
      {"`unevaluatedItems`, `unevaluatedProperties`",
       "across `$ref`, `allOf`, `anyOf`, `oneOf`, `if`, `dependentSchemas`, `contains`; "
       "beside an `anyOf` of at most 12 branches",
       {
           {R"j({"type":"array","anyOf":[{"prefixItems":[{"type":"null"}]},{"type":"array"}],"unevaluatedItems":false})j",
            {R"j([null])j", R"j([])j"},
            {R"j([1])j", R"j([null,1])j"}},
           {R"j({"type":"object","allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false})j",
            {R"j({"a":1})j"},
            {R"j({"b":1})j"}},
       }},
      {"`$ref`, `$id`, `$anchor`, `$defs`",
       "JSON Pointers, percent-encoded or not, anchors, embedded resources, documents "
       "given beside the text (`Grammar.documents`, `maskctl --remotes`), the meta-schemas and "
       "vocabularies of drafts 4 to 2020-12, which need not be given; recursion; "
       "keywords beside `$ref` hold from 2019-09 on and are ignored, with a warning, "
       "before",
       {
           {R"j({"$ref":"#/$defs/a%20b","$defs":{"a b":{"type":"array","items":{"$ref":"#/$defs/a%20b"}}}})j",
            {R"j([])j", R"j([[]])j"},
            {R"j(1)j", R"j([1])j"}},
           {R"j({"$id":"http://x.org/a","$ref":"#n","$defs":{"n":{"$anchor":"n","type":"null"}}})j",
            {R"j(null)j"},
            {R"j(1)j"}},
       }},
      {"`$dynamicRef`, `$dynamicAnchor`, `$recursiveRef`, `$recursiveAnchor`",
       "",
       {
           {R"j({"$id":"http://x.org/a","$dynamicAnchor":"n","type":["array","null"],"items":{"$dynamicRef":"#n"}})j",
            {R"j([null])j"},
            {R"j([1])j"}},
           {R"j({"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"type":["array","null"],"items":{"$recursiveRef":"#"}})j",
            {R"j([null])j"},
            {R"j([1])j"}},
       }},
      {"`$ref` to a document that was not given",
       "nothing is ever fetched",
       {
           {R"j({"$ref":"http://elsewhere.org/schema"})j"},
       }},
      {"`nullable`",
       "of OpenAPI 3.0, beside `type`, where `$schema` names no draft: null is allowed",
       {
           {R"j({"type":"string","nullable":true})j", {R"j("a")j", R"j(null)j"}, {R"j(1)j"}},
       }},
      {"boolean schemas",
       "",
       {
           {R"j({"type":"object","properties":{"a":true},"additionalProperties":false})j",
            {R"j({"a":[1]})j"},
            {R"j({"b":1})j"}},
       }},
      {"`format` of the standard",
       "where it is asserted: see [Formats](#formats)",
       {
           {R"j({"type":"string","format":"date"})j", {R"j("2024-02-29")j"}, {R"j("2023-02-29")j"}},
           {R"j({"$schema":"http://json-schema.org/draft-07/schema#","format":"ipv4"})j",
            {R"j("1.2.3.4")j", R"j(1)j"},
            {R"j("1.2.3")j"}},
       }},
      {"`format` from 2019-09 on, or of another name",
       "where `assert_formats` does not say otherwise; a warning",
       {
           {R"j({"$schema":"https://json-schema.org/draft/2020-12/schema","type":"string","format":"date"})j",
            {R"j("x")j"}},
           {R"j({"type":"string","format":"colour"})j", {R"j("x")j"}},
       }},
      {"`title`, `description`, `default`, `examples`, `$comment`, `deprecated`, "
       "`readOnly`, `writeOnly`, `contentEncoding`, `contentMediaType`, `contentSchema`,"
       " `$schema`, `$id`, `$anchor`, `$dynamicAnchor`, `$recursiveAnchor`, "
       "`$vocabulary`, `$defs`, `definitions`",
       "",
       {
           {R"j({"title":"t","description":"d","default":1,"examples":[1],"$comment":"c","deprecated":true,"readOnly":true,"writeOnly":true,"contentEncoding":"base64","contentMediaType":"application/json","contentSchema":false,"$defs":{"a":false},"definitions":{"a":false}})j",
            {R"j(1)j", R"j("no base64")j", R"j(null)j"}},
       }},
      {"any other",
       "a warning: unknown keyword",
       {
           {R"j({"frobnicate":true,"properties":{"a":{"anotherKeyword":1}}})j",
            {R"j(1)j", R"j({"a":1})j"}},
       }},
  };
  return *rows;
}

}  // namespace maskd
