// Chooses how logits reach the device: in the engine's own buffer, in host memory that the device
// can use where it lies, or as a copy of the named rows. Steps are taken from a small pool, so that
// one is packed while the device still reads the one before.
//
// Invariant  all commands go to one in-order queue; so masks come in the order of the calls, and a
//            dictionary's slot is written before a step that names it.
// Cost       a step's transfer and its kernels; for host logits of a device with memory of its own
//            also the named rows to the device and back. kStepsUnderWay steps keep their memory.

#include "client/apply/opencl/opencl_applier.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

#include "client/apply/element_type.h"
#include "client/apply/opencl/mask_step.h"
#include "client/apply/opencl/opencl_device.h"
#include "client/apply/opencl/opencl_kernels.h"
#include "client/apply/opencl/opencl_program.h"
#include "client/apply/opencl/program_cache.h"

namespace maskd::client {
namespace {

// Kernels count tokens in an int, and a work group's rounding is added.
constexpr std::int64_t kMaxWidth = std::int64_t{1} << 30;
// Items of a work group, where the device allows so many.
constexpr std::size_t kWordsWorkGroup = 64;
constexpr std::size_t kTokensWorkGroup = 256;
// Steps that may be under way before Apply() waits for the oldest.
constexpr std::size_t kStepsUnderWay = 4;
// What drivers with shared memory ask of memory that is not to be copied.
constexpr std::uintptr_t kSharedAlignment = 4096;

// The masks of a dictionary on the device.
class DeviceDictionary final : public MaskDictionary {
 public:
  DeviceDictionary(const Applier* maker, std::int64_t vocab_size, std::int64_t slot_count,
                   cl_command_queue queue, OpenClMemory memory)
      : MaskDictionary(maker, vocab_size, slot_count), queue_(queue), memory_(std::move(memory)) {}

  [[nodiscard]] cl_mem memory() const { return memory_.get(); }

 private:
  absl::Status Store(std::int64_t slot, std::span<const std::int32_t> words) override {
    const std::size_t bytes = words.size_bytes();
    return OpenClStatus("clEnqueueWriteBuffer",
                        OpenCl().clEnqueueWriteBuffer(queue_, memory_.get(), CL_TRUE,
                                                      static_cast<std::size_t>(slot) * bytes, bytes,
                                                      words.data(), 0, nullptr, nullptr));
  }

  cl_command_queue queue_;
  OpenClMemory memory_;
};

// What an applier holds on its device.
struct Session {
  OpenClDevice device;
  OpenClContext context;
  OpenClQueue queue;
  bool engines_queue = false;
};

class Implementation final : public OpenClApplier {
 public:
  Implementation(Session session, MaskProgram program, DeviceQueue target, bool always_copy)
      : session_(std::move(session)),
        program_(std::move(program)),
        target_(target),
        always_copy_(always_copy) {}
  ~Implementation() override { OpenCl().clFinish(session_.queue.get()); }

  [[nodiscard]] absl::string_view name() const override { return "opencl"; }
  [[nodiscard]] void* context() const override { return session_.context.get(); }
  [[nodiscard]] void* queue() const override { return session_.queue.get(); }
  [[nodiscard]] absl::string_view device() const override { return session_.device.name; }
  [[nodiscard]] bool from_cache() const override { return program_.from_cache(); }

  absl::Status WarmUp(const WarmUpShape& shape) override;

 private:
  absl::Status ApplyChecked(const MaskRows& masks, const Logits& logits,
                            const Logits& output) const override;
  absl::StatusOr<std::unique_ptr<MaskDictionary>> MakeCheckedDictionary(
      std::int64_t vocab_size, std::int64_t slot_count) const override;

