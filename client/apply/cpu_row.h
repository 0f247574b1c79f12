// Masks one row of logits in any of its forms, with a kernel of cpu_kernels.h.
//
// Short forms  ids cost their own logits only: those that the base forbids and the mask allows are
//          set aside, the base is applied, and they are put back.
// Tuning   a row that is not a list of allowed ids is scaled first, its biased logits apart.
// Threads  pure function of its arguments; rows of one plane may be masked at the same time.
#ifndef MASKD_CLIENT_APPLY_CPU_ROW_H_
#define MASKD_CLIENT_APPLY_CPU_ROW_H_

#include "client/apply/cpu_kernels.h"
#include "client/apply/logits.h"
#include "client/apply/mask_rows.h"

namespace maskd::client {

// `masks`, `logits` and `output` fit (CheckMasks(), CheckOutput()), and `row` is one of
// `masks.rows`.
void MaskCpuRow(const CpuKernel& kernel, const MaskRows& masks, const MaskRow& row,
                const Logits& logits, const Logits& output);

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_CPU_ROW_H_
