// What is OpenCL's alone: devices, buffers, the engine's queue, the cache of programs, warm-up.
// What it shares with the other appliers is in their tests, and in opencl_check.
#include "client/apply/opencl/opencl_applier.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "client/apply/cpu_applier.h"
#include "client/apply/make_applier.h"
#include "client/apply/opencl/mask_step.h"
#include "client/apply/opencl/opencl_api.h"
#include "client/apply/opencl/opencl_device.h"
#include "client/apply/opencl/opencl_kernels.h"
#include "client/apply/opencl/opencl_program.h"
#include "client/apply/opencl/program_cache.h"
#include "tests/apply/appliers.h"
#include "tests/apply/logits_fixture.h"
#include "tests/base/test_folder.h"

namespace maskd::client {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kVocab = 100;

class OpenClTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!kOpenClIsTestable) GTEST_SKIP() << "NOT TESTED HERE: opencl under ThreadSanitizer";
    auto devices = OpenClDevices();
    if (!devices.ok()) GTEST_SKIP() << "NOT TESTED HERE: " << devices.status();
    devices_ = *std::move(devices);
  }

  std::unique_ptr<OpenClApplier> Make(const OpenClOptions& options) {
    auto applier = OpenClApplier::Make(options);
    EXPECT_TRUE(applier.ok()) << applier.status();
    return applier.ok() ? *std::move(applier) : nullptr;
  }

  std::vector<OpenClDevice> devices_;
};

TEST_F(OpenClTest, MadeByNameIndexAndDevice) {
  for (const std::string& name : {std::string("opencl"), std::string("opencl:0"),
                                  "opencl:" + devices_[0].platform.substr(1)}) {
    const auto applier = MakeApplier(name);
    ASSERT_TRUE(applier.ok()) << applier.status();
    EXPECT_EQ((*applier)->name(), "opencl");
  }
}

