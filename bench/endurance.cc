// A grammar under texts without end: does it go on taking them, does its memory level off, and are
// the masks at the end those of a grammar that was just compiled?
//
//   endurance --cases ../shared/maskbench/open.jsonl.gz --tokenizer build/vocab/llama3.tiktoken
//             --texts 100000 --samples 10000
//
// members     40 optional members in any order; a text has 25 of them in a random one.
// meta        draft-07's own schema, its members in declared and in any order; the texts are real
//             schemas.
// tree        a syntax tree of 12 recursive operations; a text is a random tree.
// open        any object; a text is a random one.
// nested      json_object; a text nests --levels arrays and objects at random.
// Each text goes through its masks token by token. `failed` counts rows that met a limit, `refused`
// those whose text a mask does not allow (real schemas that break their meta-schema), `wrong` the
// sampled states whose mask differs from that of a grammar and stores made anew. Bytes are the
// grammar's own count, the most it ever was; resident is the process's.
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "bench/cases.h"
#include "bench/documents.h"
#include "bench/samples.h"
#include "grammar_core/base/heap.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/text_splitter.h"

ABSL_FLAG(std::string, cases, "", "MaskBench cases: their schemas are the texts of the meta-schema.");
ABSL_FLAG(std::string, meta_schema,
          "grammar_core/frontend/json_schema/standard_schemas/draft-07.schema.json",
          "Draft-07's own schema.");
