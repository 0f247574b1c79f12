// The places of a request for a chat completion: its tools, and its response format. What the
// family of models writes around them is said to stand at "/family".
//
// Errors   none: what cannot be read has no places.
// Threads  no state.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_PLACES_CHAT_PLACES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_PLACES_CHAT_PLACES_H_

#include <optional>

#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/places/place_network.h"

namespace maskd {

// `root` is the text of a grammar of kind "chat".
std::optional<PlaceNetwork::RuleNo> AddChat(const JsonValue& root, PlaceNetwork& network);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_PLACES_CHAT_PLACES_H_
