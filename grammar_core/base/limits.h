// Every bound of the grammar core: Limits, which a server sets once from its configuration, and
// kVocabularyLimits, constants of the files it reads when it starts.
//
// Units    bytes, terms, levels, work and so on are in the name of each field.
// Errors   a bound that is met is RESOURCE_EXHAUSTED with the field's name, its value and the need.
#ifndef MASKD_GRAMMAR_CORE_BASE_LIMITS_H_
#define MASKD_GRAMMAR_CORE_BASE_LIMITS_H_

#include <cstdint>

namespace maskd {

// Of grammars and rows, for all callers alike. The defaults are those of the flags.
struct Limits {
  // Bytes of one grammar's source text.
  std::int64_t source_bytes = 4 << 20;
  // Levels of nesting in a source text (arrays and objects of a schema, groups of a pattern).
  std::int64_t source_depth = 512;
  // Sets of JSON schemas that anyOf, allOf and $ref combine, beyond one for each schema.
  std::int64_t schema_sets = 10'000;
  // Rules that templates and rules with an index make of one grammar.
  std::int64_t rule_instances = 100'000;
  // Parts of one pattern that look-around has read once more for each place they can stand at.
  std::int64_t look_around_parts = 10'000;
  // Nodes of one grammar's IR.
  std::int64_t ir_nodes = 1'000'000;
  // Bytes that one automaton of a grammar should hold beyond what the compile made, its masks
  // included: rows then go on in a new one (rows/generations.h). It is looked at between the
  // calls of a row.
  std::int64_t generation_bytes = 16 << 20;
  // Terms (automaton states and their parts) and bytes of one automaton at most: what a compile, or
  // one call of a row, may need.
  std::int64_t terms = 1'000'000;
  std::int64_t grammar_bytes = 256 << 20;
  // Cells of a state's spine: how deep the text of one row may nest, several cells a level.
  std::int64_t row_cells = 30'000;
  // Bytes of what one row keeps beside its states: items of arrays that must differ.
  std::int64_t row_bytes = 64 << 20;
  // Levels a derivative may descend without reading a byte: rule calls and nested operators.
  std::int64_t derivative_depth = 2'000;
  // States that one emptiness check of an intersection or complement may visit. It bounds memory;
  // the work of a step or a compile bounds the time.
  std::int64_t emptiness_states = 100'000;
  // Units of work of one compile. A unit is about as long wherever it is spent: on one EPYC core of
  // 2.4 GHz 0.2 us at the median, and 0.1 to 1.4 us in whatever takes long, so this is 1 to 2 s of
  // a processor, 7 at the worst. Of MaskBench's schemas half take at most 1,500 units, 99 in 100 at
  // most 34,000, 999 in 1,000 at most 131,000, and the dearest, web-types, 641,000 (0.13 s); of the
  // attack set the dearest that compiles takes 1,350,000.
  std::int64_t compile_work = 5'000'000;
  // Units of work of one decode step of one row: 0.1 to 1 s, where the dearest mask of MaskBench
  // takes 92,000 (16 ms), and the shortest text with 400 required names 1,100,000 (0.06 s).
  std::int64_t step_work = 2'000'000;
};

// Of files that an operator names, so none of them is a flag.
struct VocabularyLimits {
  // Bytes of a vocabulary file that is read whole.
  std::int64_t vocabulary_file_bytes = 128 << 20;
  // Bytes of a JSON file beside it.
  std::int64_t vocabulary_beside_bytes = 16 << 20;
  // Levels of nesting in a JSON file.
  std::int64_t tokenizer_json_depth = 64;
  // Bytes of a GGUF file before its tensors.
  std::int64_t gguf_metadata_bytes = 128 << 20;
  // Levels of arrays in an array of GGUF.
  std::int64_t gguf_array_depth = 8;
  // Values of a JSON file, those of its vocabulary apart.
  std::int64_t tokenizer_json_values = 1 << 20;
};
inline constexpr VocabularyLimits kVocabularyLimits;

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_LIMITS_H_
