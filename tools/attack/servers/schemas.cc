// Names that collide: FNV-1a takes a byte in by h = (h ^ byte) * prime, which can be undone. So the
// values that heads of three letters reach are kept in a table, and five letters are taken back
// from a value at the end: each time the table has what is left, head and tail are a text that
// leads from one value to the other. Some hundreds of them, and as many that lead on from there,
// make names of two parts by the hundred thousand.
#include "tools/attack/servers/schemas.h"

#include <array>
#include <cstddef>
#include <random>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace maskd::attack {
namespace {

constexpr std::uint32_t kBasis = 2'166'136'261;
constexpr std::uint32_t kPrime = 16'777'619;
constexpr std::uint32_t kInverse = 899'433'627;  // kPrime * kInverse = 1, modulo 2^32
static_assert(kPrime * kInverse == 1);
constexpr std::uint32_t kMiddle = 0x12345678;
constexpr std::uint32_t kEnd = 0x23456789;
constexpr absl::string_view kLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
constexpr int kHeadLetters = 3;
constexpr int kTailLetters = 5;
constexpr std::uint64_t kHeads = 1 << 18;

unsigned char Letter(std::uint64_t number, int i) {
  return static_cast<unsigned char>(kLetters[(number >> (6 * i)) % kLetters.size()]);
}

// The `count` letters that `number` stands for.
std::string Letters(std::uint64_t number, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text.push_back(static_cast<char>(Letter(number, i)));
  return text;
}

// Texts of eight letters that all lead from one value to the other.
std::vector<std::string> TextsBetween(std::uint32_t from, std::uint32_t to, std::size_t count) {
  absl::flat_hash_map<std::uint32_t, std::uint64_t> heads;
  heads.reserve(kHeads);
  for (std::uint64_t head = 0; head < kHeads; ++head) {
    std::uint32_t value = from;
    for (int i = 0; i < kHeadLetters; ++i) value = (value ^ Letter(head, i)) * kPrime;
    heads[value] = head;
  }
  std::vector<std::string> texts;
  for (std::uint64_t tail = 0; texts.size() < count; ++tail) {
    std::uint32_t value = to;
    for (int i = kTailLetters; i-- > 0;) value = (value * kInverse) ^ Letter(tail, i);
    const auto head = heads.find(value);
    if (head == heads.end()) continue;
    texts.push_back(Letters(head->second, kHeadLetters) + Letters(tail, kTailLetters));
  }
  return texts;
}

std::vector<std::string> CollidingNames(std::size_t count) {
  std::size_t side = 1;
  while (side * side < count) ++side;
  const std::vector<std::string> firsts = TextsBetween(kBasis, kMiddle, side);
  const std::vector<std::string> seconds = TextsBetween(kMiddle, kEnd, side);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(firsts[i / side] + seconds[i % side]);
  return names;
}

std::string ObjectOf(const std::vector<std::string>& names) {
  return absl::StrCat(R"({"properties":{)",
                      absl::StrJoin(names, ",",
                                    [](std::string* out, const std::string& name) {
                                      absl::StrAppend(out, "\"", name, "\":true");
                                    }),
                      "}}");
}

// One of many patterns that all overlap, in pairs.
std::string SlowSchema(absl::string_view tag) {
  constexpr int kPatterns = 400;
  std::vector<std::string> patterns;
  for (int i = 0; i < kPatterns; ++i)
    patterns.push_back(absl::StrCat(R"({"type":"string","pattern":"^[a-z]*x)", i, R"([a-z]*$"})"));
  return absl::StrCat(R"({"title":")", tag, R"(","oneOf":[)", absl::StrJoin(patterns, ","), "]}");
}

// Each of many values is to be none of them.
std::string PoisonSchema(absl::string_view tag) {
  constexpr int kValues = 3000;
  std::vector<std::string> values;
  for (int i = 0; i < kValues; ++i) values.push_back(absl::StrCat("\"", tag, "_", i, "\""));
  return absl::StrCat(R"({"allOf":[{"enum":[)", absl::StrJoin(values, ","),
                      R"(]},{"type":"string","pattern":"^nothing$"}]})");
}

std::string SmallSchema(absl::string_view tag) {
  return absl::StrCat(R"({"type":"object","properties":{")", tag,
                      R"(":{"type":"integer"}},"additionalProperties":false})");
}

}  // namespace

Schemas::Schemas() : run_((std::uint64_t{std::random_device()()} << 32) ^ std::random_device()()) {}

std::string Schemas::FreshName() { return absl::StrCat("u", run_, "_", ++next_); }

absl::StatusOr<std::string> Schemas::Text(const std::string& schema) {
  if (schema.empty() || schema.front() != '@') return schema;
  const std::string same = absl::StrCat("c", run_, "_", case_number_);
  if (schema == "@slow") return SlowSchema(same);
  if (schema == "@slow_unique") return SlowSchema(FreshName());
  if (schema == "@same") return SmallSchema(same);
  if (schema == "@unique_small") return SmallSchema(FreshName());
  if (schema == "@poison") return PoisonSchema(same);
  if (schema == "@huge_invalid_1MB") return std::string(1 << 20, '[');
  absl::string_view count = schema;
  std::size_t names = 0;
  if (absl::ConsumePrefix(&count, "@colliding_keys_") && absl::SimpleAtoi(count, &names))
    return ObjectOf(CollidingNames(names));
  was_unknown_ = true;
  return absl::UnimplementedError(absl::StrCat("schema ", schema));
}

}  // namespace maskd::attack
