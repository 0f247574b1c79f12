// Protobuf's encoding, read field by field where building a message would cost too much.
//
// Fields   come in any order, lists packed or not; unknown ones are skipped. When a field comes
//          twice the last one counts, and the parts of a message are not merged.
// Errors   false: the bytes are no message.
// Threads  no state.
// Source   protobuf.dev/programming-guides/encoding.
#ifndef MASKD_PROTOS_WIRE_FIELDS_H_
#define MASKD_PROTOS_WIRE_FIELDS_H_

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/message_lite.h"
#include "google/protobuf/wire_format_lite.h"

namespace maskd {

using WireInput = google::protobuf::io::CodedInputStream;

// What begins a field: its number and how it is written.
constexpr std::uint32_t VarintTag(int number) { return static_cast<std::uint32_t>(number) << 3; }
constexpr std::uint32_t BytesTag(int number) { return VarintTag(number) | 2; }
constexpr std::uint32_t Fixed32Tag(int number) { return VarintTag(number) | 5; }

// Skips the field that `tag` began.
inline bool SkipField(WireInput& in, std::uint32_t tag) {
  return google::protobuf::internal::WireFormatLite::SkipField(&in, tag);
}

// Calls read(tag) for each field up to the end of the input or of what surrounds it; `read` reads
// what follows the tag.
template <typename Read>
bool ReadFields(WireInput& in, Read read) {
  while (const std::uint32_t tag = in.ReadTag())
    if (!read(tag)) return false;
  return in.ConsumedEntireMessage();
}

// The same for a field that is a message.
template <typename Read>
bool ReadNested(WireInput& in, Read read) {
  int size = 0;
  if (!in.ReadVarintSizeAsInt(&size) || in.BytesUntilLimit() < size) return false;
  const WireInput::Limit limit = in.PushLimit(size);
  const bool whole = ReadFields(in, read);
  in.PopLimit(limit);
  return whole;
}

// Calls read() for each element of a list's field that `tag` began: as often as there are elements
// if it is packed, else once.
template <typename Read>
bool ReadElements(WireInput& in, std::uint32_t tag, Read read) {
  if ((tag & 7) != 2) return read();
  int size = 0;
  if (!in.ReadVarintSizeAsInt(&size) || in.BytesUntilLimit() < size) return false;
  const WireInput::Limit limit = in.PushLimit(size);
  bool whole = true;
  while (whole && in.BytesUntilLimit() > 0) whole = read();
  in.PopLimit(limit);
  return whole;
}

// Adds the elements to `values`.
template <typename Value>
bool ReadVarints(WireInput& in, std::uint32_t tag, std::vector<Value>& values) {
  return ReadElements(in, tag, [&] {
    std::uint32_t value = 0;
    if (!in.ReadVarint32(&value)) return false;
    values.push_back(static_cast<Value>(value));
    return true;
  });
}

inline bool ReadBool(WireInput& in, bool& value) {
  std::uint64_t number = 0;
  const bool whole = in.ReadVarint64(&number);
  value = number != 0;
  return whole;
}

inline bool ReadFloat(WireInput& in, float& value) {
  std::uint32_t bits = 0;
  const bool whole = in.ReadLittleEndian32(&bits);
  value = std::bit_cast<float>(bits);
  return whole;
}

inline bool ReadText(WireInput& in, std::string& text) {
  int size = 0;
  return in.ReadVarintSizeAsInt(&size) && in.ReadString(&text, size);
}

// A field that is a message, by protobuf's own parser.
inline bool ReadMessage(WireInput& in, google::protobuf::MessageLite& message) {
  int size = 0;
  if (!in.ReadVarintSizeAsInt(&size) || in.BytesUntilLimit() < size) return false;
  const WireInput::Limit limit = in.PushLimit(size);
  const bool whole = message.ParseFromCodedStream(&in) && in.ConsumedEntireMessage();
  in.PopLimit(limit);
  return whole;
}

}  // namespace maskd

#endif  // MASKD_PROTOS_WIRE_FIELDS_H_