ABSL_FLAG(std::string, tokenizer, "", "Vocabulary file of scripts/fetch-vocab.");
ABSL_FLAG(int, texts, 100'000, "Texts for each grammar.");
ABSL_FLAG(int, nested_texts, 0, "Texts for the group `nested`; 0: as many.");
ABSL_FLAG(int, levels, 1'000, "Levels of a nested text.");
ABSL_FLAG(int, samples, 10'000, "States at which masks are compared, of all groups together.");
ABSL_FLAG(std::string, group, "", "Only the group of this name.");

namespace maskd::bench {
namespace {

using Json = nlohmann::json;
using Random = std::mt19937_64;
using MakeText = std::function<std::string(Random*)>;

struct Group {
  std::string name;
  GrammarSource source;
  int texts;
  MakeText make;
};

double ResidentMib() {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;  // the second field is resident
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

std::string Repeated(int count, const std::function<std::string(int)>& one) {
  std::vector<std::string> parts;
  for (int i = 0; i < count; ++i) parts.push_back(one(i));
  return absl::StrJoin(parts, ",");
}

Group Members() {
  const auto member = [](int i) { return absl::StrCat("\"member_", i, "\""); };
  const std::string schema = absl::StrCat(
      R"({"type":"object","additionalProperties":false,"properties":{)",
      Repeated(40, [&](int i) { return absl::StrCat(member(i), R"(:{"type":"integer"})"); }), "}}");
  return {"members", {"json_schema", schema, {}}, 0, [member](Random* random) {
            std::vector<int> order(40);
            for (int i = 0; i < 40; ++i) order[static_cast<std::size_t>(i)] = i;
            std::shuffle(order.begin(), order.end(), *random);
            return absl::StrCat("{", Repeated(25, [&](int i) {
                                  return absl::StrCat(member(order[static_cast<std::size_t>(i)]),
                                                      ": ", (*random)() % 1'000);
                                }),
                                "}");
          }};
}

constexpr const char* kNames[] = {"add", "sub", "mul", "div", "pow", "min",
                                  "max", "and", "or",  "not", "if",  "let"};

Group Tree() {
  const std::string operations = Repeated(12, [&](int i) {
    return absl::StrCat(R"({"type":"object","additionalProperties":false,"required":["op","args"],)",
                        R"("properties":{"op":{"const":")", kNames[i],
                        R"("},"args":{"type":"array","items":{"$ref":"#/$defs/e"}}}})");
  });
  const std::string schema = absl::StrCat(R"({"$ref":"#/$defs/e","$defs":{"e":{"anyOf":[)",
                                          R"({"type":"number"},)", operations, "]}}}");
  static std::function<std::string(Random*, int)> tree = [](Random* random, int depth) {
    if (depth == 0 || (*random)() % 4 == 0) return absl::StrCat((*random)() % 100);
    const int count = 1 + static_cast<int>((*random)() % 3);
    return absl::StrCat(R"({"op":")", kNames[(*random)() % 12], R"(","args":[)",
                        Repeated(count, [&](int) { return tree(random, depth - 1); }), "]}");
  };
  return {"tree", {"json_schema", schema, {}}, 0, [](Random* random) { return tree(random, 6); }};
}

std::string AnyValue(Random* random, int depth) {
  const auto kind = (*random)() % (depth > 0 ? 6 : 4);
  const int count = static_cast<int>((*random)() % 4);
  switch (kind) {
    case 0:
      return absl::StrCat(static_cast<double>((*random)() % 100'000) / 8);
    case 1:
      return "null";
    case 2:
    case 3:
      return absl::StrCat("\"w", (*random)() % 10'000, " and ", (*random)() % 10, "\"");
    case 4:
      return absl::StrCat("[", Repeated(count, [&](int) { return AnyValue(random, depth - 1); }),
                          "]");
    default:
      return absl::StrCat("{", Repeated(count, [&](int i) {
                            return absl::StrCat("\"k", i, (*random)() % 1'000, "\":",
                                                AnyValue(random, depth - 1));
                          }),
                          "}");
  }
}

Group Open() {
  return {"open", {"json_schema", R"({"type":"object"})", {}}, 0, [](Random* random) {
            return absl::StrCat("{\"first\":", AnyValue(random, 5), ",\"second\":",
                                AnyValue(random, 5), "}");
          }};
}

Group Nested(int levels) {
  return {"nested", {"json_object", "", {}}, 0, [levels](Random* random) {
            constexpr const char* kOpen[] = {"[", "{\"\":", "[1,", "{\"a\":"};
            std::string text = "{\"\":";
            std::string ends = "}";
            for (int i = 1; i < levels; ++i) {
              const auto kind = (*random)() % 4;
              text += kOpen[kind];
              ends += kind % 2 == 0 ? ']' : '}';
            }
            std::reverse(ends.begin(), ends.end());
            return text + "0" + ends;
          }};
}

// Real schemas with their members in the order that the meta-schema declares; a value that no two
// texts share makes each a new one.
Group Meta(const std::string& schema, bool any_order, const std::vector<Case>& cases) {
  auto texts = std::make_shared<std::vector<std::string>>();
  for (const Case& one : cases) {
    if (one.schema.size() < 4'000) texts->push_back(one.schema);
  }
  GrammarOptions options;
  if (any_order) options.property_order = PropertyOrder::kAny;
  const auto make = [texts](Random* random) {
    const std::string& text = (*texts)[(*random)() % texts->size()];
    return absl::StrCat(text.substr(0, text.rfind('}')), ",\"x", (*random)(), "\":0}");
  };
  return {any_order ? "meta any" : "meta", {"json_schema", schema, options}, 0, make};
}

class Endurance {
 public:
  Endurance(std::shared_ptr<const Vocabulary> vocabulary, int samples_a_group)
      : vocabulary_(std::move(vocabulary)), splitter_(*vocabulary_), samples_(samples_a_group) {}

  bool Run(const Group& group) {
    group_ = &group;
    grammar_ = Compile(&space_);
    if (grammar_ == nullptr) return false;
    counts_ = {};
    taken_ = 0;
    wrong_ = compared_ = most_bytes_ = most_automatons_ = 0;
    Random random(1);
    const double before = ResidentMib();
    const Clock::time_point start = Clock::now();
    double most_resident = before;
    for (int i = 0; i < group.texts; ++i) {
      const auto tokens = splitter_.Longest(group.make(&random));
      ++counts_[tokens.has_value() ? Take(*tokens, &random) : kRefused];
      Measure();
      if (i % 100 == 0) most_resident = std::max(most_resident, ResidentMib());
    }
    const GrammarCosts costs = grammar_->costs();
    std::printf("%-9s %7d texts, %10lld tokens, %6.2f us a token, failed %d, refused %d; compared "
                "%d, wrong %d; most %.1f MiB in %d automatons, renewals %lld; resident %.0f MiB "
                "before, %.0f most, %.0f after\n",
                group.name.c_str(), group.texts, static_cast<long long>(taken_),
                MicrosSince(start) / static_cast<double>(std::max<std::int64_t>(taken_, 1)),
                counts_[kFailed], counts_[kRefused], static_cast<int>(compared_),
                static_cast<int>(wrong_), static_cast<double>(most_bytes_) / (1 << 20),
                static_cast<int>(most_automatons_), static_cast<long long>(costs.renewals), before,
                most_resident, ResidentMib());
    std::fflush(stdout);
    return counts_[kFailed] == 0 && wrong_ == 0;
  }

 private:
  enum Outcome { kTaken, kRefused, kFailed, kOutcomes };

  std::shared_ptr<const CompiledGrammar> Compile(std::shared_ptr<TokenizerSpace>* space) const {
    *space = TokenizerSpace::Create(vocabulary_);
    auto grammar = CompileForBench(group_->source, *space);
    if (!grammar.ok()) {
      std::fprintf(stderr, "%s\n", std::string(grammar.status().ToString()).c_str());
    }
    return grammar.ok() ? *grammar : nullptr;
  }

  Outcome Take(const std::vector<TokenId>& tokens, Random* random) {
    Matcher matcher(grammar_);
    const bool is_sampled =
        static_cast<std::int64_t>((*random)() % static_cast<std::uint64_t>(group_->texts)) <
        std::max(samples_ / 10, 1);
    for (std::size_t at = 0; at < tokens.size(); ++at, ++taken_) {
      const auto mask = matcher.Mask();
      if (!mask.ok()) return Failed(mask.status());
      if (is_sampled && (*random)() % tokens.size() < 10) {
        Compare(**mask, {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(at)});
      }
      if (!(*mask)->Allows(tokens[at])) return kRefused;
      if (absl::Status taken = matcher.Accept(tokens[at]); !taken.ok()) return Failed(taken);
    }
    return kTaken;
  }

  static Outcome Failed(const absl::Status& status) {
    static int told = 0;
    if (++told <= 10) std::fprintf(stderr, "%s\n", std::string(status.ToString()).c_str());
    return kFailed;
  }

  // With stores of its own, made anew every so often.
  void Compare(const TokenMask& mask, const std::vector<TokenId>& taken) {
    if (fresh_for_ != group_ || compared_ % 100 == 0) {
      fresh_ = Compile(&fresh_space_);
      fresh_for_ = group_;
    }
    Matcher matcher(fresh_);
    for (const TokenId token : taken) {
      if (!matcher.Accept(token).ok()) ++wrong_;
    }
    const auto same = matcher.Mask();
    ++compared_;
    if (!same.ok() || !(mask == **same)) ++wrong_;
  }

  void Measure() {
    const GrammarCosts costs = grammar_->costs();
    most_bytes_ = std::max(most_bytes_, costs.held_bytes + costs.mask_bytes);
    most_automatons_ = std::max(most_automatons_, costs.automatons);
  }

  const std::shared_ptr<const Vocabulary> vocabulary_;
  const TextSplitter splitter_;
  const int samples_;
  const Group* group_ = nullptr;
  std::shared_ptr<TokenizerSpace> space_;
  std::shared_ptr<const CompiledGrammar> grammar_;
  std::shared_ptr<TokenizerSpace> fresh_space_;
  std::shared_ptr<const CompiledGrammar> fresh_;
  const Group* fresh_for_ = nullptr;
  std::array<int, kOutcomes> counts_ = {};
  std::int64_t taken_ = 0;
  std::int64_t wrong_ = 0;
  std::int64_t compared_ = 0;
  std::int64_t most_bytes_ = 0;
  std::int64_t most_automatons_ = 0;
};

std::vector<Group> Groups(const std::vector<Case>& cases) {
  std::ifstream file(absl::GetFlag(FLAGS_meta_schema));
  std::stringstream meta;
  meta << file.rdbuf();
  std::vector<Group> groups = {Members(), Tree(), Open(), Nested(absl::GetFlag(FLAGS_levels))};
  groups.front().source.options.property_order = PropertyOrder::kAny;
  if (!cases.empty()) {
    groups.push_back(Meta(meta.str(), false, cases));
    groups.push_back(Meta(meta.str(), true, cases));
  }
  for (Group& group : groups) {
    const int nested = absl::GetFlag(FLAGS_nested_texts);
    group.texts = group.name == "nested" && nested > 0 ? nested : absl::GetFlag(FLAGS_texts);
  }
  return groups;
}

int Main() {
  const auto vocabulary = LoadBenchVocabulary(absl::GetFlag(FLAGS_tokenizer), "");
  if (!vocabulary.ok()) {
    std::fprintf(stderr, "%s\n", std::string(vocabulary.status().ToString()).c_str());
    return 2;
  }
  std::vector<Case> cases;
  if (!absl::GetFlag(FLAGS_cases).empty()) {
    auto read = ReadCases(absl::GetFlag(FLAGS_cases), {});
    if (!read.ok()) {
      std::fprintf(stderr, "%s\n", std::string(read.status().ToString()).c_str());
      return 2;
    }
    cases = *std::move(read);
  }
  const std::vector<Group> groups = Groups(cases);
  Endurance endurance(*vocabulary, absl::GetFlag(FLAGS_samples) / static_cast<int>(groups.size()));
  bool all = true;
  for (const Group& group : groups) {
    const std::string only = absl::GetFlag(FLAGS_group);
    if (only.empty() || group.name == only) all = endurance.Run(group) && all;
  }
  return all ? 0 : 1;
}

}  // namespace
}  // namespace maskd::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("endurance --cases FILE --tokenizer FILE [--texts N]");
  absl::ParseCommandLine(argc, argv);
  return maskd::bench::Main();
}
