// The file's decoder is a list of components. Those that work on one token alone become steps; a
// component that would need the tokens beside it is refused. Without a decoder the steps undo what
// the normalizer and the pre-tokenizer did to spaces.
//
// Invariant  once the tokens are joined to one text only what strips its ends may follow.
// Cost       each piece goes through each step once.
#include "grammar_core/tokenizer/formats/piece_decoder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/error.h"
#include "grammar_core/tokenizer/formats/json_tree.h"
#include "grammar_core/tokenizer/formats/piece_bytes.h"
#include "grammar_core/tokenizer/source_file.h"

namespace maskd {
namespace {

using Json = nlohmann::json;

struct Component {
  std::string type;
  const Json* value;
  FieldPath path;
};

// The components of `value` in order, Sequences opened. Nesting is bounded by the tree's.
void AppendComponents(const Json* value, const FieldPath& path, const char* list_name,
                      std::vector<Component>* components) {
  if (value == nullptr) return;
  const Json* const list = FindField(*value, list_name);
  if (list == nullptr || !list->is_array()) {
    components->push_back({TextField(*value, "type"), value, path});
    return;
  }
  const FieldPath list_path = path.Child(list_name);
  for (std::size_t i = 0; i < list->size(); ++i) {
    AppendComponents(&(*list)[i], list_path.Child(static_cast<std::int64_t>(i)), list_name,
                     components);
  }
}

std::vector<Component> Components(const Json& tree, const char* field, const char* list_name) {
  std::vector<Component> components;
  AppendComponents(FindField(tree, field), FieldPath().Child(field), list_name, &components);
  return components;
}

constexpr char kOfNeighbours[] = "the text of one of its tokens depends on those beside it";

bool HasType(const std::vector<Component>& components, absl::string_view type) {
  return std::any_of(components.begin(), components.end(),
                     [&](const Component& component) { return component.type == type; });
}

}  // namespace

std::string SpaceMarkOf(const Json& part) {
  const std::string type = TextField(part, "type");
  if (type == "Metaspace") {
    const std::string mark = TextField(part, "replacement");
    return mark.empty() ? kMetaspace : mark;
  }
  const Json* const pattern = FindField(part, "pattern");
  const bool marks_spaces =
      type == "Replace" && pattern != nullptr && TextField(*pattern, "String") == " ";
  return marks_spaces ? TextField(part, "content") : "";
}

class PieceDecoderBuilder {
 public:
  explicit PieceDecoderBuilder(const Json& tree)
      : tree_(tree),
        decoders_(Components(tree, "decoder", "decoders")),
        pre_tokenizers_(Components(tree, "pre_tokenizer", "pretokenizers")),
        normalizers_(Components(tree, "normalizer", "normalizers")) {}

  absl::StatusOr<PieceDecoder> Build() {
    for (const Component& component : decoders_)
      if (absl::Status added = AddDecoder(component); !added.ok()) return added;
    if (decoders_.empty()) AddInverseOfMetaspace();
    AddWhatTheModelSays();
    if (decoders_.empty() && decoder_.steps_.empty()) {
      return UnsupportedAt("/decoder", "a file without a decoder",
                           "it does not say which white space stands between two tokens");
    }
    return std::move(decoder_);
  }

 private:
  using Step = PieceDecoder::Step;

  absl::Status AddDecoder(const Component& component);
  absl::Status AddReplace(const Component& component);
  absl::Status AddReplacement(const Component& component, std::string from, std::string to);
  static absl::Status BehindBytes(const Component& component);
  void AddInverseOfMetaspace();
  void AddWhatTheModelSays();

  [[nodiscard]] bool Has(Step::Kind kind) const {
    return std::any_of(decoder_.steps_.begin(), decoder_.steps_.end(),
                       [&](const Step& step) { return step.kind == kind; });
  }

