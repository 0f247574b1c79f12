// How a stream says its masks: each in the shortest form that its client understands.
//
//   full < same_as < the shortest of allowed_ids, forbidden_ids, delta, dense
//
// Dictionary  a mask that takes more than a few bytes is put into a slot when it is said, and is
//          `same_as` from then on, until the slot goes to another mask.
// Identity    a stored mask is known again by its number (TokenMask::serial()), whatever became of
//          the grammar it was said for; masks made for one call are compared by their words.
// Cost        a mask said before: one look-up. A new one: a count of its bits, and comparisons with
//          the dictionary that stop early.
// Memory      the dictionary's masks, and at most 16 MiB of ids of masks that were said before.
// Threads     one thread at a time.
#ifndef MASKD_SERVICE_SEQUENCES_MASK_FORMS_H_
#define MASKD_SERVICE_SEQUENCES_MASK_FORMS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/mask/token_mask.h"
#include "service/sequences/mask_dictionary.h"

namespace maskd::service {

// What a stream may use beside `full` and `dense`.
struct FormTerms {
  bool same_as = false;
  bool allowed_ids = false;
  bool forbidden_ids = false;
  bool delta = false;
  int dictionary_size = 0;  // masks; 0 exactly if neither same_as nor delta is used
  int mask_words = 0;       // of a dense mask; 0: as wide as the vocabulary
  // What positions may carry beside their masks.
  bool temperature = false;
  bool biases = false;
};

// One mask as it is said.
struct MaskForm {
  // The forms, as protos/maskd/v1 has them.
  enum class Kind : std::uint8_t { kDense, kSameAs, kAllowedIds, kForbiddenIds, kDelta };
  Kind kind = Kind::kDense;
  int slot = 0;                                               // of kSameAs
  std::shared_ptr<const std::vector<TokenId>> ids = nullptr;  // of the two lists, ascending
  std::shared_ptr<const MaskDelta> delta = nullptr;           // of kDelta
  std::optional<int> put = std::nullopt;                      // the slot it shall be kept in
  std::int64_t bytes = 0;  // on the wire, but for the position's header
};

// Chooses forms for one stream, and knows what its client has.
class MaskForms {
 public:
  // `terms` are those that the client understands.
  explicit MaskForms(const FormTerms& terms) : terms_(terms), dictionary_(terms.dictionary_size) {}

  // How to say `mask`, and what to keep of it. The reply must say it: the dictionary has changed.
  MaskForm Say(const MaskRef& mask);

 private:
  // A mask that was said: what it costs on its own, and where the client has it.
  struct Known {
    MaskForm alone;  // a list or dense
    std::int64_t cost_bytes = 0;
    int allowed_count = 0;
    int slot = -1;
    std::uint64_t put = 0;  // the number of the put that filled the slot
  };

  // A list or dense, whichever is shorter.
  [[nodiscard]] Known SayAlone(const TokenMask& mask) const;
  MaskForm SayKnown(const MaskRef& mask, Known* known);
  Known* Remember(std::uint64_t serial, Known known);
  void Put(const MaskRef& mask, Known* known);
  // Says that the slot's mask is this one, too.
  void SetSlot(int slot, Known* known) const;
  // Whether the client has it still.
  [[nodiscard]] bool HasSlot(const Known& known) const;
  [[nodiscard]] std::optional<MaskDelta> FindDelta(const TokenMask& mask, const Known& known) const;

  const FormTerms terms_;
  MaskDictionary dictionary_;
  absl::flat_hash_map<std::uint64_t, Known> known_;  // by serial()
  std::int64_t listed_bytes_ = 0;                    // of the ids in it
  std::vector<std::uint64_t> puts_;                  // by slot: the last put into it
  std::uint64_t last_put_ = 0;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_SEQUENCES_MASK_FORMS_H_
