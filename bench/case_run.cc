#include "bench/case_run.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include <nlohmann/json.hpp>

#include "bench/samples.h"
#include "grammar_core/compile/compiler.h"
#include "grammar_core/compile/warm_up.h"
#include "grammar_core/compile/warm_up_from.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/matcher/token_stepper.h"
#include "grammar_core/rows/masked_automaton.h"

namespace maskd::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestError = 400;

// To a tenth of a microsecond as the format asks; finer below ten, where a tenth would hide much.
double Rounded(double us) {
  return us < 10 ? std::round(us * 1000) / 1000 : std::round(us * 10) / 10;
}

Json RoundedAll(const std::vector<double>& times) {
  Json list = Json::array();
  for (const double us : times) list.push_back(Rounded(us));
  return list;
}

class CaseRun {
 public:
  CaseRun(const Case& one, std::shared_ptr<TokenizerSpace> space, const RunOptions& options)
      : case_(one),
        space_(std::move(space)),
        options_(options),
        clock_cost_us_(ClockCost()),
        row_(MaskWordCount(space_->vocabulary().size())) {}

  CaseResult Run() {
    result_.id = case_.id;
    result_.n_tests = case_.tests.size();
    start_ = Clock::now();
    Budget budget{Budget::Bounds()};
    GrammarSource source{"json_schema", case_.schema, {}};
    if (options_.indent >= 0) source.options.indent = options_.indent;
    const auto grammar = CompileGrammar(source, space_, Limits(), budget);
    result_.compile_us = MicrosSince(start_);
    if (!grammar.ok()) return Failed("compile_error", std::string(grammar.status().ToString()));
    Matcher first(*grammar);
    CopyMask(&first);
    result_.ttfm_us = MicrosSince(start_);
    if (options_.warm_up_ms > 0) {
      const Clock::time_point warm_up = Clock::now();
      WarmUp(**grammar, {.wall_ms = options_.warm_up_ms});
      result_.warm_up_us = MicrosSince(warm_up);
    }
    for (const Instance& instance : case_.tests) {
      result_.tests.push_back(RunInstance(*grammar, instance));
      if (OutOfTime()) return Failed("timeout", "the instances took too long");
    }
    result_.mem_bytes = (*grammar)->costs().held_bytes;
    return std::move(result_);
  }

 private:
  CaseResult Failed(const std::string& status, const std::string& error) {
    result_.status = status;
    result_.error = error.substr(0, kLongestError);
    return std::move(result_);
  }

  [[nodiscard]] bool OutOfTime() const { return MicrosSince(start_) > options_.seconds * 1e6; }

  // The mask into the caller's row; false with error_ set.
  bool CopyMask(Matcher* matcher) {
    const auto mask = matcher->Mask();
    if (!mask.ok()) {
      error_ = std::string(mask.status().ToString());
      return false;
    }
    (*mask)->CopyTo(row_.data());
    return true;
  }

  // What the service does while an engine chooses the next token.
  void LookAhead(const Matcher& matcher) {
    if (!options_.look_ahead || RowStates::IsOwn(matcher.place())) return;
    const Clock::time_point start = Clock::now();
    MaskedAutomaton& automaton = matcher.stepper().states().automaton();
    const TermId state = RowMemory::TermOf(matcher.place());
    if (ahead_of_.insert({automaton.serial(), state}).second)
      WarmUpFrom(matcher.grammar(), &automaton, state);
    result_.ahead_us.push_back(MicrosSince(start));
  }

  static double ClockCost() {
    static const double kMicros = ClockCostMicros();
    return kMicros;
  }

  // Of one call, without the time that reading the clock takes.
  [[nodiscard]] double CallMicros(Clock::time_point start) const {
    return std::max(0.0, MicrosSince(start) - clock_cost_us_);
  }

  // CopyMask(), timed and told known from new.
  bool TimeMask(Matcher* matcher) {
    matcher->Rest();
    const MaskedAutomaton& automaton = matcher->stepper().states().automaton();
    const std::int64_t masks = automaton.mask_count();
    const Clock::time_point start = Clock::now();
    const bool have_mask = CopyMask(matcher);
    result_.mask_us.push_back(CallMicros(start));
    result_.mask_known.push_back(have_mask && automaton.mask_count() == masks);
    return have_mask;
  }

  [[nodiscard]] bool Bit(TokenId token) const {
    return (static_cast<std::uint32_t>(row_[token / kBitsPerWord]) >> (token % kBitsPerWord)) & 1U;
  }

