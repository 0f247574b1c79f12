#include "service/grammars/audit.h"

#include <gtest/gtest.h>

namespace maskd::service {
namespace {

TEST(AuditTest, OptionsAreSaidWhereTheyAreNotUsual) {
  GrammarOptions options;
  EXPECT_EQ(OptionsText(options), "default");
  options.white_space = WhiteSpace::kCompact;
  options.indent = 2;
  options.strictness = Strictness::kRelax;
  options.formats = Formats::kAsserted;
  options.additional_properties = false;
  options.max_tokens = 9;
  EXPECT_EQ(OptionsText(options),
            "white_space:compact,indent:2,strictness:relax,additional_properties:false,"
            "formats:asserted,max_tokens:9");
}

TEST(AuditTest, TextsOfOptionsAreNotSaid) {
  GrammarOptions options;
  options.item_separator = ", secret";
  options.key_separator = ": secret";
  EXPECT_EQ(OptionsText(options), "item_separator:given,key_separator:given");
}

}  // namespace
}  // namespace maskd::service
