// The tag that a request becomes is followed, and its formats are told by what of the request they
// are made of: those of a tool, those within the response format, and the family's.
//
// Invariant  no pointer into the tag is told: the caller has never seen it.
#include "grammar_core/frontend/places/chat_places.h"

#include <cassert>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/chat/chat_request.h"
#include "grammar_core/frontend/chat/chat_tag.h"
#include "grammar_core/frontend/places/tag_places.h"
#include "grammar_core/frontend/places/text_rules.h"

namespace maskd {
namespace {

class ChatPlaces {
 public:
  ChatPlaces(const ChatRequest& request, const ChatTagText& tag) : request_(request), tag_(tag) {}

  // Looks for the format that is the response format's.
  void FindResponseFormat(const std::vector<TagFormat>& formats, const std::string& text) {
    for (const TagFormat& format : formats) {
      if (format.tool != nullptr || format.at.Compact() != text) continue;
      response_ = format.at.Pointer();
      return;
    }
  }

  [[nodiscard]] std::string PlaceOf(const TagFormat& format, absl::string_view key) const {
    if (format.tool != nullptr) return InTool(format, key);
    const std::string pointer = format.at.Pointer();
    const bool is_within =
        response_.has_value() && absl::StartsWith(pointer, *response_) &&
        (pointer.size() == response_->size() || pointer[response_->size()] == '/');
    if (!is_within) return "/family";
    return InResponseFormat(pointer.substr(response_->size()), key);
  }

 private:
  [[nodiscard]] std::string InTool(const TagFormat& format, absl::string_view key) const {
    const auto index = static_cast<std::size_t>(format.tool - tag_.tools.data());
    assert(index < request_.tools.size() && "a tag's tools are the request's");
    const ChatTool& tool = request_.tools[index];
    if (key == "json_schema")
      return tool.schema.has_value() ? tool.schema->Pointer() : tool.at.Pointer();
    const std::optional<JsonValue> function = tool.at.Find("function");
    const JsonValue named = function.has_value() ? *function : tool.at;
    return named.Find("name").has_value() ? absl::StrCat(named.Pointer(), "/name")
                                          : tool.at.Pointer();
  }

  [[nodiscard]] std::string InResponseFormat(absl::string_view within,
                                             absl::string_view key) const {
    assert(request_.response_format.has_value());
    const JsonValue& at = *request_.response_format;
    const absl::string_view type = at.FindText("type");
    if (type == "json_schema" && key == "json_schema")
      return absl::StrCat(at.Pointer(), "/json_schema/schema");
    if (type == "structural_tag")
      return absl::StrCat(at.Pointer(), "/format", within, key.empty() ? "" : "/", key);
    if (type == "regex") return absl::StrCat(at.Pointer(), "/pattern");
    return absl::StrCat(at.Pointer(), "/type");
  }

  const ChatRequest& request_;
  const ChatTagText& tag_;
  std::optional<std::string> response_;  // its pointer in the tag
};

}  // namespace

std::optional<PlaceNetwork::RuleNo> AddChat(const JsonValue& root, PlaceNetwork& network) {
  const absl::StatusOr<ChatRequest> request = ReadChatRequest(root);
  if (!request.ok()) return std::nullopt;
  const absl::StatusOr<ChatTagText> tag = MakeChatTagOfEachTool(*request);
  if (!tag.ok()) return std::nullopt;
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(tag->text, Limits());
  if (!document.ok()) return std::nullopt;
  Budget budget({.work = kMostPlacesWork});
  const auto formats = ReadFormats(document->root(), budget, &tag->tools);
  if (!formats.ok()) return std::nullopt;
  ChatPlaces places(*request, *tag);
  const auto format = ResponseFormatTag(*request);
  if (format.ok() && format->has_value()) places.FindResponseFormat(*formats, **format);
  const auto place_of = [&](const TagFormat& each, absl::string_view key) {
    return places.PlaceOf(each, key);
  };
  return AddFormats(*formats, place_of, network);
}

}  // namespace maskd
