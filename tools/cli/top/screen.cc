// One function for each part of the screen, each from the server's answer to text. A stream's share
// is the time of its steps between two looks, so it needs the look before.
//
// Invariant  streams that are gone are forgotten at the next look.
// Cost       linear in what is shown.
#include "tools/cli/top/screen.h"

#include <array>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

#include "tools/cli/terminal.h"

namespace maskd::cli {
namespace {

constexpr double kPercent = 100;
// Of a limit: from where on its line is coloured.
constexpr double kNear = 0.9;
constexpr std::size_t kShownIdDigits = 12;

double Share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

bool CountsBytes(absl::string_view limit) { return absl::EndsWith(limit, "_bytes"); }

std::string AmountText(absl::string_view limit, std::int64_t amount) {
  return CountsBytes(limit) ? BytesText(amount) : absl::StrCat(amount);
}

std::string Heading(absl::string_view text) {
  return absl::StrCat("\n", Painted(text, Tone::kFaint), "\n");
}

const char* MarkText(v1::MemoryMark mark) {
  switch (mark) {
    case v1::MEMORY_MARK_LOW:
      return ", above the low mark";
    case v1::MEMORY_MARK_HIGH:
      return ", above the high mark";
    case v1::MEMORY_MARK_HEAP:
      return ", the system refuses memory";
    default:
      return "";
  }
}

std::string HeadText(const ServerLook& look) {
  const v1::ServerMemory& memory = look.server.memory();
  const absl::Duration up = look.at - absl::FromUnixMillis(look.server.start_time_ms());
  const std::string of = absl::StrFormat(
      "memory %s of %s (%.0f %%)%s", BytesText(memory.resident_bytes()),
      BytesText(memory.limit_bytes()),
      kPercent * Share(memory.resident_bytes(), memory.limit_bytes()), MarkText(memory.mark()));
  const bool is_short = memory.mark() != v1::MEMORY_MARK_UNSPECIFIED;
  return absl::StrFormat("maskd %s, process %d, up %s, %s\n", look.server.version(),
                         look.server.process_id(), TimeText(absl::ToInt64Microseconds(up)),
                         is_short ? Painted(of, Tone::kWarning) : of);
}

std::string LimitsText(const v1::GetServerResponse& server) {
  std::string text = Heading(absl::StrFormat("%-24s %12s %12s", "LIMIT", "USED", "MOST"));
  for (const v1::ServerLimit& limit : server.limits()) {
    const std::string line = absl::StrFormat(
        "%-24s %12s %12s", limit.name(), AmountText(limit.name(), limit.used()),
        limit.has_most() ? AmountText(limit.name(), limit.most()) : std::string("-"));
    const bool is_near =
        limit.has_most() && limit.most() > 0 && Share(limit.used(), limit.most()) >= kNear;
    absl::StrAppend(&text, is_near ? Painted(line, Tone::kWarning) : line, "\n");
  }
  return text;
}

std::string MemoryText(const v1::ServerMemory& memory) {
  std::string text = Heading("MEMORY");
  std::string line;
  for (const v1::MemoryPart& part : memory.parts()) {
    if (part.bytes() == 0) continue;
    absl::StrAppend(&line, line.empty() ? "" : ", ", part.name(), " ", BytesText(part.bytes()));
  }
  return absl::StrCat(text, line, "\n");
}

std::string VocabulariesText(const v1::GetServerResponse& server) {
  std::string text = Heading(absl::StrFormat("%-24s %8s %12s %12s %10s  %s", "VOCABULARY", "TOKENS",
                                             "BYTES", "MASK STORE", "MASKS", "HASH"));
  for (const v1::LoadedVocabulary& each : server.vocabularies()) {
    absl::StrAppend(
        &text, absl::StrFormat("%-24s %8d %12s %12s %10d  %s\n", each.name(), each.vocab_size(),
                               BytesText(each.held_bytes()), BytesText(each.mask_store_bytes()),
                               each.masks(), each.hash().substr(0, kShownIdDigits)));
  }
  return text;
}

std::string TransportText(const v1::OpenStream& stream) {
  if (!stream.greeted()) return "no hello";
  switch (stream.transport()) {
    case v1::STREAM_TRANSPORT_GRPC:
      return "grpc";
    case v1::STREAM_TRANSPORT_SHARED_MEMORY:
      return "memory";
    default:
      return "-";
  }
}

// "12" of rows in use, with what is beside: "12 +3c 1f".
std::string RowsText(const v1::OpenStreamRows& rows) {
  std::string text = absl::StrCat(rows.active() + rows.free());
  const auto add = [&text](std::int64_t count, const char* letter) {
    if (count > 0) absl::StrAppend(&text, " ", count, letter);
  };
  add(rows.compiling(), "c");
  add(rows.finished(), "e");
  add(rows.failed(), "f");
  return text;
}

std::string StreamsText(const ServerLook& look, const BusyShares& shares) {
  std::string text = Heading(absl::StrFormat(
      "%6s %-20s %-14s %-8s %8s %8s %-14s %10s %9s %6s %10s %10s", "STREAM", "CALLER", "TENANT",
      "VIA", "AGE", "IDLE", "ROWS", "TOKENS", "STEPS", "BUSY", "RECEIVED", "SENT"));
  for (const v1::OpenStream& each : look.streams.streams()) {
    const std::string idle = each.has_in_step_us() ? absl::StrCat("*", TimeText(each.in_step_us()))
                                                   : TimeText(each.idle_us());
    absl::StrAppend(
        &text, absl::StrFormat("%6d %-20.20s %-14.14s %-8s %8s %8s %-14s %10d %9d %5.1f%% %10s "
                               "%10s\n",
                               each.id(), each.identity(), each.tenant(), TransportText(each),
                               TimeText(each.age_us()), idle, RowsText(each.rows()), each.tokens(),
                               each.steps(), shares.Of(each.id()), BytesText(each.received_bytes()),
                               BytesText(each.sent_bytes())));
  }
  return absl::StrCat(text, look.streams.streams_size(), " of ", look.streams.total(),
                      " streams; rows: c compile, e have ended, f have failed; * in a step\n");
}

std::string GrammarsText(const v1::ListGrammarsResponse& grammars) {
  std::string text =
      Heading(absl::StrFormat("%-12s %-15s %10s %10s %10s %7s %9s %9s %7s", "GRAMMAR", "KIND",
                              "SOURCE", "HELD", "MASKS", "ROWS", "HITS", "COMPILE", "RENEWED"));
  for (const v1::HeldGrammar& each : grammars.grammars()) {
    absl::StrAppend(&text,
                    absl::StrFormat("%-12s %-15s %10s %10s %10s %7d %9d %9s %7d\n",
                                    each.grammar_id().substr(0, kShownIdDigits), each.kind(),
                                    BytesText(each.source_bytes()), BytesText(each.held_bytes()),
                                    BytesText(each.mask_bytes()), each.rows(), each.hits(),
                                    TimeText(each.compile_us()), each.renewals()));
  }
  return absl::StrCat(text, grammars.grammars_size(), " of ", grammars.total(), " grammars\n");
}

}  // namespace

void BusyShares::Take(const ServerLook& look) {
  const std::int64_t between = absl::ToInt64Microseconds(look.at - at_);
  std::map<std::uint64_t, std::int64_t> step_us;
  shares_.clear();
  for (const v1::OpenStream& stream : look.streams.streams()) {
    const auto before = step_us_.find(stream.id());
    shares_[stream.id()] = before == step_us_.end()
                               ? kPercent * Share(stream.step_us(), stream.age_us())
                               : kPercent * Share(stream.step_us() - before->second, between);
    step_us[stream.id()] = stream.step_us();
  }
  step_us_.swap(step_us);
  at_ = look.at;
}

double BusyShares::Of(std::uint64_t stream) const {
  const auto found = shares_.find(stream);
  return found == shares_.end() ? 0 : found->second;
}

std::string ScreenText(const ServerLook& look, const BusyShares& shares) {
  return absl::StrCat(HeadText(look), LimitsText(look.server), MemoryText(look.server.memory()),
                      VocabulariesText(look.server), StreamsText(look, shares),
                      GrammarsText(look.grammars));
}

std::string BytesText(std::int64_t bytes) {
  constexpr double kUnit = 1024;
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < static_cast<std::int64_t>(kUnit)) return absl::StrCat(bytes, " B");
  double value = static_cast<double>(bytes) / kUnit;
  std::size_t unit = 0;
  for (; value >= kUnit && unit + 1 < kUnits.size(); ++unit) value /= kUnit;
  return absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

std::string TimeText(std::int64_t microseconds) {
  struct Unit {
    std::int64_t us;
    const char* name;
  };
  constexpr std::int64_t kSecond = 1'000'000;
  constexpr std::array kUnits = {Unit{86'400 * kSecond, "d"}, Unit{3'600 * kSecond, "h"},
                                 Unit{60 * kSecond, "min"}, Unit{kSecond, "s"}, Unit{1'000, "ms"}};
  for (const Unit& unit : kUnits)
    if (microseconds >= unit.us)
      return absl::StrFormat("%.1f %s", Share(microseconds, unit.us), unit.name);
  return absl::StrCat(microseconds, " us");
}

}  // namespace maskd::cli