  const Json& tree_;
  std::vector<Component> decoders_;
  std::vector<Component> pre_tokenizers_;
  std::vector<Component> normalizers_;
  // True once the tokens have become one text: what follows sees that text and not the tokens.
  bool is_fused_ = false;
  PieceDecoder decoder_;
};

absl::Status PieceDecoderBuilder::AddDecoder(const Component& component) {
  const std::string& type = component.type;
  if (type == "Fuse" || (type == "Strip" && is_fused_)) {
    is_fused_ = true;
    return absl::OkStatus();
  }
  if (is_fused_) {
    return UnsupportedAt(component.path.str(), absl::StrCat("the decoder ", Shortened(type)),
                         "it follows one that joins all tokens");
  }
  if (type == "ByteLevel") {
    if (Has(Step::Kind::kByteFallback)) return BehindBytes(component);
    decoder_.steps_.push_back({Step::Kind::kByteLevel, "", ""});
    is_fused_ = true;
    return absl::OkStatus();
  }
  if (type == "ByteFallback") {
    decoder_.steps_.push_back({Step::Kind::kByteFallback, "", ""});
    return absl::OkStatus();
  }
  if (type == "Replace") return AddReplace(component);
  if (type == "Metaspace") return AddReplacement(component, SpaceMarkOf(*component.value), " ");
  return UnsupportedAt(component.path.str(), absl::StrCat("the decoder \"", Shortened(type), "\""),
                       kOfNeighbours);
}

absl::Status PieceDecoderBuilder::BehindBytes(const Component& component) {
  return UnsupportedAt(component.path.str(),
                       absl::StrCat("the decoder ", component.type, " behind ByteFallback"),
                       kOfNeighbours);
}

absl::Status PieceDecoderBuilder::AddReplace(const Component& component) {
  const Json* const pattern = FindField(*component.value, "pattern");
  const std::string from = pattern == nullptr ? "" : TextField(*pattern, "String");
  if (from.empty()) {
    return UnsupportedAt(component.path.Child("pattern").str(),
                         "a Replace decoder without a String");
  }
  return AddReplacement(component, from, TextField(*component.value, "content"));
}

absl::Status PieceDecoderBuilder::AddReplacement(const Component& component, std::string from,
                                                 std::string to) {
  if (from.size() > 1 && Has(Step::Kind::kByteFallback)) return BehindBytes(component);
  decoder_.steps_.push_back({Step::Kind::kReplace, std::move(from), std::move(to)});
  return absl::OkStatus();
}

// Without a decoder, what was done to the text before it was cut is undone.
void PieceDecoderBuilder::AddInverseOfMetaspace() {
  for (const std::vector<Component>* components : {&normalizers_, &pre_tokenizers_}) {
    for (const Component& component : *components) {
      const std::string mark = SpaceMarkOf(*component.value);
      if (!mark.empty()) decoder_.steps_.push_back({Step::Kind::kReplace, mark, " "});
    }
  }
}

void PieceDecoderBuilder::AddWhatTheModelSays() {
  const Json* const model = FindField(tree_, "model");
  if (model != nullptr && IsFieldTrue(*model, "byte_fallback") && !Has(Step::Kind::kByteFallback))
    decoder_.steps_.push_back({Step::Kind::kByteFallback, "", ""});
  const bool is_byte_level =
      HasType(pre_tokenizers_, "ByteLevel") || HasType(normalizers_, "ByteLevel");
  if (is_byte_level && !Has(Step::Kind::kByteLevel))
    decoder_.steps_.push_back({Step::Kind::kByteLevel, "", ""});
}

absl::StatusOr<PieceDecoder> PieceDecoder::FromTree(const nlohmann::json& tree) {
  return PieceDecoderBuilder(tree).Build();
}

std::string PieceDecoder::Decode(absl::string_view piece) const {
  std::string text(piece);
  for (const Step& step : steps_) {
    switch (step.kind) {
      case Step::Kind::kReplace:
        absl::StrReplaceAll({{step.from, step.to}}, &text);
        break;
      case Step::Kind::kByteFallback:
        if (std::optional<std::string> byte = FromByteFallback(text)) text = *std::move(byte);
        break;
      case Step::Kind::kByteLevel:
        if (std::optional<std::string> bytes = FromByteLevel(text)) return *std::move(bytes);
        break;
    }
  }
  return text;
}

}  // namespace maskd
