// Masks random batches with OpenCL and with the CPU and compares every bit: of the logits named, of
// those not named, and of the gaps. One program for the test of every machine: pocl's device in the
// test suite, oclgrind's for races and bounds, a GPU where one is at hand.
//
//   opencl_check [--device=H200] [--batches=200] [--max_vocab=3000] [--kernels=tokens]
//   opencl_check --device=H200 --bench       # time of steps as well
//
// Exit status: 0 when all are equal; 1 otherwise; 77 when this machine has no OpenCL.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"

#include "client/apply/cpu_applier.h"
#include "client/apply/opencl/opencl_api.h"
#include "client/apply/opencl/opencl_applier.h"
#include "client/apply/opencl/opencl_device.h"
#include "tests/apply/appliers.h"
#include "tests/apply/logits_fixture.h"

ABSL_FLAG(std::string, device, "", "index or part of the name of the device; empty: the first GPU");
ABSL_FLAG(std::string, kernels, "auto", "words, tokens or auto");
ABSL_FLAG(int, batches, 200, "random batches to compare");
ABSL_FLAG(int, max_vocab, 3000, "largest vocabulary of a batch");
ABSL_FLAG(bool, bench, false, "measure steps of 128,256 tokens too");
ABSL_FLAG(std::string, cache, "", "where built programs are kept; empty: nowhere");

namespace maskd::client {
namespace {

using Words = std::vector<std::int32_t>;
using Biases = std::vector<LogitBias>;
using Random = std::mt19937_64;

constexpr int kNoOpenCl = 77;

std::int64_t Below(Random& random, std::int64_t limit) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
}

Words RandomWords(Random& random, std::int64_t vocab) {
  Words words(static_cast<std::size_t>(MaskWordCount(vocab)));
  const std::int64_t kind = Below(random, 4);
  for (std::int32_t& word : words) {
    word = static_cast<std::int32_t>(random());
    if (kind == 1 && Below(random, 4) != 0) word = 0;
    if (kind == 2 && Below(random, 4) != 0) word = -1;
  }
  return words;
}

Words RandomIds(Random& random, std::int64_t vocab) {
  Words ids;
  const std::int64_t one_in = 1 + Below(random, 50);
  for (std::int64_t id = Below(random, one_in); id < vocab; id += 1 + Below(random, 2 * one_in))
    ids.push_back(static_cast<std::int32_t>(id));
  return ids;
}

Biases RandomBiases(Random& random, std::int64_t vocab) {
  Biases biases;
  if (Below(random, 2) == 0) return biases;
  for (const std::int32_t id : RandomIds(random, vocab))
    biases.push_back({id, static_cast<float>(Below(random, 401) - 200) / 7});
  return biases;
}

// One random batch: a plane, rows of every form over it, and what they view.
struct Batch {
  explicit Batch(Random& random)
      : vocab(1 + Below(random, Below(random, 2) == 0 ? 70 : absl::GetFlag(FLAGS_max_vocab))),
        width(vocab + Below(random, 70)),
        row_count(1 + Below(random, 9)),
        plane(static_cast<LogitsType>(Below(random, 3)), row_count, width,
              width + Below(random, 9)) {
    plane.FillDistinct();
    for (int i = 0; i < 3; ++i) slots.push_back(RandomWords(random, vocab));
    words.reserve(static_cast<std::size_t>(row_count));
    ids.reserve(static_cast<std::size_t>(row_count));
    biases.reserve(static_cast<std::size_t>(row_count));
    for (std::int64_t row = 0; row < row_count; ++row) {
      if (Below(random, 4) == 0) continue;
      words.push_back(RandomWords(random, vocab));
      ids.push_back(RandomIds(random, vocab));
      biases.push_back(RandomBiases(random, vocab));
      rows.push_back(RandomRow(random, row));
      if (Below(random, 3) == 0) rows.back() = Tuned(random, rows.back());
    }
    std::ranges::shuffle(rows, random);
  }

  MaskRow RandomRow(Random& random, std::int64_t row) const {
    switch (Below(random, 7)) {
      case 0:
        return MaskRow::Full(row);
      case 1:
        return MaskRow::Allowed(row, ids.back());
      case 2:
        return MaskRow::Forbidden(row, ids.back());
      case 3:
        return MaskRow::Delta(row, words.back(), ids.back());
      case 4:
        return MaskRow::Same(row, Below(random, 3));
      case 5:
        return MaskRow::Delta(row, Below(random, 3), ids.back());
      default:
        return MaskRow::Dense(row, words.back());
    }
  }

  MaskRow Tuned(Random& random, const MaskRow& row) const {
    constexpr float kTemperatures[] = {0, 0.3F, 1, 1.7F};
    return row.With(biases.back(), kTemperatures[Below(random, 4)]);
  }

  std::int64_t vocab;
  std::int64_t width;
  std::int64_t row_count;
  LogitsPlane plane;
  std::vector<Words> slots;
  std::vector<Words> words;
  std::vector<Words> ids;
  std::vector<Biases> biases;
  std::vector<MaskRow> rows;
};

void Require(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "opencl_check: %s\n", status.ToString().c_str());
  std::exit(1);
}

