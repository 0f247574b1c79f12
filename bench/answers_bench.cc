// Steps of chat answers, and what reading them back costs: in process, no look-ahead.
//
//   answers_bench --vocab build/vocab/qwen3/tokenizer.json
//
// Requests  every family with 1, 10, 26, 50 and 200 tools, each compiled into an empty space.
//           "warm": a request with other tools, in the same space. "families warmed": the
//           first request of its family in a space such as a server's is at its start.
// Text      prose before a call, in the vocabulary's longest tokens: "first sight" is the time of
//           a step to a state that the grammar has not met.
// Calls     "tool_choice" required: words of the prose and punctuation, by chance, where the masks
//           allow them. A step is Accept() and Mask(), without what the walk itself does.
// Reading   the same tokens through an AnswerReader, over one that is made anew for each answer.
// Wire      the bytes that a token adds to its row's reply, and what of them is not the answer's
//           own text.
// Rounds    each begins with empty spaces and takes the tokens of the first: a step's time is the
//           least of all rounds, as others on the machine only add to it. --slowest names some.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

#include "bench/cases.h"
#include "bench/samples.h"
#include "grammar_core/base/heap.h"
#include "grammar_core/compile/compiler.h"
#include "grammar_core/compile/warm_families.h"
#include "grammar_core/frontend/chat/answer_reader.h"
#include "grammar_core/frontend/chat/family.h"
#include "grammar_core/frontend/json_schema/schema_store.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/matcher/matcher.h"
#include "service/sequences/row_answer.h"
#include "service/wire/response_writer.h"

ABSL_FLAG(std::string, vocab, "", "A vocabulary's file; empty: the embedded bytes.");
ABSL_FLAG(std::vector<std::string>, tools, (std::vector<std::string>{"1", "10", "26", "50", "200"}),
          "Tools of a request.");
ABSL_FLAG(std::vector<std::string>, families, {}, "Families by name; empty: all.");
ABSL_FLAG(int, walks, 3, "Calls of each request.");
ABSL_FLAG(bool, by_family, false, "Figures of each family, too.");
ABSL_FLAG(int, rounds, 1, "Rounds, each from empty spaces: a sample is its least of all rounds.");
ABSL_FLAG(int, slowest, 0, "So many of the slowest steps are named.");

namespace maskd::bench {
namespace {

constexpr int kWalkTokens = 120;
constexpr absl::string_view kProse =
    "Let me think about that for a moment. The answer depends on 3 things: where you are, when "
    "you ask, and how much of it you need. I'd say 42 is a good guess, e.g. for x < 7 or y > 9; "
    "see https://example.com/a?b=c for more. Here is some code: if (a[i] == '}') { return \"no\"; "
    "} Well, that is all I can say without a look at the data, so I look it up now.\n";

std::string Tool(int index, int version) {
  return absl::StrCat(R"({"type":"function","function":{"name":"tool_)", index,
                      R"(","parameters":{"type":"object","properties":{"path":{"type":"string"},)",
                      R"("count":{"type":"integer","minimum":0,"maximum":)", 100 + index,
                      R"(},"mode":{"enum":["r","w","x)", index, "_", version,
                      R"("]},"flag":{"type":"boolean"}},"required":["path","mode"],)",
                      R"("additionalProperties":false}}})");
}

std::string Request(const std::string& family, int tools, int version, absl::string_view choice) {
  std::string list;
  for (int i = 0; i < tools; ++i) absl::StrAppend(&list, list.empty() ? "" : ",", Tool(i, version));
  return absl::StrCat(R"({"family":")", family, R"(","request":{"tools":[)", list,
                      R"(],"tool_choice":")", choice, R"("}})");
}

// The tokens of a text, the longest first.
class Cutter {
 public:
  explicit Cutter(const Vocabulary& vocabulary) {
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
      if (vocabulary.IsSpecial(id)) continue;
      const absl::string_view bytes = vocabulary.TokenBytes(id);
      longest_ = std::max(longest_, bytes.size());
      ids_.emplace(bytes, id);
    }
  }

  std::vector<TokenId> Cut(absl::string_view text) const {
    std::vector<TokenId> tokens;
    while (!text.empty()) {
      std::size_t size = std::min(longest_, text.size());
      while (size > 1 && !ids_.contains(text.substr(0, size))) --size;
      tokens.push_back(ids_.at(text.substr(0, size)));
      text.remove_prefix(size);
    }
    return tokens;
  }

 private:
  absl::flat_hash_map<std::string, TokenId> ids_;
  std::size_t longest_ = 1;
};

