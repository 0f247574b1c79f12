// Families of rank files: the numbers of their tokens, and where their patterns cut.
#include "grammar_core/tokenizer/special_presets.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/tokenizer/loader.h"
#include "grammar_core/tokenizer/piece_pattern.h"

namespace maskd {
namespace {

using testing::Contains;
using testing::ElementsAre;

// The id of `text`; -1 where it is none of the preset's.
int IdOf(const SpecialPreset& preset, absl::string_view text) {
  const auto found = std::ranges::find(preset.special, text);
  return found == preset.special.end()
             ? -1
             : preset.rank_count + static_cast<int>(found - preset.special.begin());
}

std::vector<std::string> Cut(const SpecialPreset& preset, absl::string_view text) {
  const std::unique_ptr<const PiecePattern> pattern = PiecePattern::Create(preset.pattern);
  if (pattern == nullptr) return {};
  std::vector<absl::string_view> pieces;
  pattern->Cut(text, &pieces);
  return {pieces.begin(), pieces.end()};
}

// Ids of meta-llama/llama-models' tokenizer.
TEST(SpecialPresetsTest, Llama3HasTheIdsOfItsPackage) {
  const SpecialPreset preset = FindSpecialPreset("llama3").value();
  EXPECT_EQ(IdOf(preset, "<|begin_of_text|>"), 128000);
  EXPECT_EQ(IdOf(preset, "<|end_of_text|>"), 128001);
  EXPECT_EQ(IdOf(preset, "<|finetune_right_pad_id|>"), 128004);
  EXPECT_EQ(IdOf(preset, "<|start_header_id|>"), 128006);
  EXPECT_EQ(IdOf(preset, "<|end_header_id|>"), 128007);
  EXPECT_EQ(IdOf(preset, "<|eom_id|>"), 128008);
  EXPECT_EQ(IdOf(preset, "<|eot_id|>"), 128009);
  EXPECT_EQ(IdOf(preset, "<|python_tag|>"), 128010);
  EXPECT_EQ(IdOf(preset, "<|reserved_special_token_2|>"), 128012);
  EXPECT_EQ(IdOf(preset, preset.special.back()), 128255);
  EXPECT_THAT(Cut(preset, "I'LL do 12345\n"),
              ElementsAre("I", "'LL", " do", " ", "123", "45", "\n"));
}

// Ids of Qwen/Qwen-7B's tokenizer.
TEST(SpecialPresetsTest, QwenHasTheIdsOfItsPackage) {
  const SpecialPreset preset = FindSpecialPreset("qwen").value();
  EXPECT_EQ(IdOf(preset, "<|endoftext|>"), 151643);
  EXPECT_EQ(IdOf(preset, "<|im_start|>"), 151644);
  EXPECT_EQ(IdOf(preset, "<|im_end|>"), 151645);
  EXPECT_EQ(IdOf(preset, "<|extra_0|>"), 151646);
  EXPECT_EQ(IdOf(preset, "<|extra_204|>"), 151850);
  EXPECT_EQ(preset.special.size(), 208U);
  EXPECT_THAT(Cut(preset, "I'LL do 123\n"),
              ElementsAre("I", "'LL", " do", " ", "1", "2", "3", "\n"));
}

TEST(SpecialPresetsTest, EachHasStopsAmongItsOwnTokensAndNoneTwice) {
  EXPECT_THAT(SpecialPresetNames(), ElementsAre("llama3", "qwen"));
  EXPECT_EQ(SpecialPresets(), SpecialPresetNames());
  for (const std::string& name : SpecialPresetNames()) {
    const SpecialPreset preset = FindSpecialPreset(name).value();
    EXPECT_EQ(std::set(preset.special.begin(), preset.special.end()).size(), preset.special.size());
    EXPECT_THAT(preset.special, testing::Not(Contains("")));
    EXPECT_FALSE(preset.stop.empty());
    for (const std::string& stop : preset.stop) EXPECT_THAT(preset.special, Contains(stop));
    EXPECT_THAT(Cut(preset, "a  b"), ElementsAre("a", " ", " b"));
  }
}

TEST(SpecialPresetsTest, AnUnknownNameIsRefusedWithTheKnownOnes) {
  for (const char* name : {"", "Llama3", "llama", "llama3 ", "qwen,llama3"}) {
    const absl::Status status = FindSpecialPreset(name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(ErrorPlace(status), "special_preset");
    EXPECT_EQ(status.message(),
              "special_preset: \"" + std::string(name) + "\" is not one of llama3, qwen");
  }
}

}  // namespace
}  // namespace maskd