absl::Status ApplyBatch(const Applier& applier, const Batch& batch, const Logits& logits,
                        const Logits& output) {
  auto dictionary = applier.MakeDictionary(batch.vocab, std::ssize(batch.slots));
  Require(dictionary.status());
  for (std::size_t i = 0; i < batch.slots.size(); ++i)
    Require((*dictionary)->Set(static_cast<std::int64_t>(i), batch.slots[i]));
  return applier.Apply(
      {.vocab_size = batch.vocab, .rows = batch.rows, .dictionary = dictionary->get()}, logits,
      output);
}

std::vector<std::byte> InHostMemory(const Applier& applier, const Batch& batch) {
  LogitsPlane plane = batch.plane;
  Require(ApplyBatch(applier, batch, plane.view(), plane.view()));
  return plane.bytes();
}

// The same in a buffer of the device, some elements after its start.
std::vector<std::byte> InDeviceBuffer(const OpenClApplier& applier, const Batch& batch) {
  constexpr std::int64_t kOffset = 5;
  LogitsPlane plane = batch.plane;
  Logits logits = plane.view();
  const std::size_t skipped = static_cast<std::size_t>(kOffset * ElementBytes(logits.type));
  std::vector<std::byte> bytes = plane.bytes();
  cl_int code = CL_SUCCESS;
  const OpenClMemory buffer(OpenCl().clCreateBuffer(static_cast<cl_context>(applier.context()),
                                                    CL_MEM_READ_WRITE, skipped + bytes.size(),
                                                    nullptr, &code));
  Require(OpenClStatus("clCreateBuffer", code));
  auto* const queue = static_cast<cl_command_queue>(applier.queue());
  Require(OpenClStatus(
      "write", OpenCl().clEnqueueWriteBuffer(queue, buffer.get(), CL_TRUE, skipped, bytes.size(),
                                             bytes.data(), 0, nullptr, nullptr)));
  logits.data = buffer.get();
  logits.memory = LogitsMemory::kOpenClBuffer;
  logits.offset = kOffset;
  Require(ApplyBatch(applier, batch, logits, logits));
  Require(OpenClStatus(
      "read", OpenCl().clEnqueueReadBuffer(queue, buffer.get(), CL_TRUE, skipped, bytes.size(),
                                           bytes.data(), 0, nullptr, nullptr)));
  return bytes;
}

// From one half of a buffer to the other, which begins as a copy.
std::vector<std::byte> FromHalfToHalf(const OpenClApplier& applier, const Batch& batch) {
  LogitsPlane plane = batch.plane;
  const std::size_t half = plane.bytes().size();
  cl_int code = CL_SUCCESS;
  const OpenClMemory buffer(OpenCl().clCreateBuffer(static_cast<cl_context>(applier.context()),
                                                    CL_MEM_READ_WRITE, 2 * half, nullptr, &code));
  Require(OpenClStatus("clCreateBuffer", code));
  auto* const queue = static_cast<cl_command_queue>(applier.queue());
  for (const std::size_t at : {std::size_t{0}, half}) {
    Require(OpenClStatus("write",
                         OpenCl().clEnqueueWriteBuffer(queue, buffer.get(), CL_TRUE, at, half,
                                                       plane.bytes().data(), 0, nullptr, nullptr)));
  }
  Logits logits = plane.view();
  logits.data = buffer.get();
  logits.memory = LogitsMemory::kOpenClBuffer;
  Logits output = logits;
  output.offset = logits.row_count * logits.row_stride;
  Require(ApplyBatch(applier, batch, logits, output));
  std::vector<std::byte> bytes(half);
  Require(
      OpenClStatus("read", OpenCl().clEnqueueReadBuffer(queue, buffer.get(), CL_TRUE, half, half,
                                                        bytes.data(), 0, nullptr, nullptr)));
  return bytes;
}

int Compare(const OpenClApplier& device, const Applier& cpu) {
  int different = 0;
  for (int i = 0; i < absl::GetFlag(FLAGS_batches); ++i) {
    Random random(static_cast<std::uint64_t>(i));
    const Batch batch(random);
    const std::vector<std::byte> expected = InHostMemory(cpu, batch);
    const bool host = InHostMemory(device, batch) == expected;
    const bool buffer = InDeviceBuffer(device, batch) == expected;
    const bool apart = FromHalfToHalf(device, batch) == expected;
    if (host && buffer && apart) continue;
    ++different;
    std::printf("batch %d: vocab %ld width %ld rows %ld: %s%s%s\n", i, batch.vocab, batch.width,
                batch.row_count, host ? "" : "host memory differs ",
                buffer ? "" : "device buffer differs ", apart ? "" : "an output apart differs");
  }
  std::printf("batches: %d, different: %d\n", absl::GetFlag(FLAGS_batches), different);
  return different == 0 ? 0 : 1;
}

double Microseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