  absl::Status ApplyInHost(MaskStep& step, const MaskRows& masks, const Logits& logits,
                           const Logits& output) const;
  absl::Status ApplyInBuffer(MaskStep& step, const MaskRows& masks, const Logits& logits,
                             const Logits& output) const;
  absl::Status ApplyWhereItLies(MaskStep& step, const MaskRows& masks, const Logits& logits) const;
  absl::Status ApplyToCopy(MaskStep& step, const MaskRows& masks, const Logits& logits,
                           const Logits& output) const;
  absl::Status CopyInBuffers(const MaskRows& masks, const Logits& logits,
                             const Logits& output) const;
  absl::Status CopyRows(const MaskRows& masks, const Logits& logits, cl_mem copy, bool back) const;

  absl::Status CheckBuffer(const Logits& logits, absl::string_view name) const;
  [[nodiscard]] bool CanUseWhereItLies(const Logits& logits) const;
  absl::Status Run(MaskStep& step, const MaskRows& masks, const DeviceLogits& logits) const;

  absl::StatusOr<std::unique_ptr<MaskStep>> TakeStep() const ABSL_LOCKS_EXCLUDED(mutex_);
  void GiveBack(std::unique_ptr<MaskStep> step) const ABSL_LOCKS_EXCLUDED(mutex_);

