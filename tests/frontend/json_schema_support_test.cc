// The table of JSON Schema's keywords in docs/grammars.md: each row is made of what becomes of its
// schemas, and the page must have the table as it comes out.
//
// After a wanted change: frontend_golden_test --update_goldens, then review the diff.
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "tests/frontend/ir_recognizer.h"
#include "tests/frontend/reading.h"
#include "tests/frontend/support_rows.h"
#include "tests/frontend/update_goldens.h"

namespace maskd {
namespace {

constexpr absl::string_view kBegin = "<!-- keywords -->\n";
constexpr absl::string_view kEnd = "<!-- end of keywords -->\n";
constexpr absl::string_view kHead = "| keyword | state | note |\n| --- | --- | --- |\n";
const char* const kPage = MASKD_SOURCE_DIR "/docs/grammars.md";

// What the schemas of a row come to: "exact", "annotation" where texts that the keyword would
// refuse are taken on purpose, or "refused".
std::string StateOf(const SupportRow& row) {
  std::string state;
  for (const SupportCase& one : row.cases) {
    const auto read = ReadForTest("json_schema", one.schema);
    std::string found = "exact";
    if (absl::IsUnimplemented(read.status())) {
      found = "refused";
    } else if (!read.ok()) {
      ADD_FAILURE() << row.keywords << ": " << one.schema << ": " << read.status();
      return "broken";
    } else {
      IrRecognizer recognizer(read->ir);
      for (const std::string& text : one.valid)
        EXPECT_TRUE(recognizer.Accepts(text)) << one.schema << " should take " << text;
      for (const std::string& text : one.invalid)
        EXPECT_FALSE(recognizer.Accepts(text)) << one.schema << " should refuse " << text;
      if (one.invalid.empty()) found = "annotation";
    }
    EXPECT_TRUE(state.empty() || state == found) << row.keywords << ": " << one.schema;
    state = found;
  }
  return state;
}

std::string Table() {
  std::string table(kHead);
  for (const SupportRow& row : SupportRows()) {
    absl::StrAppend(&table, "| ", row.keywords, " | ", StateOf(row),
                    absl::string_view(row.note).empty() ? " |" : " | ", row.note, " |\n");
  }
  return table;
}

TEST(SupportTableTest, IsThatOfThePage) {
  std::ifstream file(kPage);
  ASSERT_TRUE(file.good()) << kPage;
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = page.find(std::string(kBegin));
  const std::size_t end = page.find(std::string(kEnd));
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos) << "no table in " << kPage;
  const std::string before = page.substr(0, begin + kBegin.size());
  const std::string table = Table();
  if (update_goldens) std::ofstream(kPage) << before << table << page.substr(end);
  EXPECT_TRUE(update_goldens || page.substr(before.size(), end - before.size()) == table)
      << "the table of " << kPage << " is another one; it should be\n"
      << table;
}

}  // namespace
}  // namespace maskd
