#include "client/cpp/masks/position_fields.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "client/cpp/masks/mask_storage.h"
#include "maskd/v1/mask_service.pb.h"

namespace maskd::client {
namespace {

static_assert(std::endian::native == std::endian::little,
              "a dense mask is copied as it is: its words are little-endian on the wire");

bool ReadFlag(WireInput& in) {
  bool value = false;
  return ReadBool(in, value);
}

bool ReadDense(WireInput& in, std::size_t mask_words, MaskStorage& storage,
               PositionFields& fields) {
  absl::string_view bytes;
  if (!in.ReadBytes(&bytes)) return false;
  fields.dense_bytes = bytes.size();
  if (bytes.size() != mask_words * sizeof(std::int32_t)) return true;
  const std::span<std::int32_t> words = storage.pool->Take();
  fields.words = words;
  std::ranges::copy(bytes, reinterpret_cast<char*>(words.data()));
  return true;
}

bool ReadIds(WireInput& in, MaskStorage& storage, PositionFields& fields) {
  std::vector<std::int32_t>& ids = storage.TakeIds();
  ids.clear();
  const bool whole = ReadNested(in, [&](std::uint32_t tag) {
    constexpr int kIds = v1::IdList::kIdsFieldNumber;
    return tag == BytesTag(kIds) || tag == VarintTag(kIds) ? ReadVarints(in, tag, ids)
                                                           : SkipField(in, tag);
  });
  fields.ids = ids;
  return whole;
}

bool ReadFixed(WireInput& in, std::uint32_t tag, std::vector<std::uint32_t>& values) {
  return ReadElements(in, tag, [&] { return in.ReadFixed32(&values.emplace_back()); });
}

bool ReadDelta(WireInput& in, PositionFields& fields) {
  using Wire = v1::MaskDelta;
  return ReadNested(in, [&](std::uint32_t tag) {
    switch (tag) {
      case VarintTag(Wire::kBaseFieldNumber):
        return in.ReadVarint32(&fields.slot);
      case BytesTag(Wire::kWordIndicesFieldNumber):
      case VarintTag(Wire::kWordIndicesFieldNumber):
        return ReadVarints(in, tag, fields.word_indices);
      case BytesTag(Wire::kWordsFieldNumber):
      case Fixed32Tag(Wire::kWordsFieldNumber):
        return ReadFixed(in, tag, fields.changed_words);
      default:
        return SkipField(in, tag);
    }
  });
}

bool ReadBias(WireInput& in, LogitBias& bias) {
  return ReadNested(in, [&](std::uint32_t tag) {
    switch (tag) {
      case VarintTag(v1::LogitBias::kIdFieldNumber): {
        std::uint32_t id = 0;
        const bool whole = in.ReadVarint32(&id);
        bias.id = static_cast<std::int32_t>(id);
        return whole;
      }
      case Fixed32Tag(v1::LogitBias::kBiasFieldNumber):
        return ReadFloat(in, bias.bias);
      default:
        return SkipField(in, tag);
    }
  });
}

// The field that `tag` began, if it is a form.
bool ReadForm(WireInput& in, std::uint32_t tag, std::size_t mask_words, MaskStorage& storage,
              PositionFields& fields) {
  using Wire = v1::Position;
  const int before = std::exchange(fields.form, static_cast<int>(tag >> 3));
  switch (tag) {
    case VarintTag(Wire::kFullFieldNumber):
    case VarintTag(Wire::kInvalidFieldNumber):
      return ReadFlag(in);
    case VarintTag(Wire::kSameAsFieldNumber):
      return in.ReadVarint32(&fields.slot);
    case BytesTag(Wire::kDenseFieldNumber):
      return ReadDense(in, mask_words, storage, fields);
    case BytesTag(Wire::kAllowedIdsFieldNumber):
    case BytesTag(Wire::kForbiddenIdsFieldNumber):
      return ReadIds(in, storage, fields);
    case BytesTag(Wire::kDeltaFieldNumber):
      return ReadDelta(in, fields);
    default:  // unknown, or a form that is written as none is
      fields.form = before;
      return SkipField(in, tag);
  }
}

}  // namespace

void PositionFields::Clear() {
  form = 0;
  ids = {};
  words = {};
  dense_bytes = 0;
  slot = 0;
  word_indices.clear();
  changed_words.clear();
  dictionary_slot.reset();
  temperature.reset();
  biases.clear();
}

bool ReadPosition(WireInput& in, std::size_t mask_words, MaskStorage& storage,
                  PositionFields& fields) {
  using Wire = v1::Position;
  fields.Clear();
  return ReadFields(in, [&](std::uint32_t tag) {
    switch (tag) {
      case VarintTag(Wire::kDictionarySlotFieldNumber):
        return in.ReadVarint32(&fields.dictionary_slot.emplace());
      case Fixed32Tag(Wire::kTemperatureFieldNumber):
        return ReadFloat(in, fields.temperature.emplace());
      case BytesTag(Wire::kBiasesFieldNumber):
        return ReadBias(in, fields.biases.emplace_back());
      default:
        return ReadForm(in, tag, mask_words, storage, fields);
    }
  });
}

}  // namespace maskd::client
