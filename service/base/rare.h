// An optional whose value lies apart: for what few rows have, so that the others do not carry it.
//
// Cost     a word where it is empty; an allocation, and a copy of the value with each copy.
// Threads  a plain value.
#ifndef MASKD_SERVICE_BASE_RARE_H_
#define MASKD_SERVICE_BASE_RARE_H_

#include <memory>
#include <optional>
#include <utility>

namespace maskd::service {

// As std::optional<T>, at another place.
template <typename T>
class Rare {
 public:
  Rare() = default;
  Rare(std::nullopt_t /*empty*/) {}  // NOLINT(google-explicit-constructor): as an optional
  Rare(T value)                      // NOLINT(google-explicit-constructor): as an optional
      : value_(std::make_unique<T>(std::move(value))) {}
  Rare(const Rare& other)
      : value_(other.value_ == nullptr ? nullptr : std::make_unique<T>(*other.value_)) {}
  Rare(Rare&&) noexcept = default;
  Rare& operator=(Rare other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }
  ~Rare() = default;

  // Makes a value of `arguments`, in place of one that was there.
  template <typename... Arguments>
  T& emplace(Arguments&&... arguments) {
    value_ = std::make_unique<T>(std::forward<Arguments>(arguments)...);
    return *value_;
  }

  [[nodiscard]] bool has_value() const { return value_ != nullptr; }
  // The value, which must be there.
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_BASE_RARE_H_