struct Sample {
  double value = 0;
  std::string name;
};
using Samples = std::vector<Sample>;

struct Figures {
  Samples first_sight;
  Samples warm;
  Samples warmed;
  Samples steps;
  Samples warm_steps;
  Samples warmed_steps;
  Samples reading;  // of an answer, a token
  Samples wire;     // bytes a token
  Samples wire_extra;
};
constexpr auto kAllFigures = {&Figures::first_sight, &Figures::warm,       &Figures::warmed,
                              &Figures::steps,       &Figures::warm_steps, &Figures::warmed_steps,
                              &Figures::reading,     &Figures::wire,       &Figures::wire_extra};

// What is text in a delta.
std::size_t TextBytes(const service::AnswerDelta& delta) {
  std::size_t bytes = delta.reasoning.size() + delta.content.size();
  for (const service::AnswerDelta::Call& call : delta.calls)
    bytes += call.id.size() + call.name.size() + call.arguments.size();
  return bytes;
}

class Bench {
 public:
  explicit Bench(std::shared_ptr<const Vocabulary> vocabulary)
      : vocabulary_(std::move(vocabulary)),
        emptied_(TokenizerSpace::Create(vocabulary_)),
        apart_(TokenizerSpace::Create(vocabulary_)),
        prose_(Cutter(*vocabulary_).Cut(kProse)),
        is_word_(static_cast<std::size_t>(vocabulary_->size())) {
    for (const TokenId id : prose_) is_word_[static_cast<std::size_t>(id)] = true;
    for (TokenId id = 0; id < vocabulary_->size(); ++id) {
      const absl::string_view bytes = vocabulary_->TokenBytes(id);
      is_punctuation_.push_back(!bytes.empty() && std::ranges::none_of(bytes, [](char c) {
        return absl::ascii_isalnum(static_cast<unsigned char>(c)) || (c & 0x80) != 0;
      }));
    }
  }

  // `warmed`: a space that is as a server's at its start.
  absl::Status Run(const std::string& family, int tools,
                   const std::shared_ptr<TokenizerSpace>& warmed, Figures* figures) {
    const std::shared_ptr<TokenizerSpace>& space = emptied_;
    space->masks().Clear();
    space->schemas().Reset();
    absl::Status s = Text(family, tools, 1, warmed, &figures->warmed, &figures->warmed_steps);
    if (s.ok()) s = Text(family, tools, 1, space, &figures->first_sight, &figures->steps);
    if (s.ok()) s = Text(family, tools, 2, space, &figures->warm, &figures->warm_steps);
    if (!s.ok()) return s;
    s = Calls(family, tools, 1, space, &figures->steps, figures);
    if (!s.ok()) return s;
    return Calls(family, tools, 2, space, &figures->warm_steps, figures);
  }

 private:
  static absl::StatusOr<std::shared_ptr<const CompiledGrammar>> Compiled(
      const std::string& source, const std::shared_ptr<TokenizerSpace>& space) {
    Budget budget = Budget::Unlimited();
    return CompileGrammar({"chat", source, {}}, space, Limits(), budget);
  }

  // A state that was met before makes no terms.
  absl::Status Text(const std::string& family, int tools, int version,
                    const std::shared_ptr<TokenizerSpace>& space, Samples* first_sight,
                    Samples* steps) {
    const auto grammar = Compiled(Request(family, tools, version, "auto"), space);
    if (!grammar.ok()) return grammar.status();
    Matcher matcher(*grammar);
    for (const TokenId token : prose_) {
      const std::int64_t terms = (*grammar)->costs().terms;
      Clock::time_point begin = Clock::now();
      if (!matcher.Accept(token).ok()) return absl::OkStatus();  // a frame stands before the text
      const double accept_us = MicrosSince(begin);
      const bool is_new = (*grammar)->costs().terms != terms;
      begin = Clock::now();
      const auto mask = matcher.Mask();
      const double mask_us = MicrosSince(begin);
      if (!mask.ok()) return mask.status();
      steps->push_back({accept_us + mask_us, Name(family, tools, token)});
      if (is_new) first_sight->push_back(steps->back());
    }
    return absl::OkStatus();
  }

