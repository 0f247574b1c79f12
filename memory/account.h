// How many bytes are held for something now: a counter, and charges to it that end by themselves.
//
//   memory::Account replies;                          // registered once, see accountant.h
//   const memory::Charge charge(&replies, bytes);     // counted until it goes
//
// Threads   an Account: any. A Charge: one at a time.
// Ownership an Account outlives its charges.
#ifndef MASKD_MEMORY_ACCOUNT_H_
#define MASKD_MEMORY_ACCOUNT_H_

#include <atomic>
#include <cstdint>
#include <utility>

namespace maskd::memory {

// One for each kind of thing that comes and goes, shared by all threads.
class Account {
 public:
  // Relaxed: a sum, ordered with nothing else. `bytes` may be negative.
  void Add(std::int64_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> bytes_ = 0;
};

// The part of an account that one owner holds; a move takes it along.
class Charge {
 public:
  Charge() = default;
  // `account` may be null: then nothing is counted.
  explicit Charge(Account* account, std::int64_t bytes = 0) : account_(account) { Set(bytes); }
  Charge(Charge&& other) noexcept
      : account_(std::exchange(other.account_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Charge& operator=(Charge&& other) noexcept {
    std::swap(account_, other.account_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  // Gives back what it has charged.
  ~Charge() { Set(0); }

  // What is held from now on.
  void Set(std::int64_t bytes) {
    if (account_ == nullptr || bytes == bytes_) return;
    account_->Add(bytes - std::exchange(bytes_, bytes));
  }
  // By how much more, or less; and what is charged now.
  void Add(std::int64_t bytes) { Set(bytes_ + bytes); }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  Account* account_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace maskd::memory

#endif  // MASKD_MEMORY_ACCOUNT_H_
