#include "absl/strings/str_cat.h"

#include "client/c/handles.h"
#include "client/cpp/base/errors.h"

namespace maskd::client {

maskd_status* ToC(const absl::Status& status) {
  if (status.ok()) return nullptr;
  return new maskd_status{status, std::string(status.message()), ErrorPlace(status),
                          ErrorReason(status)};
}

absl::Status NotNull(const void* pointer, const char* name) {
  if (pointer != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, ": is NULL"));
}

absl::Status CheckSize(std::size_t size, std::size_t least, const char* name) {
  if (size >= least) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, ".struct_size: ", size, " is less than ",
                                                 least, "; set it to sizeof the struct"));
}

}  // namespace maskd::client

extern "C" {

int32_t maskd_abi_version(void) { return MASKD_ABI_VERSION; }

const char* maskd_version(void) { return MASKD_VERSION; }

int32_t maskd_status_code(const maskd_status* status) {
  return status == nullptr ? MASKD_OK : static_cast<int32_t>(status->status.code());
}

const char* maskd_status_message(const maskd_status* status) {
  return status == nullptr ? "" : status->message.c_str();
}

const char* maskd_status_place(const maskd_status* status) {
  return status == nullptr ? "" : status->place.c_str();
}

const char* maskd_status_reason(const maskd_status* status) {
  return status == nullptr ? "" : status->reason.c_str();
}

int64_t maskd_status_retry_after_ms(const maskd_status* status) {
  if (status == nullptr) return -1;
  const auto wait = maskd::client::ErrorRetryAfter(status->status);
  return wait.has_value() ? absl::ToInt64Milliseconds(*wait) : -1;
}

void maskd_status_free(maskd_status* status) { delete status; }

}  // extern "C"