  absl::Status Calls(const std::string& family, int tools, int version,
                     const std::shared_ptr<TokenizerSpace>& space, Samples* steps,
                     Figures* figures) {
    const std::string source = Request(family, tools, version, "required");
    const auto grammar = Compiled(source, space);
    if (!grammar.ok()) return grammar.status();
    Budget budget = Budget::Unlimited();
    const auto plan = AnswerPlan::Make({"chat", source, {}}, &space->markers(), Limits(), budget);
    if (!plan.ok()) return plan.status();
    for (int walk = 0; walk < absl::GetFlag(FLAGS_walks); ++walk) {
      std::vector<TokenId>& tokens = walked_[absl::StrCat(walk, source)];
      if (tokens.empty()) tokens = Walked(**grammar);
      Take(tokens, *grammar, family, tools, steps);
      const Clock::time_point begin = Clock::now();
      AnswerReader reader(*plan);
      for (const TokenId token : tokens) reader.ReadToken(token);
      figures->reading.push_back({MicrosSince(begin) / static_cast<double>(tokens.size()), family});
      Tell(*plan, tokens, figures);
    }
    return absl::OkStatus();
  }

  // As a stream's row says its answer, a token a step.
  void Tell(const std::shared_ptr<const AnswerPlan>& plan, const std::vector<TokenId>& tokens,
            Figures* figures) {
    service::RowAnswer answer(plan, AnswerReader::Rest::kContent);
    for (const TokenId token : tokens) {
      const bool is_end = std::ranges::count(vocabulary_->stop_ids(), token) != 0;
      answer.Take(token, is_end ? service::RowAnswer::Role::kEnd : service::RowAnswer::Role::kText);
      constexpr int kNoWords = 0;  // the row has no mask
      service::RowResult row;
      v1::RowReply without;
      service::WriteRow(row, kNoWords, &without);
      const service::AnswerDelta delta = answer.Unsaid();
      answer.SetSaid();
      if (!delta.empty()) row.answer = delta;
      v1::RowReply with;
      service::WriteRow(row, kNoWords, &with);
      const std::size_t bytes = with.ByteSizeLong() - without.ByteSizeLong();
      figures->wire.push_back({static_cast<double>(bytes), ""});
      figures->wire_extra.push_back({static_cast<double>(bytes - TextBytes(delta)), ""});
    }
  }

  std::vector<TokenId> Walked(const CompiledGrammar& grammar) {
    const auto apart = Compiled(grammar.source().text, apart_);
    if (!apart.ok()) return {};
    Matcher matcher(*apart);
    std::vector<TokenId> tokens;
    absl::StatusOr<MaskRef> mask = matcher.Mask();
    while (mask.ok() && tokens.size() < kWalkTokens) {
      tokens.push_back(Chosen(**mask));
      if (std::ranges::count(vocabulary_->stop_ids(), tokens.back()) != 0) break;
      if (!matcher.Accept(tokens.back()).ok()) break;
      mask = matcher.Mask();
    }
    return tokens;
  }

  void Take(const std::vector<TokenId>& tokens,
            const std::shared_ptr<const CompiledGrammar>& grammar, const std::string& family,
            int tools, Samples* steps) const {
    Matcher matcher(grammar);
    for (const TokenId token : tokens) {
      if (std::ranges::count(vocabulary_->stop_ids(), token) != 0) return;
      const Clock::time_point begin = Clock::now();
      if (!matcher.Accept(token).ok() || !matcher.Mask().ok()) return;
      steps->push_back({MicrosSince(begin), Name(family, tools, token)});
    }
  }

  [[nodiscard]] std::string Name(const std::string& family, int tools, TokenId token) const {
    return absl::StrCat(family, ", ", tools, ": \"",
                        absl::CHexEscape(vocabulary_->TokenBytes(token)), "\"");
  }

  // Words of the prose one time in two, then punctuation, then anything.
  TokenId Chosen(const TokenMask& mask) {
    std::vector<TokenId> all;
    std::vector<TokenId> words;
    std::vector<TokenId> punctuation;
    mask.VisitAllowed([&](TokenId id) {
      const auto index = static_cast<std::size_t>(id);
      all.push_back(id);
      if (is_word_[index]) words.push_back(id);
      if (is_punctuation_[index]) punctuation.push_back(id);
    });
    const bool is_word = !words.empty() && (punctuation.empty() || random_() % 2 == 0);
    const std::vector<TokenId>& from = is_word ? words : punctuation.empty() ? all : punctuation;
    return from[random_() % from.size()];
  }

  const std::shared_ptr<const Vocabulary> vocabulary_;
  const std::shared_ptr<TokenizerSpace> emptied_;
  const std::shared_ptr<TokenizerSpace> apart_;  // for what is not timed
  const std::vector<TokenId> prose_;
  std::vector<bool> is_word_;
  std::vector<bool> is_punctuation_;
  std::mt19937 random_{7};
  absl::flat_hash_map<std::string, std::vector<TokenId>> walked_;  // by number and source
};