  InstanceResult RunInstance(const std::shared_ptr<const CompiledGrammar>& grammar,
                             const Instance& instance) {
    InstanceResult result;
    result.valid = instance.valid;
    result.tokens = instance.tokens.size();
    Matcher matcher(grammar);
    result.got = TakeTokens(&matcher, instance.tokens, &result);
    if (result.got == "accept" && !(CopyMask(&matcher) && Bit(options_.stop)))
      result.got = "no_eos";
    return result;
  }

  std::string TakeTokens(Matcher* matcher, const std::vector<TokenId>& tokens,
                         InstanceResult* result) {
    for (const TokenId token : tokens) {
      const bool have_mask = TimeMask(matcher);
      if (have_mask && !Bit(token)) return "reject";
      LookAhead(*matcher);
      const Clock::time_point start = Clock::now();
      const absl::Status accepted = matcher->Accept(token);
      result_.accept_us.push_back(CallMicros(start));
      if (!have_mask || !accepted.ok()) {
        result->error = have_mask ? std::string(accepted.ToString()) : error_;
        return "error";
      }
      ++result->at;
      if (OutOfTime()) break;
    }
    return "accept";
  }

  const Case& case_;
  std::shared_ptr<TokenizerSpace> space_;
  const RunOptions options_;
  const double clock_cost_us_;
  Clock::time_point start_;
  std::vector<std::int32_t> row_;
  absl::flat_hash_set<std::pair<std::uint64_t, TermId>> ahead_of_;  // automatons and states
  std::string error_;
  CaseResult result_;
};

void KeepSmaller(const std::vector<double>& other, std::vector<double>* into) {
  for (std::size_t i = 0; i < into->size(); ++i) (*into)[i] = std::min((*into)[i], other[i]);
}

Json InstanceJson(const InstanceResult& instance) {
  Json json = {{"valid", instance.valid},
               {"got", instance.got},
               {"at", instance.at},
               {"tokens", instance.tokens}};
  if (!instance.error.empty()) json["error"] = instance.error;
  return json;
}

}  // namespace

CaseResult RunCase(const Case& one, const std::shared_ptr<TokenizerSpace>& space,
                   const RunOptions& options) {
  try {
    return CaseRun(one, space, options).Run();
  } catch (const std::bad_alloc&) {
    CaseResult result;
    result.id = one.id;
    result.status = "oom";
    result.error = "no memory below the bound on address space";
    return result;
  }
}

void KeepMinima(const CaseResult& other, CaseResult* into) {
  if (other.status != into->status || other.mask_us.size() != into->mask_us.size() ||
      other.accept_us.size() != into->accept_us.size()) {
    return;
  }
  into->compile_us = std::min(into->compile_us, other.compile_us);
  into->ttfm_us = std::min(into->ttfm_us, other.ttfm_us);
  into->warm_up_us = std::min(into->warm_up_us, other.warm_up_us);
  KeepSmaller(other.mask_us, &into->mask_us);
  KeepSmaller(other.accept_us, &into->accept_us);
}

std::vector<double> StepTimes(const CaseResult& result) {
  std::vector<double> steps;
  auto mask = result.mask_us.begin();
  auto accept = result.accept_us.begin();
  for (const InstanceResult& instance : result.tests) {
    const std::size_t accepts = instance.at + (instance.got == "error" ? 1 : 0);
    for (std::size_t i = 0; i < accepts; ++i) steps.push_back(*mask++ + *accept++);
    if (instance.got == "reject") steps.push_back(*mask++);
  }
  return steps;
}

std::string ResultLine(const CaseResult& result, const std::string& split) {
  Json json = {{"id", result.id},
               {"split", split},
               {"engine", "maskd"},
               {"status", result.status},
               {"n_tests", result.n_tests}};
  if (result.status != "ok") {
    json["error"] = result.error;
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  json["compile_us"] = Rounded(result.compile_us);
  json["ttfm_us"] = Rounded(result.ttfm_us);
  json["warm_up_us"] = Rounded(result.warm_up_us);
  json["ahead_us"] = RoundedAll(result.ahead_us);
  json["mem_bytes"] = result.mem_bytes;
  json["mask_us"] = RoundedAll(result.mask_us);
  json["accept_us"] = RoundedAll(result.accept_us);
  std::string known;
  for (const bool is_known : result.mask_known) known.push_back(is_known ? '1' : '0');
  json["mask_known"] = known;
  json["tests"] = Json::array();
  for (const InstanceResult& test : result.tests) json["tests"].push_back(InstanceJson(test));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace maskd::bench
