#include "grammar_core/ir/ir_bytes.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

constexpr std::size_t kLong = 1000;

struct HolderCase {
  const char* name;
  std::function<void(GrammarIr&)> add;
  // What it takes from the heap at least.
  std::int64_t bytes;
};

class IrBytesTest : public testing::TestWithParam<HolderCase> {};

TEST_P(IrBytesTest, AreCounted) {
  GrammarIr ir;
  ASSERT_EQ(HeldBytes(ir), 0);
  GetParam().add(ir);
  EXPECT_GE(HeldBytes(ir), GetParam().bytes);
  // No part is counted twice.
  EXPECT_LT(HeldBytes(ir), GetParam().bytes + GetParam().bytes / 2);
}

std::string Long() { return std::string(kLong, 'x'); }

NumberSpec ExactNumber() {
  NumberInterval interval;
  interval.min = Decimal{.digits = Long()};
  NumberSpec spec;
  spec.intervals = {interval};
  spec.multiple_of = {Decimal{.digits = Long()}};
  return spec;
}

ObjectSpec MarkedObject() {
  ObjectSpec spec;
  spec.members = {{Long(), 0, true}};
  spec.members[0].ways = {{0, std::vector<ObjectSpec::Mark>(kLong)}};
  spec.conditions = {{std::vector<ObjectSpec::Mark>(kLong)}};
  return spec;
}

using Ir = GrammarIr&;

INSTANTIATE_TEST_SUITE_P(
    Holders, IrBytesTest,
    testing::ValuesIn(std::vector<HolderCase>{
        {"Nodes", [](Ir ir) { ir.nodes.resize(kLong, IrNode(IrKind::kEmpty)); },
         kLong * sizeof(IrNode)},
        {"Children", [](Ir ir) { ir.children.resize(kLong); }, kLong * sizeof(NodeId)},
        {"RuleNames", [](Ir ir) { ir.rules.push_back({Long(), Long(), 0}); }, 2 * kLong},
        {"ByteStrings", [](Ir ir) { ir.byte_strings.push_back(Long()); }, kLong},
        {"Texts", [](Ir ir) { ir.texts.emplace_back(kLong, U'x'); }, 4 * kLong},
        {"TextSets", [](Ir ir) { ir.text_sets.push_back({std::u32string(kLong, U'x')}); },
         4 * kLong},
        {"Tokens", [](Ir ir) { ir.token_specs.push_back({.names = {Long()}, .place = Long()}); },
         2 * kLong},
        {"Numbers", [](Ir ir) { ir.numbers.push_back(ExactNumber()); }, 2 * kLong},
        {"Objects", [](Ir ir) { ir.objects.push_back(MarkedObject()); }, 9 * kLong},
        {"Distinct", [](Ir ir) { ir.distinct.push_back({.place = Long(), .keyword = Long()}); },
         2 * kLong},
    }),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace maskd
