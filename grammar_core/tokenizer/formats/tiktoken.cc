// Rank files: a line is a token's bytes in base64, a space, its id. Exact as it stands.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

#include "grammar_core/base/error.h"
#include "grammar_core/tokenizer/formats/format.h"
#include "grammar_core/tokenizer/formats/json_tree.h"
#include "grammar_core/tokenizer/formats/piece_bytes.h"
#include "grammar_core/tokenizer/source_file.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {
namespace {

// Ten digits hold every id there can be, and no more can overflow.
constexpr std::size_t kMaxRankDigits = 10;

struct RankLine {
  std::string bytes;
  std::int64_t rank = 0;
};

bool IsRank(absl::string_view text) {
  return !text.empty() && text.size() <= kMaxRankDigits &&
         text.find_first_not_of("0123456789") == absl::string_view::npos;
}

// Errors: the message alone, with the column as its place.
absl::StatusOr<RankLine> ParseLine(absl::string_view line, absl::string_view* rank_text) {
  const std::size_t space = line.find(' ');
  if (space == absl::string_view::npos) return absl::InvalidArgumentError("not \"BASE64 RANK\"");
  const absl::string_view base64 = line.substr(0, space);
  std::optional<std::string> bytes = FromBase64(base64);
  if (!bytes.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", Shortened(absl::CHexEscape(base64)), "\" is not base64"));
  }
  RankLine parsed;
  parsed.bytes = *std::move(bytes);
  *rank_text = line.substr(space + 1);
  if (!IsRank(*rank_text) || !absl::SimpleAtoi(*rank_text, &parsed.rank)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", Shortened(absl::CHexEscape(*rank_text)), "\" is not a rank"));
  }
  return parsed;
}

// The first line, without its end.
absl::string_view FirstLine(absl::string_view content) {
  return absl::StripSuffix(content.substr(0, content.find('\n')), "\r");
}

// Reads STEM.special.json's object of spellings and ids.
absl::Status PutSpecial(const nlohmann::json& special, RawVocabulary* raw) {
  const FieldPath path = FieldPath().Child("special");
  if (!special.is_object())
    return InvalidTokenizer(path.str(), "not an object of spellings and ids");
  for (const auto& [text, id] : special.items()) {
    const std::string place = path.Child(Shortened(text)).str();
    if (!id.is_number_unsigned() || text.empty())
      return InvalidTokenizer(place, "not a spelling with an id");
    if (absl::Status put = PutToken(place, WholeNumber(id), {text, true}, raw); !put.ok())
      return put;
  }
  return absl::OkStatus();
}

absl::Status PutStops(const nlohmann::json& stops, RawVocabulary* raw) {
  const FieldPath path = FieldPath().Child("stop");
  if (!stops.is_array()) return InvalidTokenizer(path.str(), "not a list of spellings");
  for (std::size_t i = 0; i < stops.size(); ++i) {
    const TokenId id = stops[i].is_string()
                           ? FindNamed(stops[i].get_ref<const std::string&>(), *raw)
                           : TokenId{-1};
    if (id < 0) {
      return InvalidTokenizer(path.Child(static_cast<std::int64_t>(i)).str(),
                              "not the spelling of a token");
    }
    raw->stop_ids.push_back(id);
  }
  return absl::OkStatus();
}

}  // namespace

bool LooksLikeTiktoken(absl::string_view head) {
  absl::string_view rank;
  return ParseLine(FirstLine(head), &rank).ok();
}

absl::StatusOr<RawVocabulary> ReadTiktoken(absl::string_view content) {
  RawVocabulary raw;
  absl::flat_hash_set<std::string> seen;
  for (std::size_t at = 0; at < content.size();) {
    const absl::string_view line = FirstLine(content.substr(at));
    const std::size_t start = at;
    const std::size_t line_end = content.find('\n', at);
    at = line_end == absl::string_view::npos ? content.size() : line_end + 1;
    if (line.empty()) continue;
    absl::string_view rank_text = line;
    absl::StatusOr<RankLine> parsed = ParseLine(line, &rank_text);
    const auto column = static_cast<std::size_t>(rank_text.data() - line.data());
    if (!parsed.ok())
      return InvalidTokenizer(LineColumn(content, start + column), parsed.status().message());
    if (!seen.insert(parsed->bytes).second)
      return InvalidTokenizer(LineColumn(content, start), "an earlier line has the same bytes");
    absl::Status put = PutToken("", parsed->rank, {std::move(parsed->bytes), false}, &raw);
    if (!put.ok()) return InvalidTokenizer(LineColumn(content, start + column), put.message());
  }
  return raw;
}

absl::Status ReadBesideTiktoken(const std::string& path, RawVocabulary* raw) {
  const std::size_t slash = path.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t dot = path.rfind('.');
  const bool has_dot = dot != std::string::npos && dot > name;
  const std::string beside =
      absl::StrCat(path.substr(0, has_dot ? dot : path.size()), ".special.json");
  const absl::StatusOr<nlohmann::json> facts = ReadJsonFile(beside);
  if (absl::IsNotFound(facts.status())) return absl::OkStatus();
  if (!facts.ok()) return facts.status();
  absl::Status read = absl::OkStatus();
  if (const nlohmann::json* special = FindField(*facts, "special"); special != nullptr)
    read = PutSpecial(*special, raw);
  if (const nlohmann::json* stops = FindField(*facts, "stop"); read.ok() && stops != nullptr)
    read = PutStops(*stops, raw);
  return read.ok() ? read : InFile(beside, read);
}

}  // namespace maskd