void Print(const char* what, const Samples& samples, const char* unit = "us") {
  if (samples.empty()) return;
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(sample.value);
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  std::printf("%-26s %8zu  mean %8.2f  p50 %8.2f  p99 %8.2f  max %8.2f %s\n", what, values.size(),
              mean, Percentile(values, 50), Percentile(values, 99),
              *std::ranges::max_element(values), unit);
}

void PrintSlowest(Samples samples) {
  std::ranges::sort(samples, std::ranges::greater(), &Sample::value);
  samples.resize(std::min(samples.size(), static_cast<std::size_t>(absl::GetFlag(FLAGS_slowest))));
  for (const Sample& sample : samples)
    std::printf("    %8.2f  %s\n", sample.value, sample.name.c_str());
}

void PrintAll(const std::string& title, const Figures& figures) {
  std::printf("%s\n", title.c_str());
  const auto timed = [](const char* what, const Samples& samples) {
    Print(what, samples);
    PrintSlowest(samples);
  };
  timed("  first sight in free text", figures.first_sight);
  timed("  first sight, warm", figures.warm);
  timed("  families warmed", figures.warmed);
  timed("  step", figures.steps);
  timed("  step, warm", figures.warm_steps);
  timed("  step, families warmed", figures.warmed_steps);
  timed("  reading back, a token", figures.reading);
  Print("  on the wire, a token", figures.wire, "bytes");
  Print("  of it not the text's", figures.wire_extra, "bytes");
}

void Add(const Figures& from, Figures* to) {
  for (const auto of : kAllFigures)
    (to->*of).insert((to->*of).end(), (from.*of).begin(), (from.*of).end());
}

// False where the rounds were not alike.
bool KeepLeast(const Figures& round, Figures* least) {
  for (const auto of : kAllFigures) {
    if ((round.*of).size() != (least->*of).size()) return false;
    for (std::size_t i = 0; i < (round.*of).size(); ++i)
      (least->*of)[i].value = std::min((least->*of)[i].value, (round.*of)[i].value);
  }
  return true;
}

// Every family, with `tools` tools.
Figures Round(Bench* bench, const std::shared_ptr<const Vocabulary>& vocabulary, int tools) {
  const std::vector<std::string> only = absl::GetFlag(FLAGS_families);
  Figures of_all_families;
  const auto warmed = TokenizerSpace::Create(vocabulary);
  const Clock::time_point begin = Clock::now();
  const int masks = WarmFamilies(warmed);
  std::printf("%d masks of families in %.0f ms, %.1f MB\n", masks, MicrosSince(begin) / 1e3,
              static_cast<double>(warmed->masks().stats().held_bytes) / 1e6);
  for (const EmbeddedJson& file : ChatFamilyFiles()) {
    const std::string family(file.uri);
    if (!only.empty() && !absl::c_linear_search(only, family)) continue;
    Figures figures;
    const absl::Status run = bench->Run(family, tools, warmed, &figures);
    if (!run.ok()) std::fprintf(stderr, "%s: %s\n", family.c_str(), run.ToString().c_str());
    if (absl::GetFlag(FLAGS_by_family)) PrintAll(absl::StrCat(family, ", ", tools), figures);
    Add(figures, &of_all_families);
  }
  return of_all_families;
}

int Main() {
  const auto vocabulary = LoadBenchVocabulary(absl::GetFlag(FLAGS_vocab), "");
  if (!vocabulary.ok()) {
    std::fprintf(stderr, "%s\n", vocabulary.status().ToString().c_str());
    return 2;
  }
  Bench bench(*vocabulary);
  Figures all;
  for (const std::string& tools : absl::GetFlag(FLAGS_tools)) {
    Figures least = Round(&bench, *vocabulary, std::stoi(tools));
    for (int round = 1; round < absl::GetFlag(FLAGS_rounds); ++round) {
      if (KeepLeast(Round(&bench, *vocabulary, std::stoi(tools)), &least)) continue;
      std::fprintf(stderr, "rounds of %s tools differ in their steps\n", tools.c_str());
      return 1;
    }
    PrintAll(absl::StrCat(tools, " tools"), least);
    Add(least, &all);
  }
  PrintAll("all", all);
  return 0;
}

}  // namespace
}  // namespace maskd::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Times steps of chat answers, and reading them back.");
  absl::ParseCommandLine(argc, argv);
  maskd::ReserveHeap(512 << 20);  // as the service does
  return maskd::bench::Main();
}
