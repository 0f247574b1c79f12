#include "grammar_core/tokenizer/formats/piece_decoder.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/tokenizer/formats/json_tree.h"
#include "grammar_core/tokenizer/source_file.h"

namespace maskd {
namespace {

using Json = nlohmann::json;

constexpr char kMetaspace[] = "\xE2\x96\x81";  // U+2581
constexpr int kAlphabetEnd = 256 + 68;         // 68 bytes have no printable character of their own

// The byte-level alphabet: code point -> byte, -1 where none. A byte that is a printable character
// of Latin-1 (and no soft hyphen) stands for itself; the others, ascending, are U+0100 and on.
std::array<int, kAlphabetEnd> MakeAlphabet() {
  std::array<int, kAlphabetEnd> bytes{};
  bytes.fill(-1);
  int next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const bool is_itself = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    bytes[is_itself ? byte : next++] = byte;
  }
  return bytes;
}

// Nothing where a character is not of the alphabet: such a piece stands for itself.
std::optional<std::string> FromByteLevel(absl::string_view piece) {
  static const std::array<int, kAlphabetEnd> alphabet = MakeAlphabet();
  std::string bytes;
  for (std::size_t at = 0; at < piece.size();) {
    const std::optional<std::uint32_t> code_point = DecodeUtf8(piece, &at);
    if (!code_point.has_value() || *code_point >= kAlphabetEnd || alphabet[*code_point] < 0) {
      return std::nullopt;
    }
    bytes.push_back(static_cast<char>(alphabet[*code_point]));
  }
  return bytes;
}

// The byte of "<0x0A>"; nothing for another piece.
std::optional<std::string> FromByteFallback(absl::string_view piece) {
  constexpr std::size_t kSize = 6;
  if (piece.size() != kSize || piece.substr(0, 3) != "<0x" || piece.back() != '>' ||
      !absl::ascii_isxdigit(static_cast<unsigned char>(piece[3])) ||
      !absl::ascii_isxdigit(static_cast<unsigned char>(piece[4]))) {
    return std::nullopt;
  }
  return absl::HexStringToBytes(piece.substr(3, 2));
}

struct Component {
  std::string type;
  const Json* value;
  FieldPath path;
};

// The components of `value` in order, Sequences opened. Nesting is bounded by the tree's.
void AppendComponents(const Json* value, const FieldPath& path, const char* list_name,
                      std::vector<Component>* components) {
  if (value == nullptr) {
    return;
  }
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

bool HasType(const std::vector<Component>& components, absl::string_view type) {
  return std::any_of(components.begin(), components.end(),
                     [&](const Component& component) { return component.type == type; });
}

}  // namespace

class PieceDecoderBuilder {
 public:
  explicit PieceDecoderBuilder(const Json& tree)
      : tree_(tree),
        decoders_(Components(tree, "decoder", "decoders")),
        pre_tokenizers_(Components(tree, "pre_tokenizer", "pretokenizers")),
        normalizers_(Components(tree, "normalizer", "normalizers")) {}

  absl::StatusOr<PieceDecoder> Build() {
    for (const Component& component : decoders_) {
      if (absl::Status added = AddDecoder(component); !added.ok()) {
        return added;
      }
    }
    if (decoders_.empty()) {
      AddInverseOfMetaspace();
    }
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
  absl::Status AddMark(const Component& component);
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
    decoder_.steps_.push_back({Step::Kind::kByteLevel, "", ""});
    is_fused_ = true;
    return absl::OkStatus();
  }
  if (type == "ByteFallback") {
    decoder_.steps_.push_back({Step::Kind::kByteFallback, "", ""});
    return absl::OkStatus();
  }
  if (type == "Replace") {
    return AddReplace(component);
  }
  if (type == "Metaspace") {
    return AddMark(component);
  }
  return UnsupportedAt(component.path.str(), absl::StrCat("the decoder \"", Shortened(type), "\""),
                       "the text of one of its tokens depends on those beside it");
}

absl::Status PieceDecoderBuilder::AddReplace(const Component& component) {
  const Json* const pattern = FindField(*component.value, "pattern");
  const std::string from = pattern == nullptr ? "" : TextField(*pattern, "String");
  if (from.empty()) {
    return UnsupportedAt(component.path.Child("pattern").str(),
                         "a Replace decoder without a String");
  }
  decoder_.steps_.push_back({Step::Kind::kReplace, from, TextField(*component.value, "content")});
  return absl::OkStatus();
}

absl::Status PieceDecoderBuilder::AddMark(const Component& component) {
  const std::string mark = TextField(*component.value, "replacement");
  decoder_.steps_.push_back({Step::Kind::kReplace, mark.empty() ? kMetaspace : mark, " "});
  return absl::OkStatus();
}

// Without a decoder, what was done to the text before it was cut is undone.
void PieceDecoderBuilder::AddInverseOfMetaspace() {
  for (const std::vector<Component>* components : {&normalizers_, &pre_tokenizers_}) {
    for (const Component& component : *components) {
      const Json* const pattern = FindField(*component.value, "pattern");
      const bool marks_spaces =
          component.type == "Replace" && pattern != nullptr && TextField(*pattern, "String") == " ";
      const std::string mark = component.type == "Metaspace" ? kMetaspace
                               : marks_spaces ? TextField(*component.value, "content")
                                              : "";
      if (!mark.empty()) {
        decoder_.steps_.push_back({Step::Kind::kReplace, mark, " "});
      }
    }
  }
}

void PieceDecoderBuilder::AddWhatTheModelSays() {
  const Json* const model = FindField(tree_, "model");
  if (model != nullptr && IsFieldTrue(*model, "byte_fallback") && !Has(Step::Kind::kByteFallback)) {
    decoder_.steps_.push_back({Step::Kind::kByteFallback, "", ""});
  }
  const bool is_byte_level =
      HasType(pre_tokenizers_, "ByteLevel") || HasType(normalizers_, "ByteLevel");
  if (is_byte_level && !Has(Step::Kind::kByteLevel)) {
    decoder_.steps_.push_back({Step::Kind::kByteLevel, "", ""});
  }
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
        if (std::optional<std::string> byte = FromByteFallback(text)) {
          return *std::move(byte);
        }
        break;
      case Step::Kind::kByteLevel:
        if (std::optional<std::string> bytes = FromByteLevel(text)) {
          return *std::move(bytes);
        }
        break;
    }
  }
  return text;
}

}  // namespace maskd
