// The configuration of a server that makes each mask when a row asks for it, and none before.
#ifndef MASKD_TESTS_SERVICE_CONFIG_NOTHING_AHEAD_H_
#define MASKD_TESTS_SERVICE_CONFIG_NOTHING_AHEAD_H_

#include "service/config/config.h"

namespace maskd::service {

inline Config NothingAhead() {
  Config config;
  config.warm_up_ms = 0;
  config.look_ahead_masks = 0;
  return config;
}

}  // namespace maskd::service

#endif  // MASKD_TESTS_SERVICE_CONFIG_NOTHING_AHEAD_H_