  Session session_;
  MaskProgram program_;
  DeviceQueue target_;
  bool always_copy_;
  mutable absl::Mutex mutex_;
  // Oldest first. Those given back may still be under way.
  mutable std::deque<std::unique_ptr<MaskStep>> steps_ ABSL_GUARDED_BY(mutex_);
};

DeviceLogits OnDevice(const Logits& logits, cl_mem buffer) {
  const ElementType& type = ElementTypeOf(logits.type);
  return {.buffer = buffer,
          .start = logits.offset,
          .row_stride = logits.row_stride,
          .width = logits.width,
          .element_bytes = type.bytes,
          .minus_infinity = type.minus_infinity,
          .type = logits.type};
}

std::int64_t RowBytes(const Logits& logits) {
  return logits.width * ElementTypeOf(logits.type).bytes;
}

// Where a row starts, in bytes from `data`.
std::int64_t RowBegin(const Logits& logits, std::int64_t row) {
  return (logits.offset + row * logits.row_stride) * ElementTypeOf(logits.type).bytes;
}

std::byte* HostRow(const Logits& logits, std::int64_t row) {
  return static_cast<std::byte*>(logits.data) + RowBegin(logits, row);
}

// The bytes of a buffer, or of the one that it is a part of, from a plane's start to its end.
struct BufferRange {
  explicit BufferRange(const Logits& logits) : root(static_cast<cl_mem>(logits.data)) {
    cl_mem parent = nullptr;
    std::size_t offset = 0;
    OpenCl().clGetMemObjectInfo(root, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(parent), &parent,
                                nullptr);
    OpenCl().clGetMemObjectInfo(root, CL_MEM_OFFSET, sizeof(offset), &offset, nullptr);
    if (parent != nullptr) root = parent;
    const auto start = static_cast<std::int64_t>(offset);
    begin = start + RowBegin(logits, 0);
    end = logits.row_count == 0 ? begin
                                : start + RowBegin(logits, logits.row_count - 1) + RowBytes(logits);
  }
  cl_mem root;
  std::int64_t begin;
  std::int64_t end;
};

bool ShareMemory(const BufferRange& a, const BufferRange& b) {
  return a.root == b.root && a.begin < b.end && b.begin < a.end;
}

absl::StatusOr<std::unique_ptr<MaskStep>> Implementation::TakeStep() const {
  std::unique_ptr<MaskStep> step;
  {
    const absl::MutexLock lock(&mutex_);
    if (!steps_.empty() && (steps_.front()->idle() || steps_.size() >= kStepsUnderWay)) {
      step = std::move(steps_.front());
      steps_.pop_front();
    }
  }
  if (step == nullptr) return MaskStep::Make(program_, target_.shape);
  if (absl::Status status = step->Wait(); !status.ok()) return status;
  return step;
}

void Implementation::GiveBack(std::unique_ptr<MaskStep> step) const {
  const absl::MutexLock lock(&mutex_);
  step->idle() ? steps_.push_front(std::move(step)) : steps_.push_back(std::move(step));
}

absl::Status Implementation::ApplyChecked(const MaskRows& masks, const Logits& logits,
                                          const Logits& output) const {
  if (logits.width > kMaxWidth) {
    return absl::InvalidArgumentError(
        absl::StrCat("logits.width: ", logits.width, " is more than opencl's ", kMaxWidth));
  }
  absl::StatusOr<std::unique_ptr<MaskStep>> step = TakeStep();
  if (!step.ok()) return step.status();
  absl::Status status = logits.memory == LogitsMemory::kOpenClBuffer
                            ? ApplyInBuffer(**step, masks, logits, output)
                            : ApplyInHost(**step, masks, logits, output);
  GiveBack(*std::move(step));
  return status;
}

absl::Status Implementation::ApplyInHost(MaskStep& step, const MaskRows& masks,
                                         const Logits& logits, const Logits& output) const {
  const bool where_it_lies = CanUseWhereItLies(output);
  if (absl::Status status = step.Pack(masks, /*compact=*/!where_it_lies); !status.ok())
    return status;
  if (!SamePlace(logits, output)) {
    for (const MaskRow& row : masks.rows) {
      if (!where_it_lies && !row.full()) continue;  // goes by the device
      std::memcpy(HostRow(output, row.logits_row()), HostRow(logits, row.logits_row()),
                  static_cast<std::size_t>(RowBytes(logits)));
    }
  }
  if (step.row_count() == 0) return absl::OkStatus();
  return where_it_lies ? ApplyWhereItLies(step, masks, output)
                       : ApplyToCopy(step, masks, logits, output);
}

absl::Status Implementation::Run(MaskStep& step, const MaskRows& masks,
                                 const DeviceLogits& logits) const {
  const auto* const dictionary = static_cast<const DeviceDictionary*>(masks.dictionary);
  return step.Run(target_, logits, masks.vocab_size,
                  dictionary == nullptr ? nullptr : dictionary->memory());
}

absl::Status Implementation::CheckBuffer(const Logits& logits, absl::string_view name) const {
  auto* const buffer = static_cast<cl_mem>(logits.data);
  cl_context context = nullptr;
  std::size_t size = 0;
  if (OpenCl().clGetMemObjectInfo(buffer, CL_MEM_CONTEXT, sizeof(context), &context, nullptr) !=
          CL_SUCCESS ||
      OpenCl().clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof(size), &size, nullptr) !=
          CL_SUCCESS) {
    return absl::InvalidArgumentError(absl::StrCat(name, ".data: is not a cl_mem"));
  }
  if (context != session_.context.get()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ".data: is a buffer of another OpenCL context"));
  }
  if (logits.row_count == 0) return absl::OkStatus();
  const std::int64_t elements =
      logits.offset + (logits.row_count - 1) * logits.row_stride + logits.width;
  const std::int64_t needed = elements * ElementTypeOf(logits.type).bytes;
  if (needed <= static_cast<std::int64_t>(size)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, ".data: the buffer has ", size, " bytes, the rows need ", needed));
}

absl::Status Implementation::ApplyInBuffer(MaskStep& step, const MaskRows& masks,
                                           const Logits& logits, const Logits& output) const {
  if (absl::Status status = CheckBuffer(logits, "logits"); !status.ok()) return status;
  const bool in_place = SamePlace(logits, output);
  if (!in_place) {
    if (absl::Status status = CheckBuffer(output, "output"); !status.ok()) return status;
    if (ShareMemory(BufferRange(logits), BufferRange(output)))
      return absl::InvalidArgumentError("output.data: shares memory with the logits");
  }
  if (absl::Status status = step.Pack(masks, /*compact=*/false); !status.ok()) return status;
  absl::Status status = in_place ? absl::OkStatus() : CopyInBuffers(masks, logits, output);
  if (status.ok() && step.row_count() > 0)
    status = Run(step, masks, OnDevice(output, static_cast<cl_mem>(output.data)));
  if (!status.ok()) return status;
  if (session_.engines_queue)
    return OpenClStatus("clFlush", OpenCl().clFlush(session_.queue.get()));
  if (step.row_count() > 0 || in_place) return step.Wait();
  return OpenClStatus("clFinish", OpenCl().clFinish(session_.queue.get()));
}

