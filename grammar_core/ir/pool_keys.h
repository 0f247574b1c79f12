// The contents of a pool's entry as a string of bytes: equal for equal entries of a kind, for no
// others. One map serves all pools, as a key begins with its kind.
#ifndef MASKD_GRAMMAR_CORE_IR_POOL_KEYS_H_
#define MASKD_GRAMMAR_CORE_IR_POOL_KEYS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// The beginning of a key. What `memory` holds does not matter, here and below: who makes many keys
// gives that of the last one.
std::string PoolKey(IrKind kind, std::string memory = {});

// What may follow it; texts carry their length.
void AppendNumber(std::uint32_t value, std::string* key);
void AppendText(absl::string_view text, std::string* key);
void AppendText(const std::u32string& text, std::string* key);

// Whole keys.
std::string ObjectKey(const ObjectSpec& spec, std::string memory = {});
std::string TokensKey(const TokenSpec& spec);
std::string NumberKey(const NumberSpec& spec, std::string memory = {});

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_POOL_KEYS_H_
