// Walks through strings that random patterns, their complements and a tight length bound at once:
// what steps of an intersection of many conditions cost, and whether they are right.
//
//   condition_walks --vocab llama3 --schemas 60 --seed 1
//
// At every place the mask and a shortest completion are made. Of some tokens the mask must say what
// a fork that takes them says, and near the end a letter must be allowed exactly if some text goes
// on with it, found by trying all texts on RE2. An end must meet every condition, by RE2. A schema
// may be refused when it is compiled, but no step may fail.
//
// Output   a line for each schema that failed, and a line of totals with the slowest step.
// Exit     0; 1 a step failed or was wrong; 2 the flags make no sense; 77 no vocabulary is there.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include <nlohmann/json.hpp>
#include <re2/re2.h>
#include <time.h>

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/loader.h"
#include "tests/oracle/maskbench_cases.h"

ABSL_FLAG(std::string, vocab, "bytes", "llama3, or bytes: the embedded vocabulary.");
ABSL_FLAG(int, schemas, 60, "Schemas.");
ABSL_FLAG(int, walks, 2, "Walks of each schema.");
ABSL_FLAG(std::uint64_t, seed, 1, "Seed of the first schema; each further one has the next.");
ABSL_FLAG(int, min_conditions, 2, "Patterns of a schema, at least.");
ABSL_FLAG(int, max_conditions, 9, "Patterns of a schema, at most.");
ABSL_FLAG(int, max_gap, 8, "Characters that a pattern such as a.{3}b counts, at most.");
ABSL_FLAG(bool, counts, false,
          "Adds a pattern of counts within counts to each schema; texts are longer then.");
ABSL_FLAG(bool, long_texts, false, "Each text has at least half the length that it may have.");
ABSL_FLAG(std::string, schema, "",
          "A schema as --print_schemas shows it, to walk in place of random ones.");
ABSL_FLAG(bool, print_schemas, false, "A line for each schema: its seed, source and slowest step.");

namespace maskd {
namespace {

constexpr int kUsage = 2;
constexpr int kSkipped = 77;
constexpr absl::string_view kLetters = "abcdefz";
// Texts of so many letters behind a place are all tried.
constexpr std::size_t kTriedLetters = 3;
constexpr int kTriedTokens = 100;
constexpr int kCompletionBytes = 1 << 12;

using Random = std::mt19937_64;

int Draw(Random* random, int lo, int hi) {
  return std::uniform_int_distribution<int>(lo, hi)(*random);
}
std::string Letter(Random* random) { return std::string(1, kLetters[Draw(random, 0, 5)]); }

// That this thread has had.
absl::Duration ProcessorTime() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return absl::DurationFromTimespec(now);
}

struct Condition {
  std::string pattern;
  bool negated;
};
struct Conditions {
  std::vector<Condition> all;
  std::size_t min_length;
  std::size_t max_length;
};

// Of what is written together the last is drawn first: the order in which a call's arguments are
// made is the compiler's choice, and a seed means the same schema for each.
std::string RandomPattern(Random* random) {
  const int form = Draw(random, 0, 5);
  if (form < 3) {
    const std::string behind = Letter(random);
    const int gap = Draw(random, 1, absl::GetFlag(FLAGS_max_gap));
    return absl::StrCat(Letter(random), ".{", gap, "}", behind);
  }
  const bool is_at_end = form == 5 && Draw(random, 0, 1) != 0;
  std::array<std::string, 5> x;
  const std::size_t letters = form == 3 ? 5 : form == 4 ? 4 : 3;
  for (std::size_t i = letters; i-- > 0;) x[i] = Letter(random);
  if (form == 3) return absl::StrCat(x[0], x[1], "|", x[2], "[", x[3], x[4], "]");
  if (form == 4) return absl::StrCat("^(", x[0], x[1], "|", x[2], "|", x[3], "z?)*$");
  return absl::StrCat(x[0], "[^", x[1], "]*", x[2], is_at_end ? "$" : "");
}

Conditions RandomConditions(Random* random) {
  Conditions conditions;
  const int count =
      Draw(random, absl::GetFlag(FLAGS_min_conditions), absl::GetFlag(FLAGS_max_conditions));
  for (int i = 0; i < count; ++i)
    conditions.all.push_back({RandomPattern(random), Draw(random, 0, 2) == 0});
  conditions.max_length = static_cast<std::size_t>(Draw(random, 5, 24));
  if (absl::GetFlag(FLAGS_counts)) {
    const int runs = Draw(random, 8, 15);
    const std::string letter = Letter(random);
    const int longest = Draw(random, 20, 63);
    conditions.all.push_back(
        {absl::StrCat("^([a-z]{1,", longest, "}", letter, "){1,", runs, "}[a-z]*$"), false});
    conditions.max_length = static_cast<std::size_t>(Draw(random, 40, 255));
  }
  const bool is_long = Draw(random, 0, 3) == 0 || absl::GetFlag(FLAGS_long_texts);
  conditions.min_length = is_long ? conditions.max_length / 2 : 0;
  return conditions;
}

std::string SchemaOf(const Conditions& conditions) {
  nlohmann::json all = nlohmann::json::array();
  for (const Condition& condition : conditions.all) {
    const nlohmann::json pattern = {{"pattern", condition.pattern}};
    all.push_back(condition.negated ? nlohmann::json{{"not", pattern}} : pattern);
  }
  return nlohmann::json{{"type", "string"},
                        {"allOf", all},
                        {"minLength", conditions.min_length},
                        {"maxLength", conditions.max_length}}
      .dump();
}

// What SchemaOf() was made of. Nothing where the schema has another form.
std::optional<Conditions> ConditionsOf(const std::string& schema) {
  const nlohmann::json read = nlohmann::json::parse(schema, nullptr, /*allow_exceptions=*/false);
  if (!read.is_object()) return std::nullopt;
  Conditions conditions = {{}, read.value("minLength", 0U), read.value("maxLength", 0U)};
  for (const nlohmann::json& part : read.value("allOf", nlohmann::json::array())) {
    const bool negated = part.contains("not");
    const nlohmann::json& positive = negated ? part["not"] : part;
    conditions.all.push_back({positive.value("pattern", ""), negated});
  }
  return conditions;
}

// By RE2: which texts meet all conditions.
class Judge {
 public:
  explicit Judge(const Conditions& conditions) : conditions_(conditions) {
    for (const Condition& condition : conditions.all)
      patterns_.push_back(std::make_unique<RE2>(condition.pattern));
  }

