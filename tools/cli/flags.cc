#include "tools/cli/flags.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

namespace maskd::cli {
namespace {

absl::Status Wrong(absl::string_view flag, absl::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat("--", flag, ": ", message));
}

// How many characters are put in, left out or changed on the way from `a` to `b`.
std::size_t Distance(absl::string_view a, absl::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

absl::string_view Nearest(absl::string_view word, std::span<const absl::string_view> known) {
  constexpr std::size_t kPart = 3;  // a third of the word may be wrong
  absl::string_view nearest;
  std::size_t least = std::max<std::size_t>(word.size() / kPart, 1) + 1;
  for (const absl::string_view one : known) {
    const std::size_t distance = Distance(word, one);
    if (distance >= least) continue;
    least = distance;
    nearest = one;
  }
  return nearest;
}

absl::StatusOr<Flags> Flags::Parse(std::vector<Flag> known, std::span<const std::string> words) {
  Flags flags;
  flags.known_ = std::move(known);
  for (const Flag& flag : flags.known_)
    flags.values_[std::string(flag.name)] = std::string(flag.default_value);
  while (!words.empty()) {
    const std::string& word = words.front();
    words = words.subspan(1);
    if (word == "--") {
      flags.arguments_.insert(flags.arguments_.end(), words.begin(), words.end());
      break;
    }
    if (word.size() > 1 && word[0] == '-' && word[1] != '-') {
      return absl::InvalidArgumentError(
          absl::StrCat(word, ": a flag begins with two dashes; --help lists the flags"));
    }
    if (!absl::StartsWith(word, "--")) {
      flags.arguments_.push_back(word);
      continue;
    }
    if (absl::Status status = flags.Set(word, words); !status.ok()) return status;
  }
  return flags;
}

absl::Status Flags::Set(absl::string_view word, std::span<const std::string>& rest) {
  absl::ConsumePrefix(&word, "--");
  const std::size_t equals = word.find('=');
  const absl::string_view name = word.substr(0, equals);
  const auto flag = std::ranges::find(known_, name, &Flag::name);
  if (flag == known_.end()) return Wrong(name, UnknownText(name));
  if (given_.contains(name)) return Wrong(name, "is given twice");
  std::string value;
  if (equals != absl::string_view::npos) {
    if (flag->shape.empty()) return Wrong(name, "takes no value");
    value = std::string(word.substr(equals + 1));
  } else if (!flag->shape.empty()) {
    if (rest.empty()) return Wrong(name, absl::StrCat("needs a value, ", flag->shape));
    if (absl::StartsWith(rest.front(), "--")) {
      return Wrong(name, absl::StrCat("needs a value, ", flag->shape, "; if that is ", rest.front(),
                                      ", say --", name, "=", rest.front()));
    }
    value = rest.front();
    rest = rest.subspan(1);
  }
  values_[std::string(name)] = std::move(value);
  given_[std::string(name)] = true;
  return absl::OkStatus();
}

std::string Flags::UnknownText(absl::string_view name) const {
  std::vector<absl::string_view> names;
  for (const Flag& flag : known_) names.push_back(flag.name);
  const absl::string_view nearest = Nearest(name, names);
  return absl::StrCat("there is no such flag; ", nearest.empty()
                                                     ? "--help lists them"
                                                     : absl::StrCat("is --", nearest, " meant?"));
}

const std::string& Flags::Get(absl::string_view name) const { return values_.at(name); }

absl::StatusOr<std::int64_t> Flags::GetNumber(absl::string_view name, std::int64_t min,
                                              std::int64_t max) const {
  std::int64_t number = 0;
  if (!absl::SimpleAtoi(Get(name), &number) || number < min || number > max)
    return Wrong(name, absl::StrCat("\"", Get(name), "\" is not a number from ", min, " to ", max));
  return number;
}

absl::StatusOr<int> Flags::GetChoice(absl::string_view name,
                                     std::span<const absl::string_view> values) const {
  const auto found = std::ranges::find(values, absl::string_view(Get(name)));
  if (found != values.end()) return static_cast<int>(found - values.begin());
  return Wrong(name, absl::StrCat("\"", Get(name), "\" is not one of ",
                                  absl::StrJoin(values.begin(), values.end(), ", ")));
}

std::string FlagHelp(std::span<const Flag> flags) {
  std::string text;
  for (const Flag& flag : flags) {
    const std::string left =
        flag.shape.empty() ? std::string(flag.name) : absl::StrCat(flag.name, "=", flag.shape);
    absl::StrAppend(&text, "  --", left, "\n        ", flag.help);
    if (!flag.default_value.empty()) absl::StrAppend(&text, " [", flag.default_value, "]");
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace maskd::cli
