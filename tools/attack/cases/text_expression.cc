// One walk over the expression, which appends what each part stands for. The variables of each
// "each" that is open lie on a stack, and literals are read with their values in place.
//
// Invariant  what is no expression is refused, and nothing of it is read as another shape.
// Cost       the bytes it stands for, and a copy of each text that is repeated.
#include "tools/attack/cases/text_expression.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/utf8.h"

namespace maskd::attack {
namespace {

using Json = nlohmann::json;

// A variable of an "each" and its value now.
struct Variable {
  std::string name;
  std::int64_t value;
};

// `text` with ${name}, ${name+K} and ${name-K} replaced for each variable, the inner ones last.
std::string Substituted(absl::string_view text, const std::vector<Variable>& variables) {
  std::string out(text);
  for (const Variable& variable : variables) {
    const std::string opening = absl::StrCat("${", variable.name);
    for (std::size_t at = 0; (at = out.find(opening, at)) != std::string::npos;) {
      const std::size_t body = at + opening.size();
      const std::size_t end = out.find('}', body);
      if (end == std::string::npos) break;
      std::int64_t offset = 0;
      const absl::string_view sum(out.data() + body, end - body);
      if (!sum.empty() && !absl::SimpleAtoi(sum, &offset)) {
        at = end;
        continue;
      }
      const std::string number = absl::StrCat(variable.value + offset);
      out.replace(at, end + 1 - at, number);
      at += number.size();
    }
  }
  return out;
}

class Expander {
 public:
  absl::Status Append(const Json& node, std::string* out) {
    if (node.is_string()) {
      absl::StrAppend(out, Substituted(node.get<std::string>(), variables_));
      return absl::OkStatus();
    }
    if (node.is_array()) return AppendAll(node, out);
    if (node.contains("hex")) return AppendHex(node["hex"].get<std::string>(), out);
    if (node.contains("repeat")) return AppendRepeat(node, out);
    if (node.contains("each")) return AppendEach(node, out);
    if (node.contains("random")) return AppendRandom(node, out);
    return absl::InvalidArgumentError(absl::StrCat(node.dump(), ": not a text expression"));
  }

 private:
  absl::Status AppendAll(const Json& items, std::string* out) {
    for (const Json& item : items)
      if (absl::Status status = Append(item, out); !status.ok()) return status;
    return absl::OkStatus();
  }

  static absl::Status AppendHex(const std::string& digits, std::string* out) {
    const bool are_pairs = digits.size() % 2 == 0 && std::ranges::all_of(digits, [](char digit) {
                             return absl::ascii_isxdigit(static_cast<unsigned char>(digit));
                           });
    if (!are_pairs) return absl::InvalidArgumentError(absl::StrCat(digits, ": not hexadecimal"));
    absl::StrAppend(out, absl::HexStringToBytes(digits));
    return absl::OkStatus();
  }

  // A number, or a literal that is one once its variables are replaced.
  absl::StatusOr<std::int64_t> Number(const Json& node) const {
    if (node.is_number_integer()) return node.get<std::int64_t>();
    std::int64_t number = 0;
    if (!node.is_string() ||
        !absl::SimpleAtoi(Substituted(node.get<std::string>(), variables_), &number)) {
      return absl::InvalidArgumentError(absl::StrCat(node.dump(), ": not a number"));
    }
    return number;
  }

  absl::Status AppendRepeat(const Json& node, std::string* out) {
    const absl::StatusOr<std::int64_t> count = Number(node.at("n"));
    if (!count.ok()) return count.status();
    std::string once;
    if (absl::Status status = Append(node["repeat"], &once); !status.ok()) return status;
    for (std::int64_t i = 0; i < *count; ++i) *out += once;
    return absl::OkStatus();
  }

  absl::Status AppendEach(const Json& node, std::string* out) {
    const absl::StatusOr<std::int64_t> from = Number(node.value("from", Json(0)));
    const absl::StatusOr<std::int64_t> to = Number(node.at("to"));
    if (!from.ok()) return from.status();
    if (!to.ok()) return to.status();
    std::string separator;
    if (absl::Status status = Append(node.value("sep", Json("")), &separator); !status.ok())
      return status;
    variables_.push_back({node.value("var", "i"), *from});
    for (std::int64_t i = *from; i < *to; ++i) {
      variables_.back().value = i;
      if (i > *from) *out += separator;
      if (absl::Status status = Append(node["each"], out); !status.ok()) return status;
    }
    variables_.pop_back();
    return absl::OkStatus();
  }

  absl::Status AppendRandom(const Json& node, std::string* out) const {
    const absl::StatusOr<std::int64_t> count = Number(node.at("n"));
    if (!count.ok()) return count.status();
    const auto text = node["random"].get<std::string>();
    std::vector<absl::string_view> letters;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t start = at;
      if (!DecodeUtf8(text, &at).has_value()) break;
      letters.push_back(absl::string_view(text).substr(start, at - start));
    }
    if (letters.empty()) return absl::InvalidArgumentError("random: no alphabet");
    auto state = node.value("seed", std::uint64_t{1});
    for (std::int64_t i = 0; i < *count; ++i)
      absl::StrAppend(out, letters[SplitMix(&state) % letters.size()]);
    return absl::OkStatus();
  }

  // Sebastiano Vigna's splitmix64, which the attack set's README names.
  static std::uint64_t SplitMix(std::uint64_t* state) {
    std::uint64_t z = (*state += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  std::vector<Variable> variables_;  // of the "each" that are open, outermost first
};

}  // namespace

absl::StatusOr<std::string> ExpandText(const nlohmann::json& expression) {
  std::string out;
  try {
    if (absl::Status status = Expander().Append(expression, &out); !status.ok()) return status;
  } catch (const Json::exception& error) {  // a field is missing, or of another type
    return absl::InvalidArgumentError(error.what());
  }
  return out;
}

}  // namespace maskd::attack