absl::Status Implementation::CopyInBuffers(const MaskRows& masks, const Logits& logits,
                                           const Logits& output) const {
  for (const MaskRow& row : masks.rows) {
    const cl_int code = OpenCl().clEnqueueCopyBuffer(
        session_.queue.get(), static_cast<cl_mem>(logits.data), static_cast<cl_mem>(output.data),
        static_cast<std::size_t>(RowBegin(logits, row.logits_row())),
        static_cast<std::size_t>(RowBegin(output, row.logits_row())),
        static_cast<std::size_t>(RowBytes(logits)), 0, nullptr, nullptr);
    if (code != CL_SUCCESS) return OpenClStatus("clEnqueueCopyBuffer", code);
  }
  return absl::OkStatus();
}

bool Implementation::CanUseWhereItLies(const Logits& logits) const {
  const auto address = reinterpret_cast<std::uintptr_t>(logits.data);
  const auto bytes = static_cast<std::uintptr_t>(ElementTypeOf(logits.type).bytes);
  if (always_copy_) return false;
  if (session_.device.is_cpu) return address % bytes == 0;
  return session_.device.unified_memory && address % kSharedAlignment == 0;
}

absl::Status Implementation::ApplyWhereItLies(MaskStep& step, const MaskRows& masks,
                                              const Logits& logits) const {
  const std::int64_t elements =
      logits.offset + (logits.row_count - 1) * logits.row_stride + logits.width;
  const auto bytes = static_cast<std::size_t>(elements * ElementTypeOf(logits.type).bytes);
  cl_int code = CL_SUCCESS;
  const OpenClMemory buffer(OpenCl().clCreateBuffer(
      session_.context.get(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, logits.data, &code));
  if (buffer == nullptr) return OpenClStatus("clCreateBuffer over the logits", code);
  absl::Status status = Run(step, masks, OnDevice(logits, buffer.get()));
  if (!status.ok()) return status;
  // Mapping is what makes the kernel's writes the host's; in shared memory it copies nothing.
  void* const mapped =
      OpenCl().clEnqueueMapBuffer(session_.queue.get(), buffer.get(), CL_TRUE, CL_MAP_READ, 0,
                                  bytes, 0, nullptr, nullptr, &code);
  if (mapped == nullptr) return OpenClStatus("clEnqueueMapBuffer", code);
  cl_event unmapped = nullptr;
  code = OpenCl().clEnqueueUnmapMemObject(session_.queue.get(), buffer.get(), mapped, 0, nullptr,
                                          &unmapped);
  if (code != CL_SUCCESS) return OpenClStatus("clEnqueueUnmapMemObject", code);
  const OpenClEvent event(unmapped);
  code = OpenCl().clWaitForEvents(1, &unmapped);
  if (code != CL_SUCCESS) return OpenClStatus("clWaitForEvents", code);
  return step.Wait();
}

absl::Status Implementation::CopyRows(const MaskRows& masks, const Logits& logits, cl_mem copy,
                                      bool back) const {
  const auto bytes = static_cast<std::size_t>(logits.width * ElementTypeOf(logits.type).bytes);
  std::size_t at = 0;
  for (const MaskRow& row : masks.rows) {
    if (row.full()) continue;
    std::byte* const host = HostRow(logits, row.logits_row());
    const cl_int code = back ? OpenCl().clEnqueueReadBuffer(session_.queue.get(), copy, CL_FALSE,
                                                            at, bytes, host, 0, nullptr, nullptr)
                             : OpenCl().clEnqueueWriteBuffer(session_.queue.get(), copy, CL_FALSE,
                                                             at, bytes, host, 0, nullptr, nullptr);
    if (code != CL_SUCCESS)
      return OpenClStatus(back ? "clEnqueueReadBuffer" : "clEnqueueWriteBuffer", code);
    at += bytes;
  }
  return absl::OkStatus();
}

absl::Status Implementation::ApplyToCopy(MaskStep& step, const MaskRows& masks,
                                         const Logits& logits, const Logits& output) const {
  DeviceMemory& copy = step.scratch();
  const std::int64_t bytes = step.row_count() * logits.width * ElementTypeOf(logits.type).bytes;
  absl::Status status = copy.Reserve(target_, static_cast<std::size_t>(bytes));
  if (!status.ok()) return status;
  DeviceLogits on_device = OnDevice(logits, copy.get());
  on_device.start = 0;
  on_device.row_stride = logits.width;
  status = CopyRows(masks, logits, copy.get(), /*back=*/false);
  if (status.ok()) status = Run(step, masks, on_device);
  if (status.ok()) status = CopyRows(masks, output, copy.get(), /*back=*/true);
  // Whatever was enqueued must not touch the caller's memory later.
  const cl_int finished = OpenCl().clFinish(session_.queue.get());
  if (!status.ok()) return status;
  if (absl::Status waited = step.Wait(); !waited.ok()) return waited;
  return OpenClStatus("clFinish", finished);
}

absl::StatusOr<std::unique_ptr<MaskDictionary>> Implementation::MakeCheckedDictionary(
    std::int64_t vocab_size, std::int64_t slot_count) const {
  const std::int64_t words = MaskWordCount(vocab_size);
  if (slot_count > std::numeric_limits<std::int32_t>::max() / words) {
    return absl::ResourceExhaustedError(absl::StrCat("slot_count: ", slot_count, " masks of ",
                                                     words, " words are more than opencl takes"));
  }
  const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(slot_count * words, 1) * 4);
  cl_int code = CL_SUCCESS;
  OpenClMemory memory(
      OpenCl().clCreateBuffer(session_.context.get(), CL_MEM_READ_ONLY, bytes, nullptr, &code));
  if (memory == nullptr) return OpenClStatus("clCreateBuffer of the dictionary", code);
  return std::make_unique<DeviceDictionary>(this, vocab_size, slot_count, session_.queue.get(),
                                            std::move(memory));
}

