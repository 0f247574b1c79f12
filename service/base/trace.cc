// "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01": version, trace, span, flags. A later
// version may have more behind another dash; "ff" is none. Only digits go on from here, so a log
// line has nothing in it that a caller could choose freely.
#include "service/base/trace.h"

#include <algorithm>
#include <cstddef>

namespace maskd::service {
namespace {

constexpr std::size_t kVersionAt = 0;
constexpr std::size_t kTraceAt = 3;
constexpr std::size_t kSpanAt = 36;
constexpr std::size_t kFlagsAt = 53;
constexpr std::size_t kByteDigits = 2;
constexpr std::size_t kTraceDigits = 32;
constexpr std::size_t kSpanDigits = 16;
constexpr std::size_t kLength = 55;
// Of a later version: more than that is nobody's header.
constexpr std::size_t kMaxLength = 256;

bool IsHex(absl::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsId(absl::string_view text) {
  return IsHex(text) && std::ranges::any_of(text, [](char c) { return c != '0'; });
}

bool HasForm(absl::string_view text) {
  if (text.size() < kLength || text.size() > kMaxLength) return false;
  const absl::string_view version = text.substr(kVersionAt, kByteDigits);
  if (!IsHex(version) || version == "ff") return false;
  if (text.size() > kLength && (version == "00" || text[kLength] != '-')) return false;
  for (const std::size_t at : {kTraceAt, kSpanAt, kFlagsAt})
    if (text[at - 1] != '-') return false;
  return IsHex(text.substr(kFlagsAt, kByteDigits));
}

}  // namespace

Trace ReadTraceParent(absl::string_view traceparent) {
  if (!HasForm(traceparent)) return {};
  const absl::string_view trace = traceparent.substr(kTraceAt, kTraceDigits);
  const absl::string_view span = traceparent.substr(kSpanAt, kSpanDigits);
  if (!IsId(trace) || !IsId(span)) return {};
  return {std::string(trace), std::string(span)};
}

}  // namespace maskd::service
