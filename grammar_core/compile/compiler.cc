// From a source that has been read to a grammar that rows may use: the pipeline makes its IR, the
// tables and the first automaton are made of that, and the mask of the beginning, which every row
// asks for first.
//
// Bounds of a whole text (max_tokens, max_characters) are checked last: they need the automaton,
// and a grammar without any text within them would have rows that no mask can lead on.
//
// Invariant  a CompiledGrammar is seen by others only when it is complete; until then the compiler
//            is its one owner, and the budget of the compile pays for all that is made.
// Cost       see notebook.md; most of it is the front end's and the first mask's.
#include "grammar_core/compile/compiler.h"

#include <cassert>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/compile/pipeline.h"
#include "grammar_core/completion/fewest_tokens.h"
#include "grammar_core/completion/shortest_path.h"
#include "grammar_core/frontend/front_end.h"
#include "grammar_core/rows/generations.h"

namespace maskd {
namespace {

// The longest text of which tokens are counted for options.max_tokens.
constexpr int kMaxShortestBytes = 1 << 16;
// For a search for one in a grammar that names tokens.
constexpr std::int64_t kSoonWork = 3'000;

std::int64_t MicrosSince(Budget::Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(Budget::Clock::now() - start)
      .count();
}

}  // namespace

// Puts a CompiledGrammar together; its only friend.
class Compiler {
 public:
  Compiler(std::string id, std::shared_ptr<TokenizerSpace> tokenizer, const Limits& limits,
           Budget& budget)
      : grammar_(new CompiledGrammar()), budget_(budget) {
    assert(tokenizer != nullptr && !id.empty());
    grammar_->id_ = std::move(id);
    grammar_->tokenizer_ = std::move(tokenizer);
    grammar_->limits_ = limits;
  }

  absl::StatusOr<std::shared_ptr<const CompiledGrammar>> Run(ParsedSource parsed) {
    const auto start = Budget::Clock::now();
    if (absl::Status status = Read(std::move(parsed)); !status.ok()) return status;
    grammar_->reduce_us_ = MicrosSince(start);
    if (absl::Status status = Build(); !status.ok()) return status;
    grammar_->compile_us_ = MicrosSince(start);
    return std::shared_ptr<const CompiledGrammar>(std::move(grammar_));
  }

 private:
  absl::Status Read(ParsedSource parsed) {
    CompiledGrammar& g = *grammar_;
    parsed.context = g.tokenizer_->read_context();
    absl::StatusOr<ReducedGrammar> read = ReduceParsed(parsed, g.limits_, budget_);
    if (!read.ok()) return read.status();
    g.source_ = std::move(parsed.source);
    g.ir_ = std::move(read->ir);
    g.warnings_ = std::move(read->warnings);
    g.temperature_ = read->temperature;
    g.bounds_ = std::move(read->bounds);
    markers_ = std::move(read->markers);
    if (LimitsTokens(g.ir_) && RemembersTexts(g.ir_)) {
      return UnsupportedAt(g.ir_.rules[g.ir_.start].place, "max_tokens of a part",
                           "beside arrays of items that must differ");
    }
    AddBound("options.max_tokens", g.source_.options.max_tokens, "tokens");
    AddBound("options.max_characters", g.source_.options.max_characters, "characters");
    return absl::OkStatus();
  }

  void AddBound(absl::string_view option, std::optional<std::int32_t> most, absl::string_view of) {
    if (!most.has_value()) return;
    grammar_->bounds_.push_back(
        {std::string(option), absl::StrCat("texts: at most ", *most, " ", of)});
  }

  absl::Status Build() {
    CompiledGrammar& g = *grammar_;
    auto tables = GrammarTables::Create(g.ir_, g.tokenizer_->index(), g.limits_, budget_,
                                        g.measure(), std::move(markers_));
    if (!tables.ok()) return tables.status();
    g.generations_ =
        std::make_unique<Generations>(*std::move(tables), &g.tokenizer_->masks(), g.limits_);
    assert(g.generations_ != nullptr);
    const auto start = Budget::Clock::now();
    Work work(budget_);
    const std::shared_ptr<MaskedAutomaton> automaton = g.automaton();
    automaton->Mask(automaton->start(), work);
    g.first_mask_us_ = MicrosSince(start);
    if (!work.ok()) return work.error();
    absl::Status checked = CheckMaxCharacters(work);
    if (checked.ok()) checked = CheckMaxTokens(work);
    // Before the size is taken: what the compile made is the grammar's own, not learnt.
    g.generations_->EndCompile();
    g.fixed_bytes_ = g.FixedBytes();
    return checked;
  }

  // A text of so few characters must be there.
  absl::Status CheckMaxCharacters(Work& work) {
    CompiledGrammar& g = *grammar_;
    const auto most = g.source_.options.max_characters;
    if (!most.has_value()) return absl::OkStatus();
    const RowStates row(g.automaton());
    const absl::StatusOr<std::uint32_t> least = SmallestCompletion(
        row, g.tokenizer_->vocabulary(), row.start(), static_cast<std::uint32_t>(*most), work);
    if (!least.ok()) return least.status();
    return *least <= static_cast<std::uint32_t>(*most)
               ? absl::OkStatus()
               : NoText("options.max_characters", *most, "characters");
  }

  static absl::Status NoText(absl::string_view option, int most, absl::string_view of) {
    return ErrorAt(absl::StatusCode::kInvalidArgument, option, "INVALID_GRAMMAR",
                   absl::StrCat("no text of this grammar has at most ", most, " ", of));
  }

  // A text of so few tokens must be there.
  absl::Status CheckMaxTokens(Work& work) {
    CompiledGrammar& g = *grammar_;
    const int most = g.source_.options.max_tokens.value_or(0);
    if (most == 0) return absl::OkStatus();
    const RowStates row(g.automaton());
    const TokenSearch search = {&row, &g.tokenizer_->index(), {}, &g.tokenizer_->masks()};
    const RowStates::State start = row.start();
    const auto few = FewTokens(search, start, kMaxShortestBytes, work);
    if (few.ok() && std::ssize(*few) <= most) return absl::OkStatus();
    // Where tokens are named there is no first guess; what is not soon found may be there.
    Budget soon({.work = kSoonWork});
    Work soon_work(soon);
    const bool names = g.automaton()->tables().names_tokens();
    const auto fewest = FewestTokens(search, start, most, names ? soon_work : work);
    if (fewest.ok() || !soon_work.ok()) return absl::OkStatus();
    if (!work.ok()) return work.error();
    return NoText("options.max_tokens", most, "tokens");
  }

  std::unique_ptr<CompiledGrammar> grammar_;
  std::vector<TokenId> markers_;
  Budget& budget_;
};

absl::StatusOr<std::shared_ptr<const CompiledGrammar>> CompileGrammar(
    const GrammarSource& source, std::shared_ptr<TokenizerSpace> tokenizer, const Limits& limits,
    Budget& budget) {
  absl::StatusOr<ParsedSource> parsed = ParseSource(source, limits, tokenizer->read_context());
  if (!parsed.ok()) return parsed.status();
  std::string id = GrammarId(*parsed, tokenizer->vocabulary().hash());
  return CompileParsed(*std::move(parsed), std::move(id), std::move(tokenizer), limits, budget);
}

absl::StatusOr<std::shared_ptr<const CompiledGrammar>> CompileParsed(
    ParsedSource parsed, std::string id, std::shared_ptr<TokenizerSpace> tokenizer,
    const Limits& limits, Budget& budget) {
  return Compiler(std::move(id), std::move(tokenizer), limits, budget).Run(std::move(parsed));
}

}  // namespace maskd
