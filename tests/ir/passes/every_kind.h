// A grammar with a node of each kind, for passes that move or copy nodes as they are.
//
// Threads  no state.
#ifndef MASKD_TESTS_IR_PASSES_EVERY_KIND_H_
#define MASKD_TESTS_IR_PASSES_EVERY_KIND_H_

#include <string>
#include <vector>

#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// A node of each kind but Nothing, which no rule keeps as a part; `b` gets the nodes.
inline std::vector<NodeId> NodesOfEveryKind(RuleId called, IrBuilder* b) {
  NumberSpec number;
  number.multiple_of = {ReadDecimal("7")};
  TokenSpec tokens;
  tokens.names = {"<|end|>"};
  const NodeId any = b->Repeat(b->AnyChar(), 0, kUnbounded);
  const NodeId value = b->Bytes("1");
  const ObjectSpec::Member member = {"a", value, false, {{value, {0}}}};
  const NodeId object = b->Object({{member, {"b", b->Bytes("2"), true}},
                                   {{any, b->Bytes("3"), {1}}},
                                   b->Bytes(" "),
                                   true,
                                   {{{0}, {1}}},
                                   1,
                                   4});
  const NodeId characters =
      b->Concat({b->Text("x"), b->TextSet({"foo", "barn"}),
                 b->And({any, b->Not(b->Concat({b->Text("no"), b->AnyChar()}))})});
  return {b->Alt({b->Bytes("null"), b->AnyByteOf("xyz")}),
          b->Tokens(tokens),
          b->Encode(Spelling::kCanonicalJson, characters),
          b->Repeat(b->Call(called), 2, 5),
          b->Number(number),
          object,
          b->Distinct(b->Concat({b->Bytes("["), b->Call(called), b->Bytes("]")}), {value},
                      {"/here", "uniqueItems", 1}),
          b->Limited(b->Encode(Spelling::kUtf8, any), 9),
          b->Break(2),
          b->Block('{', b->Bytes("line"), 3),
          b->Optional(b->Bytes("end"))};
}

}  // namespace maskd

#endif  // MASKD_TESTS_IR_PASSES_EVERY_KIND_H_