TEST_F(OpenClTest, AnUnknownDeviceIsRefusedWithThoseThereAre) {
  for (const char* name : {"opencl:abacus", "opencl:99", "opencl:-1"}) {
    const absl::Status status = MakeApplier(name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(std::string(status.message()), HasSubstr("0: " + devices_[0].Describe()));
    EXPECT_THAT(std::string(status.message()), HasSubstr("supported: auto, cpu, opencl"));
  }
}

TEST_F(OpenClTest, AnUnknownShapeOfKernelsIsRefused) {
  EXPECT_EQ(OpenClApplier::Make({.kernels = "threads"}).status().message(),
            "options.kernels: \"threads\" is not one of auto, words, tokens");
}

// A context and a queue as an engine has them, and a plane of logits in a buffer of theirs.
struct Engine {
  explicit Engine(cl_device_id device) {
    cl_int code = CL_SUCCESS;
    context.reset(OpenCl().clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
    queue.reset(OpenCl().clCreateCommandQueue(context.get(), device, 0, &code));
  }
  OpenClMemory Send(const LogitsPlane& plane) const {
    auto* const bytes = const_cast<std::byte*>(plane.bytes().data());
    return OpenClMemory(OpenCl().clCreateBuffer(context.get(),
                                                CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                                plane.bytes().size(), bytes, nullptr));
  }
  // After whatever the queue has to do before.
  LogitsPlane Receive(const OpenClMemory& buffer, LogitsPlane like) const {
    EXPECT_EQ(
        OpenCl().clEnqueueReadBuffer(queue.get(), buffer.get(), CL_TRUE, 0, like.bytes().size(),
                                     like.view().data, 0, nullptr, nullptr),
        CL_SUCCESS);
    return like;
  }
  OpenClContext context;
  OpenClQueue queue;
};

Logits InBuffer(const OpenClMemory& buffer, LogitsPlane& plane) {
  Logits logits = plane.view();
  logits.data = buffer.get();
  logits.memory = LogitsMemory::kOpenClBuffer;
  return logits;
}

TEST_F(OpenClTest, MasksInTheOrderOfTheEnginesQueue) {
  const Engine engine(devices_[0].id);
  const auto applier = Make({.queue = engine.queue.get()});
  ASSERT_NE(applier, nullptr);
  EXPECT_EQ(applier->context(), engine.context.get());
  LogitsPlane plane(LogitsType::kBFloat16, 3, kVocab);
  plane.FillDistinct();
  const OpenClMemory buffer = engine.Send(plane);
  // Many steps under way, each with arguments that are gone when the device comes to it.
  for (std::int32_t token = 50; token >= 7; --token) {
    const std::vector<std::int32_t> ids = {7, 8, token + 2, 99};
    const std::vector<MaskRow> rows = {MaskRow::Allowed(1, ids)};
    ASSERT_EQ(applier->Apply({.vocab_size = kVocab, .rows = rows}, InBuffer(buffer, plane)),
              absl::OkStatus());
  }
  LogitsPlane masked = engine.Receive(buffer, plane);
  EXPECT_THAT(masked.Finite(1), ElementsAre(7, 8, 99));
  EXPECT_EQ(masked.RowBytes(0), plane.RowBytes(0));
  EXPECT_EQ(masked.RowBytes(2), plane.RowBytes(2));
}

TEST_F(OpenClTest, BuffersThatDoNotFitAreRefused) {
  const Engine engine(devices_[0].id);
  const Engine other(devices_[0].id);
  const auto applier = Make({.queue = engine.queue.get()});
  ASSERT_NE(applier, nullptr);
  LogitsPlane plane(LogitsType::kFloat32, 2, kVocab);
  const std::vector<MaskRow> rows = {MaskRow::Allowed(0, {})};
  const MaskRows masks{.vocab_size = kVocab, .rows = rows};
  const OpenClMemory buffer = engine.Send(plane);
  Logits logits = InBuffer(buffer, plane);
  logits.offset = 1;
  EXPECT_EQ(applier->Apply(masks, logits).message(),
            "logits.data: the buffer has 800 bytes, the rows need 804");
  const OpenClMemory foreign = other.Send(plane);
  EXPECT_EQ(applier->Apply(masks, InBuffer(foreign, plane)).message(),
            "logits.data: is a buffer of another OpenCL context");
  const auto cpu = MakeCpuApplier();
  EXPECT_EQ((*cpu)->Apply(masks, InBuffer(buffer, plane)).message(),
            "logits.memory: the cpu applier masks host memory only");
  EXPECT_EQ(engine.Receive(buffer, plane).bytes(), plane.bytes());
}

TEST_F(OpenClTest, AQueueOutOfOrderIsRefused) {
  const Engine engine(devices_[0].id);
  cl_int code = CL_SUCCESS;
  const OpenClQueue queue(OpenCl().clCreateCommandQueue(
      engine.context.get(), devices_[0].id, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code));
  if (queue == nullptr) GTEST_SKIP() << "NOT TESTED HERE: no queue out of order: " << code;
  EXPECT_EQ(OpenClApplier::Make({.queue = queue.get()}).status().message(),
            "options.queue: runs its commands out of order");
}

TEST_F(OpenClTest, ASecondStartUsesTheCache) {
  const TestFolder folder;
  const std::string directory = folder.Path("cache");
  const OpenClOptions options{.cache_directory = directory};
  EXPECT_FALSE(Make(options)->from_cache());
  EXPECT_TRUE(Make(options)->from_cache());
  const fs::path file = fs::directory_iterator(directory)->path();
  fs::resize_file(file, fs::file_size(file) - 1);
  EXPECT_FALSE(Make(options)->from_cache());
  EXPECT_TRUE(Make(options)->from_cache());
}

// peers.md B3: the device is sent finished masks, eight ints a row and the row's own words or ids;
// nothing for a row that is full, nothing more for one that is in a dictionary.
TEST_F(OpenClTest, B3OnlyFinishedMasksAreSent) {
  constexpr std::int64_t kLlamaVocab = 128'256;
  constexpr std::int64_t kRowBytes = 32;
  const Engine engine(devices_[0].id);
  const auto program = MaskProgram::Build(engine.context.get(), devices_[0], ProgramCache(""));
  ASSERT_TRUE(program.ok()) << program.status();
  const auto step = MaskStep::Make(*program, KernelShape::kWords);
  ASSERT_TRUE(step.ok()) << step.status();
  const auto bytes_of_64 = [&](const MaskRow& row) {
    const std::vector<MaskRow> rows(64, row);
    EXPECT_TRUE((*step)->Pack({.vocab_size = kLlamaVocab, .rows = rows}, /*compact=*/false).ok());
    return (*step)->packed_bytes();
  };
  const std::vector<std::int32_t> words(MaskWordCount(kLlamaVocab));
  const std::vector<std::int32_t> ids(20);
  EXPECT_EQ(bytes_of_64(MaskRow::Full(0)), 0);
  EXPECT_EQ(bytes_of_64(MaskRow::Same(0, 7)), 64 * kRowBytes);
  EXPECT_EQ(bytes_of_64(MaskRow::Allowed(0, ids)), 64 * (kRowBytes + 20 * 4));
  EXPECT_EQ(bytes_of_64(MaskRow::Forbidden(0, ids)), 64 * (kRowBytes + 20 * 4));
  EXPECT_EQ(bytes_of_64(MaskRow::Dense(0, words)), 64 * (kRowBytes + std::ssize(words) * 4));
}

// What the driver is told to move, counted in the table of its functions; one at a time.
class CountedMoves {
 public:
  CountedMoves() : api_(const_cast<OpenClApi&>(OpenCl())), before_(api_) {
    to_device = from_device = 0;
    read_ = before_.clEnqueueReadBuffer;
    write_ = before_.clEnqueueWriteBuffer;
    api_.clEnqueueReadBuffer = [](cl_command_queue queue, cl_mem from, cl_bool blocking,
                                  std::size_t at, std::size_t bytes, void* to, cl_uint count,
                                  const cl_event* wait, cl_event* event) {
      from_device += static_cast<std::int64_t>(bytes);
      return read_(queue, from, blocking, at, bytes, to, count, wait, event);
    };
    api_.clEnqueueWriteBuffer = [](cl_command_queue queue, cl_mem to, cl_bool blocking,
                                   std::size_t at, std::size_t bytes, const void* from,
                                   cl_uint count, const cl_event* wait, cl_event* event) {
      to_device += static_cast<std::int64_t>(bytes);
      return write_(queue, to, blocking, at, bytes, from, count, wait, event);
    };
  }
  ~CountedMoves() { api_ = before_; }
  CountedMoves(const CountedMoves&) = delete;
  CountedMoves& operator=(const CountedMoves&) = delete;

  inline static std::int64_t to_device = 0;
  inline static std::int64_t from_device = 0;

 private:
  inline static decltype(OpenClApi::clEnqueueReadBuffer) read_ = nullptr;
  inline static decltype(OpenClApi::clEnqueueWriteBuffer) write_ = nullptr;
  OpenClApi& api_;
  const OpenClApi before_;
};

// peers.md A4: of logits in host memory the rows named go to the device and come back, with their
// masks, and never the plane.
TEST_F(OpenClTest, A4RowsNamedAreMovedAndNotThePlane) {
  constexpr std::int64_t kWidth = 32'000;
  constexpr std::int64_t kMaskBytes = 32 + kWidth / 8;
  const auto applier = Make({.always_copy = true});
  ASSERT_NE(applier, nullptr);
  const std::vector<std::int32_t> none(MaskWordCount(kWidth));
  const std::vector<std::vector<std::int64_t>> batches = {{5, 127}, {0}, {1, 16, 30}};
  for (const auto& named : batches) {
    LogitsPlane plane(LogitsType::kBFloat16, 128, kWidth);
    std::vector<MaskRow> rows;
    for (const std::int64_t row : named) rows.push_back(MaskRow::Dense(row, none));
    const CountedMoves moves;
    ASSERT_TRUE(applier->Apply({.vocab_size = kWidth, .rows = rows}, plane.view()).ok());
    const auto count = std::ssize(rows);
    EXPECT_EQ(CountedMoves::to_device, count * (2 * kWidth + kMaskBytes));
    EXPECT_EQ(CountedMoves::from_device, count * 2 * kWidth);
  }
}

// Runs a kernel of the source alone, with the arguments as they stand in opencl_kernels.h.
template <typename... Arguments>
void RunKernel(const Engine& engine, const MaskProgram& program, const char* name,
               std::size_t items, std::size_t rows, const Arguments&... arguments) {
  const auto kernel = program.MakeKernel(name);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  cl_uint index = 0;
  const auto set = [&](const auto& argument) {
    EXPECT_EQ(OpenCl().clSetKernelArg(kernel->get(), index, sizeof(argument), &argument),
              CL_SUCCESS)
        << name << ", argument " << index;
    ++index;
  };
  (set(arguments), ...);
  const std::size_t global[2] = {items, rows};
  ASSERT_EQ(OpenCl().clEnqueueNDRangeKernel(engine.queue.get(), kernel->get(), 2, nullptr, global,
                                            nullptr, 0, nullptr, nullptr),
            CL_SUCCESS)
      << name;
}

// The ints of a step written by hand, and their meaning worked out by hand: 40 tokens of a width of
// 50, whose row 0 begins at element 3.
TEST_F(OpenClTest, AKernelReadsAStepAsItsHeaderSays) {
  static_assert(kRowInts == 8);
  const Engine engine(devices_[0].id);
  const auto program = MaskProgram::Build(engine.context.get(), devices_[0], ProgramCache(""));
  ASSERT_TRUE(program.ok()) << program.status();
  const auto ints_of = [&](std::vector<std::int32_t> ints) {
    return OpenClMemory(
        OpenCl().clCreateBuffer(engine.context.get(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                ints.size() * sizeof(std::int32_t), ints.data(), nullptr));
  };
  constexpr std::int32_t kOne = 0x3F800000;   // 1 as a float
  constexpr std::int32_t kHalf = 0x3F000000;  // 0.5
  const OpenClMemory step = ints_of({
      2,  kBaseNone,
      0,  32,
      34, kOne,
      34, 34,  // allows the ids 1 and 39
      0,  kBaseAll,
      0,  34,
      35, kOne,
      35, 35,  // all but 7
      3,  kBaseStepWords,
      35, 37,
      38, kOne,
      38, 38,  // words that allow 0 and 33, 33 turned over
      1,  kBaseDictionary,
      2,  38,
      38, kOne,
      38, 38,  // slot 1 of the dictionary: 4 alone
      1,  39,  // from 32 on
      7,       //
      1,  2,   // from 35 on
      33,      //
  });
  const OpenClMemory dictionary = ints_of({-1, -1, 1 << 4, 0});
  for (const char* const name : {"mask_words_32", "mask_tokens_32"}) {
    LogitsPlane plane(LogitsType::kFloat32, 1, 3 + 4 * 60);
    plane.FillDistinct();
    const OpenClMemory buffer = engine.Send(plane);
    const std::size_t items = std::string(name) == "mask_words_32" ? 2 : 50;
    RunKernel(engine, *program, name, items, 4, buffer.get(), cl_long{3}, cl_long{60}, cl_int{50},
              cl_uint{0xFF800000}, cl_int{40}, step.get(), dictionary.get());
    LogitsPlane masked = engine.Receive(buffer, plane);
    const std::vector<std::vector<int>> allowed = {{}, {4}, {1, 39}, {0}};
    for (int row = 0; row < 4; ++row) {
      for (int token = 0; token < 60; ++token) {
        const int at = 3 + row * 60 + token;
        const bool stays = token >= 50 || (row == 0 ? token < 40 && token != 7
                                                    : std::ranges::count(allowed[row], token) > 0);
        EXPECT_EQ(masked.IsMinusInfinity(0, at), !stays) << name << ", " << row << ": " << token;
        const float left = stays ? plane.Get(0, at) : masked.Get(0, at);
        EXPECT_EQ(masked.Get(0, at), left) << row << ": " << token;
      }
    }
  }
  // Of the row that is tuned: half, and 8 more to the logit of token 2 before that.
  const OpenClMemory tuned = ints_of({0, kBaseAll, 0, 8, 8, kHalf, 8, 9, 2, 0x41000000});
  LogitsPlane plane(LogitsType::kBFloat16, 1, 6);
  plane.FillUniform(4);
  const OpenClMemory buffer = engine.Send(plane);
  RunKernel(engine, *program, "tune_bfloat16", 3, 1, buffer.get(), cl_long{1}, cl_long{6},
            cl_int{2}, cl_int{4}, tuned.get());
  LogitsPlane is = engine.Receive(buffer, plane);
  std::vector<float> numbers;
  for (int token = 0; token < 6; ++token) numbers.push_back(is.Get(0, token));
  EXPECT_THAT(numbers, ElementsAre(4, 2, 2, 6, 2, 4));
}

std::size_t CountFiles(const std::string& directory) {
  const fs::recursive_directory_iterator files(directory);
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

// pocl writes a file for every kernel that it compiles, so its directory tells.
TEST_F(OpenClTest, AfterWarmUpNoStepCompiles) {
  constexpr std::int64_t kWidth = 5000;
  const char* const directory = std::getenv("POCL_CACHE_DIR");
  if (directory == nullptr || devices_[0].platform != "Portable Computing Language")
    GTEST_SKIP() << "NOT TESTED HERE: needs pocl, and POCL_CACHE_DIR as ctest sets it";
  const auto applier = Make({});
  const std::vector<std::int64_t> row_counts = {1, 2, 64};
  for (const LogitsType type : {LogitsType::kFloat32, LogitsType::kFloat16}) {
    ASSERT_TRUE(
        applier
            ->WarmUp(
                {.vocab_size = kVocab, .width = kWidth, .row_counts = row_counts, .type = type})
            .ok());
  }
  const std::size_t files = CountFiles(directory);
  ASSERT_GT(files, 0);
  for (const LogitsType type :
       {LogitsType::kFloat32, LogitsType::kFloat16, LogitsType::kBFloat16}) {
    for (const std::int64_t row_count : row_counts) {
      LogitsPlane plane(type, row_count, kWidth);
      std::vector<MaskRow> rows;
      for (std::int64_t row = 0; row < row_count; ++row)
        rows.push_back(MaskRow::Forbidden(row, {}));
      ASSERT_TRUE(applier->Apply({.vocab_size = kVocab, .rows = rows}, plane.view()).ok());
    }
  }
  EXPECT_EQ(CountFiles(directory), files);
}

}  // namespace
}  // namespace maskd::client
