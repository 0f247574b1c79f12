// The fields of a Position as they came over the wire, and nothing judged. For this library's own
// files.
//
// Threads  a plain value.
#ifndef MASKD_CLIENT_CPP_MASKS_POSITION_FIELDS_H_
#define MASKD_CLIENT_CPP_MASKS_POSITION_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "client/apply/mask_rows.h"
#include "protos/wire_fields.h"

namespace maskd::client {

struct MaskStorage;

// Kept and reused from position to position.
struct PositionFields {
  // As before anything came; memory is kept.
  void Clear();

  int form = 0;                         // the number of the form's field; 0: none came
  std::span<const std::int32_t> ids;    // of a list
  std::span<const std::int32_t> words;  // dense; empty if it has not the words that are due
  std::size_t dense_bytes = 0;
  std::uint32_t slot = 0;  // of same_as and of a delta's base
  std::vector<std::uint32_t> word_indices;
  std::vector<std::uint32_t> changed_words;
  std::optional<std::uint32_t> dictionary_slot;
  std::optional<float> temperature;
  std::vector<LogitBias> biases;
};

// Reads the rest of `in`, up to its limit; ids and words, of which `mask_words` are due, go into
// `storage`. False: the bytes are no Position.
bool ReadPosition(WireInput& in, std::size_t mask_words, MaskStorage& storage,
                  PositionFields& fields);

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_MASKS_POSITION_FIELDS_H_
