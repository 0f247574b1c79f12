// A simulated stream: one seed decides what the client sends, in which order, what it repeats and
// when it loses its server. After every step each answer is compared with a model that replays the
// row's tokens from nothing (session_model.h).
//
// Seeds    MASKD_SIMULATION_SEEDS of them, 10,000 by default: seconds. A failure names its seed.
// Faults   planted between session and model, one at a time: a checker that cannot find them is
//          none.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "grammar_core/base/budget.h"
#include "grammar_core/compile/compiler.h"
#include "service/stream_session.h"
#include "tests/service/form_reader.h"
#include "tests/service/session_model.h"

namespace maskd::service {
namespace {

constexpr TokenId kEnd = 256;  // of the embedded vocabulary
constexpr RowId kRows = 5;     // ids in use: few, so that they meet
constexpr int kSteps = 25;

// What goes wrong between the session and the client.
enum class Fault {
  kNone,
  kStepTwice,         // a step is applied twice
  kTokenLost,         // a row's last token does not arrive
  kMaskOfAnotherRow,  // two rows' answers change places
  kRollbackShort,     // one token too few is taken back
  kSlotNotFilled,     // the dictionary misses a mask
  kRowsMixedOnMove,   // two rows change places when they move to another server
  kDraftsTaken,       // a row takes its drafts
  kForkTakesParent,   // a fork moves its parent too
  kRefusalIgnored,    // what follows a refused token is taken
  kCloseLost,         // a closed row stays
};

// Everything that a seed decides.
class Simulation {
 public:
  Simulation(std::uint64_t seed, Fault fault, const TokenizerStore& tokenizers,
             GrammarStore* grammars)
      : random_(seed), fault_(fault), tokenizer_(&tokenizers.all().front()), grammars_(grammars) {
    for (const char* pattern : {"(ab|ba|c)*a?", "a{0,9}", "[ab]*c(a|b)"}) Compile(pattern);
    Connect();
  }

  // What is wrong; empty when nothing is.
  std::string Run() {
    for (int i = 0; i < kSteps; ++i) {
      if (Chance(12)) Reconnect();
      std::string wrong = RunStep();
      if (!wrong.empty()) return absl::StrCat("step ", i, ": ", wrong);
    }
    return session_->row_count() == static_cast<int>(rows_.size()) ? "" : "the number of rows";
  }

 private:
  bool Chance(int one_in) { return random_() % static_cast<std::uint64_t>(one_in) == 0; }
  TokenId AnyToken() {
    static constexpr TokenId kTokens[] = {'a', 'b', 'c', 'a', 'b', kEnd, -1, 300};
    return kTokens[random_() % std::size(kTokens)];
  }
  RowId AnyRow() { return 1 + random_() % kRows; }

  void Compile(const char* pattern) {
    GrammarTarget target;
    target.source = GrammarSource{"regex", pattern, {}};
    const auto request = grammars_->Get(target, *tokenizer_);
    const cache::Ticket& ticket = request->ticket;
    while (!ticket.ready())
      ticket.WaitUntil(std::chrono::steady_clock::now() + std::chrono::seconds(1));
    compiled_.push_back(*ticket.result());
  }

  void Connect() {
    const FormTerms terms{true, !Chance(3), !Chance(3), !Chance(3),
                          static_cast<int>(2 + random_() % 4)};
    session_ =
        std::make_unique<StreamSession>(tokenizer_, grammars_, StreamLimits(), terms, nullptr);
    reader_ = std::make_unique<FormReader>(terms.dictionary_size);
    step_ = random_() % 100;
  }

  // The server is gone: the rows are opened on another one.
  void Reconnect() {
    Connect();
    StepRequest request;
    request.step = ++step_;
    for (const auto& [id, row] : rows_) request.opens.push_back(OpenOf(id, row));
    if (fault_ == Fault::kRowsMixedOnMove && request.opens.size() > 1) {
      std::swap(request.opens[0].tokens, request.opens[1].tokens);
    }
    const auto result = session_->Step(request, [] { return false; });
    for (const RowResult& row : (*result)->rows) ReadMasks(row);
  }

  static RowToOpen OpenOf(RowId id, const ModelRow& row) {
    RowToOpen open;
    open.row = id;
    open.target.id = row.grammar->id();
    open.tokens = row.tokens;
    open.options.gate = row.gate;
    return open;
  }

