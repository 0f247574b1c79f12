#include "grammar_core/tokenizer/special_presets.h"

#include <array>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/source_file.h"

namespace maskd {
namespace {

// The pattern of both families, before and after how many digits are together.
constexpr absl::string_view kContractions =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})";
constexpr absl::string_view kOthers = R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// Appends "<|STEM_0|>" and so on, numbered from `first`, until `special` has `count` names.
void AppendNumbered(absl::string_view stem, int first, int count,
                    std::vector<std::string>* special) {
  for (int number = first; static_cast<int>(special->size()) < count; ++number)
    special->push_back(absl::StrCat("<|", stem, "_", number, "|>"));
}

SpecialPreset Llama3() {
  SpecialPreset preset{128000,
                       {"<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>",
                        "<|reserved_special_token_1|>", "<|finetune_right_pad_id|>", "<|step_id|>",
                        "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>",
                        "<|python_tag|>", "<|image|>"},
                       {"<|end_of_text|>", "<|eom_id|>", "<|eot_id|>"},
                       absl::StrCat(kContractions, "{1,3}", kOthers)};
  AppendNumbered("reserved_special_token", 2, 256, &preset.special);
  return preset;
}

SpecialPreset Qwen() {
  SpecialPreset preset{151643,
                       {"<|endoftext|>", "<|im_start|>", "<|im_end|>"},
                       {"<|endoftext|>", "<|im_end|>"},
                       absl::StrCat(kContractions, kOthers)};
  AppendNumbered("extra", 0, 208, &preset.special);
  return preset;
}

struct Row {
  const char* name;
  SpecialPreset (*make)();
};

constexpr std::array kPresets = {
    Row{"llama3", &Llama3},
    Row{"qwen", &Qwen},
};

}  // namespace

absl::StatusOr<SpecialPreset> FindSpecialPreset(absl::string_view name) {
  for (const Row& row : kPresets)
    if (name == row.name) return row.make();
  return InvalidTokenizer("special_preset",
                          absl::StrCat("\"", Shortened(name), "\" is not one of ",
                                       absl::StrJoin(SpecialPresetNames(), ", ")));
}

std::vector<std::string> SpecialPresetNames() {
  std::vector<std::string> names;
  names.reserve(kPresets.size());
  for (const Row& row : kPresets) names.emplace_back(row.name);
  return names;
}

}  // namespace maskd
