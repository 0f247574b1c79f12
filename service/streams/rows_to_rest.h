// The rows of a stream that are still to rest, each once and none that is closed: a rest that steps
// cut short again and again holds no more than the stream's rows.
//
// Order    by their numbers. An engine counts these up, so a row comes before the forks of it that
//          are made meanwhile, and they do not keep it waiting.
// Cost     a search in a tree of the rows that are left; nothing while there are none.
// Threads  one thread at a time.
#ifndef MASKD_SERVICE_STREAMS_ROWS_TO_REST_H_
#define MASKD_SERVICE_STREAMS_ROWS_TO_REST_H_

#include <cassert>
#include <cstddef>

#include "absl/container/btree_set.h"

#include "service/sequences/stream_types.h"

namespace maskd::service {

// Rows that a rest has listed and not come to.
class RowsToRest {
 public:
  void Add(RowId row) { rows_.insert(row); }
  // A fork stands where its parent does, which has rested or not.
  void Fork(RowId parent, RowId child) {
    if (!rows_.empty() && rows_.contains(parent)) rows_.insert(child);
  }
  void Close(RowId row) {
    if (!rows_.empty()) rows_.erase(row);
  }

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  // Takes the next one out. Requires one.
  RowId Take() {
    assert(!rows_.empty() && "nobody is left to rest");
    return rows_.extract(rows_.begin()).value();
  }

 private:
  absl::btree_set<RowId> rows_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_STREAMS_ROWS_TO_REST_H_
