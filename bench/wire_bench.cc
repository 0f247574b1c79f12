// What the rows of a Decode stream cost on the wire, over real documents.
//
//   wire_bench --cases ../shared/maskbench/open.jsonl.gz --tokenizer build/vocab/llama3.tiktoken
//
// Counted  the bytes of each reply, whole, by its rows: ids, states and counts included, and
//          the first sight of every mask. One stream, its dictionary empty at first; row i of the
//          batch takes the next document when it has ended one, so grammars come and go.
// Timed    choosing the forms and writing the message. Matching and masks are engine_bench's.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"

#include "bench/cases.h"
#include "bench/documents.h"
#include "grammar_core/matcher/matcher.h"
#include "maskd/v1/mask_service.pb.h"
#include "service/sequences/mask_forms.h"
#include "service/sequences/stream_types.h"
#include "service/wire/reply_writer.h"

ABSL_FLAG(std::string, cases, "", "MaskBench cases.");
ABSL_FLAG(std::string, tokenizer, "", "Vocabulary file of scripts/fetch-vocab.");
ABSL_FLAG(int, documents, 500, "Documents taken, each once.");
ABSL_FLAG(int, rows, 64, "Rows of the batch.");
ABSL_FLAG(int, dictionary, 256, "Masks of the dictionary.");

namespace maskd::bench {
namespace {

using Clock = std::chrono::steady_clock;
using service::MaskForm;
using service::Position;

constexpr int kKinds = 5;
constexpr std::array<const char*, kKinds> kKindNames = {"dense", "same_as", "allowed_ids",
                                                        "forbidden_ids", "delta"};

// One row of the batch and what it still has to take.
struct Row {
  const Document* document;
  std::unique_ptr<Matcher> matcher;
  std::size_t taken = 0;
};

struct Tally {
  std::int64_t rows = 0;
  std::int64_t bytes = 0;
  double seconds = 0;
  std::array<std::int64_t, kKinds> count_of = {};
  std::array<std::int64_t, kKinds> bytes_of = {};
};

class Stream {
 public:
  Stream(const std::vector<Document>& documents, const service::FormTerms& terms, int mask_words)
      : documents_(documents), forms_(terms), mask_words_(mask_words) {}

  absl::StatusOr<Tally> Run(int row_count) {
    std::vector<Row> rows;
    while (static_cast<int>(rows.size()) < row_count && Open(rows)) {
    }
    while (!rows.empty()) {
      if (absl::Status step = Step(rows); !step.ok()) return step;
      for (Row& row : rows) {
        if (row.taken < row.document->tokens.size() &&
            !row.matcher->Accept(row.document->tokens[row.taken]).ok()) {
          return absl::InternalError(row.document->id);
        }
        ++row.taken;
      }
      const auto ended = std::erase_if(
          rows, [](const Row& row) { return row.taken > row.document->tokens.size(); });
      for (std::size_t i = 0; i < ended && Open(rows); ++i) {
      }
    }
    return tally_;
  }

 private:
  bool Open(std::vector<Row>& rows) {
    if (next_ == documents_.size()) return false;
    const Document& document = documents_[next_++];
    rows.push_back(Row{&document, std::make_unique<Matcher>(document.grammar)});
    return true;
  }

  // The reply to one step of all rows.
  absl::Status Step(const std::vector<Row>& rows) {
    service::StepResult result;
    result.step = ++step_;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      service::RowResult& row = result.rows.emplace_back();
      row.row = i + 1;
      row.state = service::RowState::kActive;
      row.token_count = rows[i].matcher->token_count();
      row.may_end = rows[i].matcher->may_end();
      absl::StatusOr<MaskRef> mask = rows[i].matcher->Mask();
      if (!mask.ok()) return mask.status();
      row.positions.push_back(Position{Position::State::kMasked, *std::move(mask), {}});
    }
    const Clock::time_point begin = Clock::now();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Position& position = result.rows[i].positions.front();
      position.form = forms_.Say(position.mask);
    }
    const absl::string_view bytes = writer_.Write(result, mask_words_);
    tally_.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
    return Count(result, bytes);
  }

  absl::Status Count(const service::StepResult& result, absl::string_view bytes) {
    v1::DecodeResponse reply;
    if (!reply.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
      return absl::InternalError("a reply is no message");
    tally_.rows += static_cast<std::int64_t>(result.rows.size());
    tally_.bytes += static_cast<std::int64_t>(bytes.size());
    for (int i = 0; i < reply.step().rows_size(); ++i) {
      const auto kind = static_cast<std::size_t>(result.rows[i].positions.front().form.kind);
      ++tally_.count_of[kind];
      tally_.bytes_of[kind] += static_cast<std::int64_t>(reply.step().rows(i).ByteSizeLong());
    }
    return absl::OkStatus();
  }

  const std::vector<Document>& documents_;
  service::MaskForms forms_;
  const int mask_words_;
  std::size_t next_ = 0;
  std::uint64_t step_ = 0;
  service::ReplyWriter writer_;
  Tally tally_;
};

void Print(const Tally& tally, int mask_words) {
  const double rows = static_cast<double>(std::max<std::int64_t>(tally.rows, 1));
  std::printf("%lld rows; %.1f bytes a row (dense %d); %.0f ns a row to choose and write\n",
              static_cast<long long>(tally.rows), static_cast<double>(tally.bytes) / rows,
              mask_words * 4, tally.seconds / rows * 1e9);
  for (int kind = 0; kind < kKinds; ++kind) {
    std::printf("  %-14s %8lld rows %7.3f%%  %6.1f bytes of each row's mean\n",
                kKindNames[static_cast<std::size_t>(kind)],
                static_cast<long long>(tally.count_of[static_cast<std::size_t>(kind)]),
                100 * static_cast<double>(tally.count_of[static_cast<std::size_t>(kind)]) / rows,
                static_cast<double>(tally.bytes_of[static_cast<std::size_t>(kind)]) / rows);
  }
}

absl::Status Run() {
  const auto vocabulary = LoadBenchVocabulary(absl::GetFlag(FLAGS_tokenizer), "");
  if (!vocabulary.ok()) return vocabulary.status();
  const auto documents =
      LoadDocuments(absl::GetFlag(FLAGS_cases), TokenizerSpace::Create(*vocabulary),
                    absl::GetFlag(FLAGS_documents));
  if (!documents.ok()) return documents.status();
  service::FormTerms terms{true, true, true, true, absl::GetFlag(FLAGS_dictionary)};
  const int mask_words = MaskWordCount((*vocabulary)->size());
  const absl::StatusOr<Tally> tally =
      Stream(*documents, terms, mask_words).Run(absl::GetFlag(FLAGS_rows));
  if (!tally.ok()) return tally.status();
  Print(*tally, mask_words);
  return absl::OkStatus();
}

}  // namespace
}  // namespace maskd::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Counts the bytes of a Decode stream's rows over real documents.");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = maskd::bench::Run();
  if (!status.ok()) std::fprintf(stderr, "wire_bench: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
