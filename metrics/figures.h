// Figures that somebody else keeps, read when they are scraped.
//
// Threads  the function is called by the endpoint's thread.
#ifndef MASKD_METRICS_FIGURES_H_
#define MASKD_METRICS_FIGURES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "metrics/names.h"

namespace maskd::metrics {

// One sample of one series. Names are those of names.h.
struct Figure {
  enum class Type : std::uint8_t { kGauge, kCounter };

  MetricName name;
  Type type = Type::kGauge;
  double value = 0;
  // One label at most: empty for none. Figures of one name follow each other.
  const char* label = "";
  std::string label_value = "";
};

using ReadFigures = std::function<std::vector<Figure>()>;

}  // namespace maskd::metrics

#endif  // MASKD_METRICS_FIGURES_H_
