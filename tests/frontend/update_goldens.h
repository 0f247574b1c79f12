// Whether this run rewrites what it would compare with: --update_goldens of frontend_golden_test.
#ifndef MASKD_TESTS_FRONTEND_UPDATE_GOLDENS_H_
#define MASKD_TESTS_FRONTEND_UPDATE_GOLDENS_H_

namespace maskd {

inline bool update_goldens = false;

}  // namespace maskd

#endif  // MASKD_TESTS_FRONTEND_UPDATE_GOLDENS_H_