struct BenchCase {
  std::string name;
  LogitsType type;
  std::int64_t row_count;
  std::int64_t allowed_per_10000;  // negative: a list of so many ids instead
};

// The median time of a step that waits for the device.
double MedianStep(const OpenClApplier& applier, const MaskRows& masks, const Logits& logits) {
  constexpr int kSteps = 200;
  std::vector<double> times;
  for (int i = 0; i < kSteps; ++i) {
    const auto start = std::chrono::steady_clock::now();
    Require(applier.Apply(masks, logits));
    times.push_back(Microseconds(std::chrono::steady_clock::now() - start));
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

void BenchOne(const OpenClApplier& applier, const BenchCase& each) {
  constexpr std::int64_t kVocab = 128'256;
  Random random(1);
  std::vector<Words> data;
  std::vector<MaskRow> rows;
  data.reserve(static_cast<std::size_t>(each.row_count));
  for (std::int64_t row = 0; row < each.row_count; ++row) {
    Words words(each.allowed_per_10000 < 0 ? 0 : static_cast<std::size_t>(MaskWordCount(kVocab)));
    for (std::int64_t token = 0; !words.empty() && token < kVocab; ++token) {
      const bool allowed = Below(random, 10'000) < each.allowed_per_10000;
      words[static_cast<std::size_t>(token / 32)] |=
          static_cast<std::int32_t>(static_cast<std::uint32_t>(allowed) << (token % 32));
    }
    for (std::int32_t id = 0; id < -each.allowed_per_10000; ++id) words.push_back(id * 100);
    data.push_back(std::move(words));
    rows.push_back(each.allowed_per_10000 < 0 ? MaskRow::Allowed(row, data.back())
                                              : MaskRow::Dense(row, data.back()));
  }
  const auto bytes = static_cast<std::size_t>(each.row_count * kVocab * ElementBytes(each.type));
  cl_int code = CL_SUCCESS;
  const OpenClMemory buffer(OpenCl().clCreateBuffer(static_cast<cl_context>(applier.context()),
                                                    CL_MEM_READ_WRITE, bytes, nullptr, &code));
  Require(OpenClStatus("clCreateBuffer", code));
  const Logits logits{.data = buffer.get(),
                      .memory = LogitsMemory::kOpenClBuffer,
                      .type = each.type,
                      .row_count = each.row_count,
                      .width = kVocab,
                      .row_stride = kVocab};
  const double step = MedianStep(applier, {.vocab_size = kVocab, .rows = rows}, logits);
  std::printf("%-22s rows %3ld: %8.1f us a step, %7.2f us a row, %7.1f GB/s of logits\n",
              each.name.c_str(), each.row_count, step, step / static_cast<double>(each.row_count),
              static_cast<double>(bytes) / step / 1e3);
}

void Bench(const OpenClApplier& applier) {
  for (const std::int64_t rows : {1, 8, 64, 256}) {
    BenchOne(applier, {"float32 narrow dense", LogitsType::kFloat32, rows, 5});
    BenchOne(applier, {"float32 half dense", LogitsType::kFloat32, rows, 5'000});
    BenchOne(applier, {"float32 wide dense", LogitsType::kFloat32, rows, 9'700});
    BenchOne(applier, {"float32 64 allowed", LogitsType::kFloat32, rows, -64});
    BenchOne(applier, {"bfloat16 half dense", LogitsType::kBFloat16, rows, 5'000});
    BenchOne(applier, {"bfloat16 64 allowed", LogitsType::kBFloat16, rows, -64});
  }
}

int Main() {
  const OpenClOptions options{.device = absl::GetFlag(FLAGS_device),
                              .cache_directory = absl::GetFlag(FLAGS_cache),
                              .kernels = absl::GetFlag(FLAGS_kernels)};
  if (!kOpenClIsTestable) {
    std::fprintf(stderr, "opencl_check: NOT TESTED HERE: opencl under ThreadSanitizer\n");
    return kNoOpenCl;
  }
  // The drivers' own start is not the applier's.
  const auto devices = OpenClDevices();
  const auto start = std::chrono::steady_clock::now();
  const auto applier = OpenClApplier::Make(options);
  if (!devices.ok()) {
    std::fprintf(stderr, "opencl_check: NOT TESTED HERE: %s\n",
                 applier.status().ToString().c_str());
    return kNoOpenCl;
  }
  Require(applier.status());
  std::printf("device: %s, program %s, start %.1f ms\n", std::string((*applier)->device()).c_str(),
              (*applier)->from_cache() ? "from the cache" : "built",
              Microseconds(std::chrono::steady_clock::now() - start) / 1e3);
  const auto cpu = MakeCpuApplier();
  Require(cpu.status());
  const int status = Compare(**applier, **cpu);
  if (absl::GetFlag(FLAGS_bench)) Bench(**applier);
  return status;
}

}  // namespace
}  // namespace maskd::client

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("compares OpenCL's masks with the CPU's, bit for bit");
  absl::ParseCommandLine(argc, argv);
  return maskd::client::Main();
}
