// The classes are found once from all that a grammar names: two neighbouring bytes are in one class
// unless something in the IR or in the spelling of characters tells them apart. Only neighbours are
// joined, so a class is a range and one bit for each byte, "a class begins here", says it all.
//
// Invariant  two bytes of a class have the same derivative of every term, so one sample stands for
//            all. A cut too many only costs an entry in each row; a cut too few would be wrong.
// Source     Owens, Reppy and Turon 2009 (character classes).
#include "grammar_core/derivatives/byte_classes.h"

#include <bitset>
#include <cassert>

#include "absl/strings/string_view.h"

namespace maskd {
namespace {

// Where classes begin. Classes are ranges, so a set cuts where its membership changes.
class Cuts {
 public:
  void Range(int lo, int hi) {
    begins_.set(lo);
    if (hi < 255) begins_.set(hi + 1);
  }
  void EachOf(absl::string_view bytes) {
    for (const unsigned char byte : bytes) Range(byte, byte);
  }
  void Set(const ByteBits& set) {
    for (int byte = 1; byte < 256; ++byte)
      if (set[byte] != set[byte - 1]) begins_.set(byte);
  }
  // Characters from `lo` to `hi`. Beyond ASCII a boundary in the middle of the alphabet may cut at
  // any lead or continuation byte, so it cuts at all of them.
  void Characters(std::uint32_t lo, std::uint32_t hi) {
    constexpr std::uint32_t kAscii = 0x7F;
    if (lo <= kAscii) Range(static_cast<int>(lo), static_cast<int>(std::min(hi, kAscii)));
    const bool whole = lo <= kAscii + 1 && hi == 0xD7FF;
    const bool upper = lo == 0xE000 && hi == kMaxCodePoint;
    if (hi > kAscii && !whole && !upper)
      for (int byte = 0x80; byte < 256; ++byte) begins_.set(byte);
  }
  // What UTF-8 itself tells apart.
  void Utf8() {
    for (const int byte :
         {0x80, 0x90, 0xA0, 0xC0, 0xC2, 0xE0, 0xE1, 0xED, 0xEE, 0xF0, 0xF1, 0xF4, 0xF5}) {
      begins_.set(byte);
    }
  }
  void EachByte() { begins_.set(); }
  [[nodiscard]] bool At(int byte) const { return begins_[byte]; }

 private:
  std::bitset<256> begins_;
};

void CutObject(const ObjectSpec& spec, Cuts* cuts) {
  cuts->EachOf("{}[]\",:");
  for (const ObjectSpec::Member& member : spec.members) cuts->EachOf(member.name);
}

Cuts CutsOf(const GrammarIr& ir) {
  Cuts cuts;
  cuts.Utf8();
  for (const std::string& bytes : ir.byte_strings) cuts.EachOf(bytes);
  for (const ByteBits& set : ir.byte_sets) cuts.Set(set);
  for (const CharSet& set : ir.char_sets)
    for (const CharRange& range : set.ranges()) cuts.Characters(range.lo, range.hi);
  const auto cut_text = [&](const std::u32string& text) {
    for (const char32_t c : text) cuts.Characters(c, c);
  };
  for (const std::u32string& text : ir.texts) cut_text(text);
  for (const auto& set : ir.text_sets)
    for (const std::u32string& text : set) cut_text(text);
  if (!ir.numbers.empty()) cuts.EachOf("+-.");  // digits and e are among those below
  for (const ObjectSpec& spec : ir.objects) CutObject(spec, &cuts);
  if (BreaksLines(ir)) cuts.EachOf("\n []{}");
  // What is remembered may hold any character.
  if (RemembersTexts(ir)) cuts.EachByte();
  // JSON strings: the quote, control characters, and all that may stand in an escape.
  cuts.Range(0, 0x1F);
  cuts.EachOf("\"\\/bfnrtu0123456789abcdefABCDEF");
  return cuts;
}

}  // namespace

ByteClasses::ByteClasses(const GrammarIr& ir) {
  const Cuts cuts = CutsOf(ir);
  for (int byte = 0; byte < 256; ++byte) {
    if (byte == 0 || cuts.At(byte)) sample_[count_++] = static_cast<unsigned char>(byte);
    assert(count_ > 0 && count_ <= 256);
    class_of_[byte] = static_cast<std::uint8_t>(count_ - 1);
  }
}

}  // namespace maskd