  [[nodiscard]] bool Meets(const std::string& text) const {
    if (text.size() < conditions_.min_length || text.size() > conditions_.max_length) return false;
    for (std::size_t i = 0; i < patterns_.size(); ++i)
      if (RE2::PartialMatch(text, *patterns_[i]) == conditions_.all[i].negated) return false;
    return true;
  }

  // Whether some text begins with `text`. Tries all, of letters that stand for all characters.
  [[nodiscard]] bool HasTextFrom(const std::string& text) const {
    std::vector<std::string> open = {text};
    while (!open.empty()) {
      const std::string at = std::move(open.back());
      open.pop_back();
      if (Meets(at)) return true;
      if (at.size() >= conditions_.max_length) continue;
      for (const char letter : kLetters) open.push_back(at + letter);
    }
    return false;
  }

 private:
  const Conditions& conditions_;
  std::vector<std::unique_ptr<RE2>> patterns_;
};

struct Totals {
  int compiled = 0;
  int failed = 0;
  absl::Duration slowest;
};

class Walk {
 public:
  Walk(const std::shared_ptr<const CompiledGrammar>& grammar, const Conditions& conditions,
       const Judge& judge, Random* random)
      : matcher_(grammar), conditions_(conditions), judge_(judge), random_(*random) {}

  // To its end. Errors: what a step failed with; INTERNAL where it was wrong.
  absl::Status Run() {
    while (!matcher_.finished()) {
      const absl::Duration begun = ProcessorTime();
      const absl::StatusOr<MaskRef> mask = matcher_.Mask();
      slowest_ = std::max(slowest_, ProcessorTime() - begun);
      if (!mask.ok()) return At(mask.status());
      if (absl::Status status = CheckTokens(**mask); !status.ok()) return status;
      if (absl::Status status = CheckLetters(**mask); !status.ok()) return status;
      if (absl::Status status = CheckCompletion(); !status.ok()) return status;
      if (absl::Status status = TakeAnyOf(**mask); !status.ok()) return status;
    }
    return CheckEnd(text_);
  }

  [[nodiscard]] absl::Duration slowest() const { return slowest_; }

 private:
  // RE2 counts the characters of such texts as JSON Schema does.
  static bool IsPlain(const std::string& text) {
    return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
  }

  absl::Status CheckEnd(const std::string& json) const {
    const nlohmann::json text = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
    if (!text.is_string()) return At(absl::InternalError(absl::StrCat("no string: ", json)));
    if (!IsPlain(text) || judge_.Meets(text)) return absl::OkStatus();
    return At(absl::InternalError(absl::StrCat("a wrong end: ", json)));
  }

  absl::Status CheckCompletion() {
    const absl::StatusOr<std::string> rest = matcher_.ShortestCompletion(kCompletionBytes);
    return rest.ok() ? CheckEnd(text_ + *rest) : At(rest.status());
  }

  absl::Status CheckTokens(const TokenMask& mask) {
    const Vocabulary& vocabulary = matcher_.grammar().tokenizer().vocabulary();
    for (int i = 0; i < kTriedTokens; ++i) {
      const TokenId id = Draw(&random_, 0, vocabulary.size() - 1);
      Matcher fork = matcher_.Fork();
      if (fork.Accept(id).ok() != mask.Allows(id))
        return At(absl::InternalError(absl::StrCat("a wrong mask of token ", id)));
    }
    return absl::OkStatus();
  }

