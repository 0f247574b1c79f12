// A target of the attack set with faults that a test plants: its one grammar is "a*", spelled by
// tokens of one letter each.
#ifndef MASKD_TESTS_ATTACKS_FAKE_TARGET_H_
#define MASKD_TESTS_ATTACKS_FAKE_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "tools/attack/targets/target.h"

namespace maskd::attack {

// What is wrong with a target; nothing by default.
struct Planted {
  bool takes_b = false;                // which no mask allows
  bool moves_when_refused = false;     // a row takes what it refuses
  bool later_rows_differ = false;      // masks of all rows but the first have another bit
  bool forgets_to_go_back = false;     // Rollback() is OK and does nothing
  bool forks_differ = false;           // as later rows
  bool allows_special = false;         // a special token that does not end the text
  bool mask_is_zero = false;           // at each place
  absl::Status refusal = {};           // of each compile
  std::string reason = "some reason";  // of a refusal
};

// Its vocabulary: "a", "b", the end, and a special token that is no end.
inline constexpr TokenId kA = 0;
inline constexpr TokenId kB = 1;
inline constexpr TokenId kStop = 2;
inline constexpr TokenId kSpecial = 3;

inline Tokens FakeTokens() {
  Tokens tokens;
  tokens.splitter.Add("a", kA);
  tokens.splitter.Add("b", kB);
  tokens.size = 4;
  tokens.stop_ids = {kStop};
  tokens.special_ids = {kStop, kSpecial};
  return tokens;
}

class FakeRow final : public Row {
 public:
  FakeRow(const Planted* planted, bool differs) : planted_(*planted), differs_(differs) {}

  absl::StatusOr<MaskWords> Mask() override {
    if (!taken_.empty() && taken_.back() == kStop) return MaskWords();
    if (planted_.mask_is_zero) return MaskWords{0};
    std::int32_t bits = 1 << kA | 1 << kStop;
    if (differs_) bits |= 1 << kB;
    if (planted_.allows_special) bits |= 1 << kSpecial;
    return MaskWords{bits};
  }
  absl::Status Take(std::span<const TokenId> tokens, std::int64_t* taken) override {
    for (*taken = 0; *taken < std::ssize(tokens); ++*taken) {
      const TokenId token = tokens[static_cast<std::size_t>(*taken)];
      const bool takes = token == kA || token == kStop || (token == kB && planted_.takes_b);
      if (takes || planted_.moves_when_refused) taken_.push_back(token);
      if (!takes) return absl::InvalidArgumentError("refused");
    }
    return absl::OkStatus();
  }
  absl::Status TakeNoToken(std::int64_t /*token*/) override {
    if (planted_.moves_when_refused) taken_.push_back(kA);
    return absl::InvalidArgumentError("no token");
  }
  absl::Status Rollback(std::int64_t count) override {
    if (count < 0 || count > token_count()) return absl::OutOfRangeError("too many");
    if (!planted_.forgets_to_go_back)
      taken_.resize(taken_.size() - static_cast<std::size_t>(count));
    return absl::OkStatus();
  }
  std::int64_t token_count() override { return std::ssize(taken_); }
  absl::StatusOr<std::unique_ptr<Row>> Fork() override {
    auto fork = std::make_unique<FakeRow>(*this);
    fork->differs_ = differs_ || planted_.forks_differ;
    return fork;
  }
  // The parents that were asked for last.
  std::vector<int> parents;
  absl::Status MaskDraft(std::span<const TokenId> /*tokens*/, std::span<const int> of) override {
    parents.assign(of.begin(), of.end());
    return absl::OkStatus();
  }
  absl::Status Write(const Misfit& misfit) override {
    const bool fits = misfit.more_words == 0 && misfit.row == 0;
    return fits ? absl::OkStatus() : absl::InvalidArgumentError("does not fit");
  }

 private:
  const Planted& planted_;
  bool differs_;
  std::vector<TokenId> taken_;
};

class FakeGrammar final : public Grammar {
 public:
  explicit FakeGrammar(const Planted* planted) : planted_(planted) {}
  absl::StatusOr<std::unique_ptr<Row>> Open() override {
    return std::make_unique<FakeRow>(planted_, planted_->later_rows_differ && opened_++ > 0);
  }

 private:
  const Planted* const planted_;
  int opened_ = 0;
};

class FakeTarget final : public Target {
 public:
  explicit FakeTarget(Planted planted = {}) : planted_(std::move(planted)), tokens_(FakeTokens()) {}

  [[nodiscard]] const Tokens& tokens() const override { return tokens_; }
  absl::StatusOr<std::unique_ptr<Grammar>> Compile(const std::string& /*format*/,
                                                   std::string payload) override {
    payloads.push_back(std::move(payload));
    if (!planted_.refusal.ok()) return planted_.refusal;
    return std::make_unique<FakeGrammar>(&planted_);
  }
  [[nodiscard]] std::string ReasonOf(const absl::Status& /*refusal*/) const override {
    return planted_.reason;
  }
  std::int64_t CachedBytes() override { return 0; }
  void EndCase() override { ++ended_cases; }

  std::vector<std::string> payloads;  // that were compiled
  int ended_cases = 0;

 private:
  const Planted planted_;
  const Tokens tokens_;
};

}  // namespace maskd::attack

#endif  // MASKD_TESTS_ATTACKS_FAKE_TARGET_H_
