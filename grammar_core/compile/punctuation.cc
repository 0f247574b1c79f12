#include "grammar_core/compile/punctuation.h"

namespace maskd {
namespace {

struct Punctuation {
  const char* text;
  int distance;
};
constexpr Punctuation kPunctuation[] = {
    {"\":", 0},  {"\",", 0},      {" \"", 0},   {",", 0},      {"{\"", 0},   {" {\"", 0},
    {" [", 0},   {" [\"", 0},     {" [{\"", 0}, {" true", 0},  {"},", 0},    {"],", 0},
    {"\"},", 0}, {"\"],", 0},     {"\"", 0},    {" ", 0},      {"1", 0},     {" {", 1},
    {"\"}", 1},  {"\"]", 1},      {"}", 1},     {"]", 1},      {"}}", 1},    {"}]", 1},
    {"}],", 1},  {"]}", 1},       {"a", 1},     {" false", 1}, {" null", 1}, {" -", 1},
    {".", 1},    {"0", 1},        {" {}", 1},   {" []", 1},    {"\":\"", 2}, {"\",\"", 2},
    {",\"", 2},  {", \"", 2},     {":", 2},     {"{", 2},      {"[", 2},     {"[\"", 2},
    {"[{\"", 2}, {"\n", 2},       {"true", 2},  {"false", 2},  {"null", 2},  {" 0", 2},
    {" 1", 2},   {" }", 2},       {" ]", 2},    {"-", 2},      {"{}", 2},    {"[]", 2},
    {"2", 1},    {"10", 1},       {"100", 1},   {"000", 1},    {"202", 1},   {"T", 1},
    {"A", 1},    {" t", 1},       {"_", 1},     {"/", 1},      {"https", 1}, {"://", 1},
    {".com", 1}, {"@example", 1},
};

}  // namespace

std::vector<PunctuationToken> FindPunctuation(const TokenIndex& index) {
  std::vector<PunctuationToken> tokens;
  for (const auto& [text, distance] : kPunctuation)
    if (const TokenId id = index.Find(text); id >= 0) tokens.push_back({id, distance});
  return tokens;
}

}  // namespace maskd