  absl::Status CheckLetters(const TokenMask& mask) const {
    if (text_.size() < 1 + conditions_.max_length - kTriedLetters || text_.front() != '"' ||
        text_.back() == '"' || text_.find('\\') != std::string::npos || !IsPlain(text_)) {
      return absl::OkStatus();
    }
    const Vocabulary& vocabulary = matcher_.grammar().tokenizer().vocabulary();
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
      const absl::string_view bytes = vocabulary.TokenBytes(id);
      if (vocabulary.IsSpecial(id) || bytes.size() != 1 ||
          kLetters.find(bytes[0]) == absl::string_view::npos) {
        continue;
      }
      const bool may_follow = judge_.HasTextFrom(text_.substr(1) + bytes[0]);
      if (mask.Allows(id) != may_follow)
        return At(absl::InternalError(absl::StrCat("a wrong mask of ", bytes)));
    }
    return absl::OkStatus();
  }

  // Of one byte more often than not, so that a walk has more than a step or two.
  absl::Status TakeAnyOf(const TokenMask& mask) {
    const Vocabulary& vocabulary = matcher_.grammar().tokenizer().vocabulary();
    std::vector<TokenId> allowed;
    std::vector<TokenId> single;
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
      if (!mask.Allows(id)) continue;
      allowed.push_back(id);
      if (vocabulary.TokenBytes(id).size() == 1) single.push_back(id);
    }
    if (!single.empty() && Draw(&random_, 0, 3) > 0) allowed = std::move(single);
    if (allowed.empty()) return At(absl::InternalError("no token is allowed"));
    const TokenId id = allowed[Draw(&random_, 0, static_cast<int>(allowed.size()) - 1)];
    if (absl::Status status = matcher_.Accept(id); !status.ok()) return At(status);
    if (!vocabulary.IsSpecial(id)) absl::StrAppend(&text_, vocabulary.TokenBytes(id));
    return absl::OkStatus();
  }

  [[nodiscard]] absl::Status At(const absl::Status& status) const {
    return absl::Status(status.code(),
                        absl::StrCat("behind ", absl::CHexEscape(text_), ": ", status.message()));
  }

  Matcher matcher_;
  const Conditions& conditions_;
  const Judge& judge_;
  Random& random_;
  std::string text_;
  absl::Duration slowest_;
};

void WalkSchema(std::uint64_t seed, const std::shared_ptr<TokenizerSpace>& space, Totals* totals) {
  Random random(seed);
  const std::optional<Conditions> given = ConditionsOf(absl::GetFlag(FLAGS_schema));
  const Conditions conditions = given.has_value() ? *given : RandomConditions(&random);
  const Judge judge(conditions);
  const std::string schema = SchemaOf(conditions);
  Budget budget = Budget::Unlimited();
  const absl::Duration begun = ProcessorTime();
  const auto grammar = CompileGrammar({"json_schema", schema, {}}, space, Limits(), budget);
  const absl::Duration compile = ProcessorTime() - begun;
  absl::Duration slowest;
  if (grammar.ok()) {
    ++totals->compiled;
    for (int i = 0; i < absl::GetFlag(FLAGS_walks); ++i) {
      Walk walk(*grammar, conditions, judge, &random);
      const absl::Status status = walk.Run();
      slowest = std::max(slowest, walk.slowest());
      if (status.ok()) continue;
      ++totals->failed;
      std::cout << "seed " << seed << ": " << schema << ": " << status << "\n";
      break;
    }
  }
  totals->slowest = std::max(totals->slowest, slowest);
  if (absl::GetFlag(FLAGS_print_schemas)) {
    std::cout << seed << " compile " << compile << " step " << slowest << " "
              << (grammar.ok() ? "" : grammar.status().ToString()) << " " << schema << std::endl;
  }
}

int Run() {
  if (absl::GetFlag(FLAGS_min_conditions) > absl::GetFlag(FLAGS_max_conditions) ||
      absl::GetFlag(FLAGS_max_gap) < 1) {
    std::cerr << "--min_conditions must not exceed --max_conditions, and --max_gap is at least 1\n";
    return kUsage;
  }
  const bool by_bytes = absl::GetFlag(FLAGS_vocab) == "bytes";
  const auto vocabulary = by_bytes ? EmbeddedByteVocabulary() : LoadLlama3(MASKD_SOURCE_DIR);
  if (!vocabulary.ok()) {
    std::cerr << "SKIPPED: " << vocabulary.status() << "\n";
    return kSkipped;
  }
  const std::shared_ptr<TokenizerSpace> space = TokenizerSpace::Create(*vocabulary);
  Totals totals;
  const std::uint64_t first = absl::GetFlag(FLAGS_seed);
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(absl::GetFlag(FLAGS_schemas)); ++i)
    WalkSchema(first + i, space, &totals);
  std::cout << totals.compiled << " of " << absl::GetFlag(FLAGS_schemas) << " schemas compiled, "
            << totals.failed << " failed in a step, slowest step " << totals.slowest << "\n";
  return totals.failed == 0 && totals.compiled > 0 ? 0 : 1;
}

}  // namespace
}  // namespace maskd

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Walks through strings under many conditions.");
  absl::ParseCommandLine(argc, argv);
  return maskd::Run();
}
