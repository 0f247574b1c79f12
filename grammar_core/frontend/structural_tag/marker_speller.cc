#include "grammar_core/frontend/structural_tag/marker_speller.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

#include "grammar_core/base/error.h"

namespace maskd {

NodeId MarkerSpeller::Spell(absl::string_view text, absl::string_view place) {
  return Spell(text, [&] { return std::string(place); });
}

NodeId MarkerSpeller::Spell(absl::string_view text, absl::FunctionRef<std::string()> place) {
  if (table_ == nullptr) return text.empty() ? builder_.Empty() : builder_.Bytes(text);
  if (const auto known = spelled_.find(text); known != spelled_.end()) return known->second;
  absl::InlinedVector<NodeId, 4> parts;
  for (const MarkerTable::Piece& piece : table_->Cut(text)) {
    if (piece.marker != MarkerTable::kNone) {
      Note(piece.marker, place);
      parts.push_back(NodeOf(piece.marker));
      continue;
    }
    parts.push_back(builder_.Bytes(piece.text));
    if (status_.ok() && !table_->CanSpell(piece.text)) {
      status_ = InvalidAt(place(), absl::StrCat("the vocabulary ", table_->vocabulary().name(),
                                                " has no tokens for \"",
                                                absl::CHexEscape(piece.text.substr(0, 64)), "\""));
    }
  }
  const NodeId node = builder_.Concat(parts);
  spelled_.emplace(text, node);
  return node;
}

NodeId MarkerSpeller::NodeOf(TokenId marker) {
  const auto [made, is_new] = markers_.try_emplace(marker);
  const auto id = static_cast<std::uint32_t>(marker);
  if (is_new) made->second = builder_.Tokens({.ids = {{id, id}}});
  return made->second;
}

bool MarkerSpeller::HasMarker(absl::string_view text, std::size_t bytes) const {
  return table_ != nullptr && table_->HasMarker(text, bytes);
}

std::size_t MarkerSpeller::WithWholeMarkers(absl::string_view text, std::size_t bytes) const {
  if (table_ == nullptr) return std::min(bytes, text.size());
  std::size_t size = 0;
  for (const MarkerTable::Piece& piece : table_->Cut(text, bytes)) size += piece.text.size();
  return size;
}

std::vector<std::string> MarkerSpeller::TextOnly(std::vector<std::string> texts) const {
  std::erase_if(texts, [&](const std::string& text) { return HasMarker(text); });
  return texts;
}

void MarkerSpeller::Keep(absl::string_view text, absl::string_view place) {
  if (table_ == nullptr) return;
  for (const MarkerTable::Piece& piece : table_->Cut(text))
    if (piece.marker != MarkerTable::kNone) Note(piece.marker, [&] { return std::string(place); });
}

void MarkerSpeller::Keep(const TokenSpec& tokens) {
  if (table_ == nullptr) return;
  const auto keep = [&](absl::string_view name) {
    if (const TokenId id = table_->Find(name); id != MarkerTable::kNone)
      Note(id, [&] { return tokens.place; });
  };
  for (const std::string& name : tokens.names) keep(name);
  for (const auto& [first, last] : tokens.ids) {
    const auto size = static_cast<std::uint32_t>(table_->vocabulary().size());
    if (first == last && first < size)
      keep(table_->vocabulary().TokenBytes(static_cast<TokenId>(first)));
  }
}

void MarkerSpeller::WarnOfMarkersIn(absl::string_view text, absl::string_view place,
                                    std::vector<Diagnostic>* warnings) const {
  if (table_ == nullptr) return;
  for (const MarkerTable::Piece& piece : table_->Cut(absl::StrReplaceAll(text, {{"\\", ""}}))) {
    if (piece.marker == MarkerTable::kNone) continue;
    const absl::string_view spelling = table_->vocabulary().TokenBytes(piece.marker);
    AddWarning({std::string(place),
                absl::StrCat("\"", spelling, "\" is a token of the vocabulary, ", piece.marker,
                             "; what is written here is the text, in other tokens")},
               warnings);
    return;
  }
}

void MarkerSpeller::Note(TokenId marker, absl::FunctionRef<std::string()> place) {
  if (!kept_.contains(marker)) kept_.emplace(marker, place());
}

void MarkerSpeller::Finish(ReadResult* result) const {
  for (const auto& [marker, place] : kept_) {
    result->markers.push_back(marker);
    AddWarning({place, absl::StrCat("\"", table_->vocabulary().TokenBytes(marker),
                                    "\" is the token ", marker, ", and text nowhere")},
               &result->bounds);
  }
}

}  // namespace maskd