absl::Status Implementation::WarmUp(const WarmUpShape& shape) {
  const std::int64_t most = shape.row_counts.empty() ? 0 : std::ranges::max(shape.row_counts);
  const std::int64_t bytes = std::max<std::int64_t>(most * shape.width, 1) * 4;
  DeviceMemory memory;
  absl::Status status = memory.Reserve(target_, static_cast<std::size_t>(bytes));
  if (!status.ok()) return status;
  std::vector<MaskRow> rows;
  for (const std::int64_t row_count : shape.row_counts) {
    rows.clear();
    for (std::int64_t row = 0; row < row_count; ++row)
      rows.push_back(MaskRow::Allowed(row, {}).With({}, 2));
    const Logits logits{.data = memory.get(),
                        .memory = LogitsMemory::kOpenClBuffer,
                        .type = shape.type,
                        .row_count = row_count,
                        .width = shape.width,
                        .row_stride = shape.width};
    status = Apply({.vocab_size = shape.vocab_size, .rows = rows}, logits);
    if (!status.ok()) return status;
  }
  const cl_int code = OpenCl().clFinish(session_.queue.get());
  program_.Keep();
  return OpenClStatus("clFinish", code);
}

absl::StatusOr<Session> OpenSession(const OpenClOptions& options) {
  absl::StatusOr<OpenClDevice> device = ChooseOpenClDevice(options.device);
  if (!device.ok()) return device.status();
  Session session;
  session.device = *std::move(device);
  cl_int code = CL_SUCCESS;
  session.context.reset(
      OpenCl().clCreateContext(nullptr, 1, &session.device.id, nullptr, nullptr, &code));
  if (session.context == nullptr) return OpenClStatus("clCreateContext", code);
  session.queue.reset(
      OpenCl().clCreateCommandQueue(session.context.get(), session.device.id, 0, &code));
  if (session.queue == nullptr) return OpenClStatus("clCreateCommandQueue", code);
  return session;
}

