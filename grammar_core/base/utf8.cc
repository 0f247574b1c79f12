#include "grammar_core/base/utf8.h"

#include <algorithm>
#include <cassert>

namespace maskd {
namespace {

constexpr std::uint32_t kMinBySize[] = {0, 0, 0x80, 0x800, 0x10000};
constexpr std::uint32_t kLeadBitsBySize[] = {0, 0x7F, 0x1F, 0x0F, 0x07};

bool IsSurrogate(std::uint32_t c) { return c >= 0xD800 && c <= 0xDFFF; }

}  // namespace

int Utf8SequenceBytes(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return lead < 0xF5 ? 4 : 0;
}

std::optional<std::uint32_t> DecodeUtf8(absl::string_view text, std::size_t* at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (*at >= text.size()) return std::nullopt;
  const int size = Utf8SequenceBytes(byte(*at));
  if (size == 0 || *at + size > text.size()) return std::nullopt;
  std::uint32_t code = byte(*at) & kLeadBitsBySize[size];
  for (int i = 1; i < size; ++i) {
    const unsigned char next = byte(*at + i);
    if ((next & 0xC0) != 0x80) return std::nullopt;
    code = (code << 6) | (next & 0x3F);
  }
  if (code < kMinBySize[size] || code > 0x10FFFF || IsSurrogate(code)) return std::nullopt;
  *at += size;
  return code;
}

std::optional<std::u32string> Utf8ToCodePoints(absl::string_view text) {
  std::u32string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::optional<std::uint32_t> code = DecodeUtf8(text, &at);
    if (!code.has_value()) return std::nullopt;
    out.push_back(*code);
  }
  return out;
}

std::string CodePointsToUtf8(const std::u32string& text) {
  std::string out;
  for (const char32_t c : text) AppendUtf8(c, &out);
  return out;
}

std::uint32_t CharactersIn(absl::string_view bytes) {
  const auto begins = [](unsigned char byte) { return !IsContinuationByte(byte); };
  return static_cast<std::uint32_t>(std::count_if(bytes.begin(), bytes.end(), begins));
}

void AppendUtf8(std::uint32_t c, std::string* out) {
  assert(c <= 0x10FFFF);
  const auto tail = [&](int shift) {
    out->push_back(static_cast<char>(0x80 | ((c >> shift) & 0x3F)));
  };
  if (c < 0x80) {
    out->push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out->push_back(static_cast<char>(0xC0 | (c >> 6)));
    tail(0);
  } else if (c < 0x10000) {
    out->push_back(static_cast<char>(0xE0 | (c >> 12)));
    tail(6);
    tail(0);
  } else {
    out->push_back(static_cast<char>(0xF0 | (c >> 18)));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace maskd