  StepRequest MakeStep() {
    StepRequest request;
    request.step = ++step_;
    if (Chance(8)) request.closes.push_back(AnyRow());
    if (Chance(6)) request.forks.push_back({AnyRow(), AnyRow()});
    while (Chance(2)) {
      ModelRow row{compiled_[random_() % compiled_.size()], std::nullopt, {}};
      if (Chance(3)) row.gate = GateRequest{.end_tokens = {'c', 'c'}};
      if (row.gate.has_value() && Chance(2)) row.gate->end_tokens = {'a', 'b', 'a'};
      request.opens.push_back(OpenOf(AnyRow(), row));
    }
    std::set<RowId> moved;
    while (!Chance(4)) {
      RowToMove move = MakeMove();
      if (moved.insert(move.row).second) request.moves.push_back(std::move(move));
    }
    return request;
  }

  RowToMove MakeMove() {
    RowToMove move;
    move.row = AnyRow();
    if (Chance(3)) move.rollback = static_cast<int>(random_() % 4);
    while (!Chance(3)) move.tokens.push_back(AnyToken());
    move.has_drafts = Chance(2);
    while (move.has_drafts && !Chance(4)) {
      move.draft_parents.push_back(static_cast<int>(random_() % (move.drafts.size() + 1)) - 1);
      move.drafts.push_back(AnyToken());
    }
    return move;
  }

  // What the session is given instead of what the client sent.
  StepRequest Faulty(StepRequest request) {
    if (fault_ == Fault::kCloseLost) request.closes.clear();
    for (const RowToFork& fork : request.forks) {
      if (fault_ != Fault::kForkTakesParent || !rows_.contains(fork.parent)) continue;
      for (RowToMove& move : request.moves) {
        if (move.row == fork.child) move.row = fork.parent;
      }
    }
    for (RowToMove& move : request.moves) {
      if (fault_ == Fault::kTokenLost && !move.tokens.empty()) move.tokens.pop_back();
      if (fault_ == Fault::kRollbackShort && move.rollback > 0) --move.rollback;
      if (fault_ == Fault::kDraftsTaken) {
        move.tokens.insert(move.tokens.end(), move.drafts.begin(), move.drafts.end());
      }
      if (fault_ == Fault::kRefusalIgnored && move.tokens.size() > 1) {
        std::erase_if(move.tokens, [](TokenId token) { return token < 0; });
      }
    }
    return request;
  }

  std::string RunStep() {
    const StepRequest request = MakeStep();
    const StepRequest given = Faulty(request);
    const auto never = [] { return false; };
    auto result = session_->Step(given, never);
    if (!result.ok()) return result.status().ToString();
    StepResult said = **result;
    if (fault_ == Fault::kStepTwice) {
      StepRequest again = given;
      again.step = ++step_;
      again.opens.clear();
      again.closes.clear();
      again.forks.clear();
      said = **session_->Step(again, never);
    } else if (Chance(5)) {
      const auto repeated = session_->Step(given, never);
      if (*repeated != *result) return "a repeated step is another answer";
    }
    if (fault_ == Fault::kMaskOfAnotherRow && said.rows.size() > 1) {
      std::swap(said.rows[0].positions, said.rows[1].positions);
    }
    return Check(request, said);
  }

  // Does in the model what the step does, and compares.
  std::string Check(const StepRequest& request, const StepResult& said) {
    for (const RowId id : request.closes) rows_.erase(id);
    for (const RowToFork& fork : request.forks) {
      if (rows_.contains(fork.parent)) rows_.try_emplace(fork.child, rows_.at(fork.parent));
    }
    std::set<RowId> named;
    for (const RowToOpen& open : request.opens) {
      if (rows_.contains(open.row)) continue;
      const auto grammar = std::ranges::find(compiled_, open.target.id, &CompiledGrammar::id);
      rows_.emplace(open.row, ModelRow{*grammar, open.options.gate, {}});
      named.insert(open.row);
    }
    std::map<RowId, std::pair<const RowToMove*, bool>> moves;  // and whether its drafts count
    for (const RowToMove& move : request.moves) {
      const auto row = rows_.find(move.row);
      if (row == rows_.end()) continue;
      const bool back = move.rollback <= static_cast<int>(row->second.tokens.size());
      const bool taken = !ApplyMove(move, &row->second).has_value();
      moves[move.row] = {&move, back && taken};
      named.insert(move.row);
    }
    return CompareAll(said, moves, std::move(named));
  }