template <typename Value>
bool QueueValue(cl_command_queue queue, cl_command_queue_info what, Value& value) {
  return OpenCl().clGetCommandQueueInfo(queue, what, sizeof(value), &value, nullptr) == CL_SUCCESS;
}

absl::StatusOr<Session> JoinSession(cl_command_queue queue) {
  const absl::StatusOr<const OpenClApi*> api = LoadOpenCl();
  if (!api.ok()) return api.status();
  cl_context context = nullptr;
  cl_device_id device = nullptr;
  cl_command_queue_properties properties = 0;
  if (!QueueValue(queue, CL_QUEUE_CONTEXT, context) ||
      !QueueValue(queue, CL_QUEUE_DEVICE, device) ||
      !QueueValue(queue, CL_QUEUE_PROPERTIES, properties)) {
    return absl::InvalidArgumentError("options.queue: is not a cl_command_queue");
  }
  if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0)
    return absl::InvalidArgumentError("options.queue: runs its commands out of order");
  OpenCl().clRetainContext(context);
  OpenCl().clRetainCommandQueue(queue);
  return Session{.device = DescribeOpenClDevice(device),
                 .context = OpenClContext(context),
                 .queue = OpenClQueue(queue),
                 .engines_queue = true};
}

absl::StatusOr<KernelShape> ShapeOf(const std::string& kernels, const OpenClDevice& device) {
  if (kernels == "words") return KernelShape::kWords;
  if (kernels == "tokens") return KernelShape::kTokens;
  if (kernels == "auto") return device.is_cpu ? KernelShape::kWords : KernelShape::kTokens;
  return absl::InvalidArgumentError(
      absl::StrCat("options.kernels: \"", kernels, "\" is not one of auto, words, tokens"));
}

// So that a first start keeps a program that has run, for each type of logits.
absl::Status RunEachKernelOnce(OpenClApplier& applier) {
  for (const LogitsType type :
       {LogitsType::kFloat32, LogitsType::kFloat16, LogitsType::kBFloat16}) {
    absl::Status status =
        applier.WarmUp({.vocab_size = 32, .width = 32, .row_counts = {1}, .type = type});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

OpenClOptions DefaultOpenClOptions() { return {.cache_directory = DefaultProgramCacheDirectory()}; }

absl::StatusOr<std::unique_ptr<OpenClApplier>> OpenClApplier::Make(const OpenClOptions& options) {
  absl::StatusOr<Session> session = options.queue != nullptr
                                        ? JoinSession(static_cast<cl_command_queue>(options.queue))
                                        : OpenSession(options);
  if (!session.ok()) return session.status();
  const absl::StatusOr<KernelShape> shape = ShapeOf(options.kernels, session->device);
  if (!shape.ok()) return shape.status();
  absl::StatusOr<MaskProgram> program = MaskProgram::Build(session->context.get(), session->device,
                                                           ProgramCache(options.cache_directory));
  if (!program.ok()) return program.status();
  const std::size_t wanted = *shape == KernelShape::kWords ? kWordsWorkGroup : kTokensWorkGroup;
  const DeviceQueue target{.context = session->context.get(),
                           .queue = session->queue.get(),
                           .shape = *shape,
                           .work_group = std::min(wanted, session->device.max_work_group)};
  auto applier = std::make_unique<Implementation>(*std::move(session), *std::move(program), target,
                                                  options.always_copy);
  if (absl::Status status = RunEachKernelOnce(*applier); !status.ok()) return status;
  return applier;
}

}  // namespace maskd::client
