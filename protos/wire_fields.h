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
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/message_lite.h"
#include "google/protobuf/wire_format_lite.h"

#include "protos/wire_input.h"

namespace maskd {

// What begins a field: its number and how it is written.
constexpr std::uint32_t VarintTag(int number) { return static_cast<std::uint32_t>(number) << 3; }
constexpr std::uint32_t BytesTag(int number) { return VarintTag(number) | 2; }
constexpr std::uint32_t Fixed32Tag(int number) { return VarintTag(number) | 5; }

// Skips the field that `tag` began, as protobuf does: such fields are rare.
inline bool SkipField(WireInput& in, std::uint32_t tag) {
  const absl::string_view rest = in.rest();
  google::protobuf::io::CodedInputStream fields(reinterpret_cast<const std::uint8_t*>(rest.data()),
                                                static_cast<int>(rest.size()));
  return google::protobuf::internal::WireFormatLite::SkipField(&fields, tag) &&
         in.Skip(static_cast<std::size_t>(fields.CurrentPosition()));
}

// Calls read(tag) for each field up to the end of the input or of what surrounds it; `read` reads
// what follows the tag.
template <typename Read>
bool ReadFields(WireInput& in, Read read) {
  while (!in.at_limit()) {
    const std::uint32_t tag = in.ReadTag();
    if (tag == 0 || !read(tag)) return false;
  }
  return true;
}

// Calls read() for what follows, up to the end that its size says.
template <typename Read>
bool ReadSized(WireInput& in, Read read) {
  std::size_t size = 0;
  if (!in.ReadSize(&size)) return false;
  const WireInput::Limit before = in.PushLimit(size);
  const bool whole = read();
  in.PopLimit(before);
  return whole;
}

// As ReadFields(), for a field that is a message.
template <typename Read>
bool ReadNested(WireInput& in, Read read) {
  return ReadSized(in, [&] { return ReadFields(in, read); });
}

// Calls read() for each element of a list's field that `tag` began: as often as there are elements
// if it is packed, else once.
template <typename Read>
bool ReadElements(WireInput& in, std::uint32_t tag, Read read) {
  if ((tag & 7) != 2) return read();
  return ReadSized(in, [&] {
    while (!in.at_limit())
      if (!read()) return false;
    return true;
  });
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
  const bool whole = in.ReadFixed32(&bits);
  value = std::bit_cast<float>(bits);
  return whole;
}

inline bool ReadText(WireInput& in, std::string& text) {
  absl::string_view bytes;
  const bool whole = in.ReadBytes(&bytes);
  text.assign(bytes.data(), bytes.size());
  return whole;
}

// A field that is a message, by protobuf's own parser.
inline bool ReadMessage(WireInput& in, google::protobuf::MessageLite& message) {
  absl::string_view bytes;
  return in.ReadBytes(&bytes) &&
         message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace maskd

#endif  // MASKD_PROTOS_WIRE_FIELDS_H_
