// Random JSON Schemas of the keywords whose endings are hardest to find: uniqueItems,
// minProperties, if, contains, minItems and patterns beside them.
#ifndef MASKD_BENCH_RARE_SCHEMAS_H_
#define MASKD_BENCH_RARE_SCHEMAS_H_

#include <random>
#include <string>

namespace maskd::bench {

// Of at most so many levels of arrays and objects. Some have no text at all.
std::string RareSchema(std::mt19937_64* random, int levels = 3);

}  // namespace maskd::bench

#endif  // MASKD_BENCH_RARE_SCHEMAS_H_