  std::string CompareAll(const StepResult& said,
                         const std::map<RowId, std::pair<const RowToMove*, bool>>& moves,
                         std::set<RowId> named) {
    for (const RowResult& answer : said.rows) {
      const std::vector<TokenMask> read = ReadMasks(answer);
      if (answer.state == RowState::kRefused) continue;
      if (named.erase(answer.row) == 0) return absl::StrCat("row ", answer.row, " is answered");
      const auto move = moves.find(answer.row);
      const bool moved = move != moves.end();
      const std::string wrong =
          CheckAnswer(rows_.at(answer.row), moved ? move->second.first : nullptr,
                      moved && move->second.second, answer, read);
      if (!wrong.empty()) return absl::StrCat("row ", answer.row, ": ", wrong);
    }
    return named.empty() ? "" : absl::StrCat("row ", *named.begin(), " is not answered");
  }

  // The masks as a client reads them; empty ones where there are none.
  std::vector<TokenMask> ReadMasks(const RowResult& row) {
    std::vector<TokenMask> masks;
    for (const Position& position : row.positions) {
      masks.emplace_back(tokenizer_->vocabulary().size());
      if (position.state != Position::State::kMasked) continue;
      MaskForm form = position.form;
      if (fault_ == Fault::kSlotNotFilled && form.put.has_value() && filled_[*form.put]++ > 0) {
        form.put.reset();
      }
      masks.back() = reader_->Read(form, *position.mask);
    }
    return masks;
  }

  std::mt19937_64 random_;
  const Fault fault_;
  const LoadedTokenizer* const tokenizer_;
  GrammarStore* const grammars_;
  std::vector<cache::GrammarPtr> compiled_;
  std::unique_ptr<StreamSession> session_;
  std::unique_ptr<FormReader> reader_;
  std::map<int, int> filled_;  // how often a slot was, for its fault
  ModelRows rows_;
  std::uint64_t step_ = 0;
};

class SessionSimulationTest : public testing::Test {
 protected:
  std::string Run(std::uint64_t seed, Fault fault) {
    return Simulation(seed, fault, *tokenizers_, &grammars_).Run();
  }

  std::unique_ptr<const TokenizerStore> tokenizers_ = std::move(*TokenizerStore::Load({}, 1 << 20));
  GrammarStore grammars_{Config(), nullptr};
};

TEST_F(SessionSimulationTest, EveryAnswerIsTheModels) {
  int seeds = 10'000;
  if (const char* wanted = std::getenv("MASKD_SIMULATION_SEEDS"); wanted != nullptr) {
    ASSERT_TRUE(absl::SimpleAtoi(wanted, &seeds)) << wanted;
  }
  for (int seed = 1; seed <= seeds; ++seed) {
    ASSERT_EQ(Run(static_cast<std::uint64_t>(seed), Fault::kNone), "") << "seed " << seed;
  }
}

class PlantedFaultTest : public SessionSimulationTest,
                         public testing::WithParamInterface<std::pair<const char*, Fault>> {};

TEST_P(PlantedFaultTest, IsFoundWithin1000Seeds) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    if (!Run(seed, GetParam().second).empty()) return;
  }
  FAIL() << "no seed finds it";
}

INSTANTIATE_TEST_SUITE_P(Faults, PlantedFaultTest,
                         testing::ValuesIn(std::vector<std::pair<const char*, Fault>>{
                             {"StepTwice", Fault::kStepTwice},
                             {"TokenLost", Fault::kTokenLost},
                             {"MaskOfAnotherRow", Fault::kMaskOfAnotherRow},
                             {"RollbackShort", Fault::kRollbackShort},
                             {"SlotNotFilled", Fault::kSlotNotFilled},
                             {"RowsMixedOnMove", Fault::kRowsMixedOnMove},
                             {"DraftsTaken", Fault::kDraftsTaken},
                             {"ForkTakesParent", Fault::kForkTakesParent},
                             {"RefusalIgnored", Fault::kRefusalIgnored},
                             {"CloseLost", Fault::kCloseLost},
                         }),
                         [](const auto& test) { return test.param.first; });

}  // namespace
}  // namespace maskd::service
