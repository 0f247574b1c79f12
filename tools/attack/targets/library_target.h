// The engine itself, in this process: no server, no wire.
//
// Threads  one thread.
#ifndef MASKD_TOOLS_ATTACK_TARGETS_LIBRARY_TARGET_H_
#define MASKD_TOOLS_ATTACK_TARGETS_LIBRARY_TARGET_H_

#include <memory>
#include <string>

#include "grammar_core/compile/tokenizer_space.h"
#include "tools/attack/targets/target.h"

namespace maskd::attack {

// Has no service around the engine, so limits of streams and messages are not tried here.
class LibraryTarget final : public Target {
 public:
  // The vocabulary that all grammars are compiled against.
  explicit LibraryTarget(std::shared_ptr<TokenizerSpace> space);

  // As Target says. A refusal's reason is its own; cached bytes are those of the store of masks.
  [[nodiscard]] const Tokens& tokens() const override { return tokens_; }
  absl::StatusOr<std::unique_ptr<Grammar>> Compile(const std::string& format,
                                                   std::string payload) override;
  [[nodiscard]] std::string ReasonOf(const absl::Status& refusal) const override;
  std::int64_t CachedBytes() override;
  void EndCase() override {}

 private:
  std::shared_ptr<TokenizerSpace> space_;
  Tokens tokens_;
};

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_TARGETS_LIBRARY_TARGET_H_
