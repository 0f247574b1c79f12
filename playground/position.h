// What a grammar says behind a text: its tokens, the mask of each place on the way, what may, must
// and must not come next, and the shortest ending. Asked of a server by the calls that every client
// has (Check, and one Decode stream of one step).
//
// Bounds   kMostText bytes of text, kMostShown tokens of an answer, masks for kWindow tokens around
//          the place asked for, kMostEnding tokens of an ending.
// Errors   the server's, and INVALID_ARGUMENT for what is above the bounds.
// Threads  any number at once.
#ifndef MASKD_PLAYGROUND_POSITION_H_
#define MASKD_PLAYGROUND_POSITION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "client/cpp/client.h"
#include "playground/streams.h"
#include "playground/vocabularies.h"

namespace maskd::playground {

inline constexpr std::size_t kMostText = 256 << 10;
inline constexpr std::int64_t kMostShown = 500;
inline constexpr int kWindow = 64;
inline constexpr std::uint32_t kMostEnding = 256;

// A grammar that the server has compiled, by its id, and a text for it.
struct PositionQuestion {
  std::string grammar_id;
  std::string tokenizer;  // name
  std::string text;
  std::optional<std::int64_t> at;  // tokens before the place; absent: behind the text
  std::int64_t limit = 60;         // allowed tokens that are named
  std::string find;                // and those that contain this, allowed or not
  // Bytes of the text that were asked about before. The masks of places up to there are known: they
  // are left out, the last one and the place asked for excepted. Absent: none is known.
  std::optional<std::int64_t> known;
};

// One place on the way: its mask as the server sent it, without a dictionary.
struct MaskFigures {
  std::string form;  // such as "allowed_ids"
  std::size_t bytes = 0;
  std::int64_t allowed = 0;
};

// A token as an answer names it; its text is the vocabulary's.
struct NamedToken {
  client::TokenId id = 0;
  bool is_allowed = true;
};

// Everything that the page shows of a place, in tokens and bytes.
struct PositionAnswer {
  bool accepted = false;                // the whole text
  bool may_end = false;                 // behind the whole text
  std::size_t byte_offset = 0;          // bytes that were taken
  std::vector<client::TokenId> tokens;  // of the bytes that were taken, longest first
  std::int64_t first = 0;               // the window's first place
  std::int64_t last = 0;                // and its last
  std::int64_t first_figures = 0;       // place of figures[0]
  std::vector<MaskFigures> figures;     // up to the window's last place
  // The rest is about the place asked for.
  std::int64_t at = 0;
  bool at_may_end = false;
  MaskFigures here;
  std::string forced;              // bytes that must come next
  std::vector<NamedToken> likely;  // allowed ones: what is forced first, then by id
  std::vector<NamedToken> found;   // what PositionQuestion::find asked for
  std::int64_t found_count = 0;
};

// Two calls: Check for how far the text goes, and a step for the masks.
absl::StatusOr<PositionAnswer> DescribePlace(Streams& streams, const Vocabulary& vocabulary,
                                             const PositionQuestion& question);

// The fewest tokens that end the text of `question`, stop token left out. NOT_FOUND where no ending
// within kMostEnding tokens is there.
absl::StatusOr<std::vector<client::TokenId>> ShortestEnding(Streams& streams,
                                                            const Vocabulary& vocabulary,
                                                            const PositionQuestion& question);

}  // namespace maskd::playground

#endif  // MASKD_PLAYGROUND_POSITION_H_
