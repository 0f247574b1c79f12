#include "service/memory_figures.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace maskd::service {
namespace {

TEST(MemoryFiguresTest, PartsAddUpToTheResidentSize) {
  memory::Accountant::Figures figures;
  figures.process = {.resident = 1000, .anonymous = 900, .file = 80, .shared = 20};
  figures.heap = HeapBytes{.allocated = 600, .resident = 850, .unused = 200};
  figures.held[static_cast<std::size_t>(memory::Part::kMasks)] = 400;
  figures.held[static_cast<std::size_t>(memory::Part::kSharedMemory)] = 20;
  figures.refusals[static_cast<std::size_t>(memory::Mark::kHigh)] = 3;
  std::map<std::string, double> parts;
  std::map<std::string, double> refusals;
  double sum = 0;
  for (const metrics::Figure& figure : MemoryFigures(figures, 2000)) {
    if (figure.name.name == metrics::kMemoryBytes.name) {
      parts[figure.label_value] = figure.value;
      sum += figure.value;
    }
    if (figure.name.name == metrics::kMemoryRefusedTotal.name) {
      refusals[figure.label_value] = figure.value;
    }
  }
  EXPECT_EQ(sum, 1000);
  EXPECT_EQ(parts.at("masks"), 400);
  EXPECT_EQ(parts.at("other"), 200);
  EXPECT_EQ(parts.at("heap_idle"), 250);
  EXPECT_EQ(parts.at("outside_heap"), 50);
  EXPECT_EQ(parts.at("image"), 80);
  EXPECT_EQ(refusals.at("high"), 3);
}

}  // namespace
}  // namespace maskd::service
