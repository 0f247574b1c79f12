// A client that does to a server's shared memory what it likes, and then dies of SIGKILL, most
// often in the middle of a message.
//
//   hostile_client SOCKET SEED STREAMS
//
// Each stream is another seed. Exit code 3: the server could not be asked.
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include <unistd.h>

#include "maskd/v1/mask_service.grpc.pb.h"
#include "ring/handover.h"
#include "ring/shared_memory.h"
#include "tests/hostile/scribbler.h"

namespace maskd::hostile {
namespace {

using Call = grpc::ClientReaderWriter<v1::DecodeRequest, v1::DecodeResponse>;

constexpr std::uint32_t kWidth = 257;

// The step `number` of a client that keeps to the rules, now and then with rows that do not.
std::string StepOf(std::uint64_t number, Scribbler& by) {
  v1::DecodeRequest request;
  v1::Step& step = *request.mutable_step();
  step.set_step(number);
  if (number == 1 || by.Any(16) == 0) {
    v1::OpenRow& open = *step.add_open();
    open.set_row(number);
    open.mutable_grammar()->set_kind("regex");
    open.mutable_grammar()->set_source(absl::StrCat("[a-z]{1,", 1 + by.Any(40), "}"));
    step.set_wait_for_compile_ms(by.Any(100));
  }
  for (std::uint32_t i = 0; i < by.Any(4); ++i) {
    v1::RowUpdate& row = *step.add_rows();
    row.set_row(1 + by.Any(3));
    row.add_tokens(static_cast<std::int32_t>('a' + by.Any(30)));
    if (by.Any(4) == 0) row.set_rollback(by.Any(3));
    for (std::uint32_t j = 0; j < by.Any(3); ++j) row.mutable_drafts()->add_tokens('a');
  }
  return request.SerializeAsString();
}

// Asks for memory; none where the server is busy.
std::optional<v1::SharedMemory> Greet(Call& call) {
  v1::DecodeRequest request;
  request.mutable_hello()->set_logits_width(kWidth);
  request.mutable_hello()->set_shared_memory(true);
  v1::DecodeResponse response;
  if (!call.Write(request) || !call.Read(&response)) return std::nullopt;
  return response.welcome().shared_memory();
}

absl::StatusOr<ring::SharedMemory> Map(const std::string& socket, const v1::SharedMemory& offer) {
  auto fd = ring::Fetch(socket + offer.socket_suffix(), offer.token(), absl::Seconds(10));
  if (!fd.ok()) return fd.status();
  const int copy = dup(fd->get());
  // What has been lent cannot be shortened.
  if (ftruncate(copy, 0) == 0) std::_Exit(4);
  close(copy);
  return ring::SharedMemory::Map(
      *std::move(fd), {.to_server = offer.to_server_bytes(), .to_client = offer.to_client_bytes()});
}

// One stream. With `dies` it is this process's last.
void Misuse(const std::string& socket, v1::MaskService::Stub& stub, std::uint32_t seed, bool dies) {
  grpc::ClientContext context;
  const std::unique_ptr<Call> call = stub.Decode(&context);
  const std::optional<v1::SharedMemory> offer = Greet(*call);
  if (!offer.has_value()) return;
  if (seed % 16 == 7) return context.TryCancel();  // never asks for it
  const auto memory = Map(socket, *offer);
  if (!memory.ok()) return;
  Scribbler scribbler(&*memory, ring::Side::kClient, seed);
  const std::uint64_t turns = 1 + scribbler.Any(60);
  for (std::uint64_t step = 1; step <= turns; ++step) scribbler.Turn(StepOf(step, scribbler));
  if (dies) {
    if (seed % 4 != 0) scribbler.SendHalf(StepOf(1, scribbler));
    raise(SIGKILL);
  }
  if (seed % 3 == 0) call->WritesDone();
  if (seed % 3 == 1) call->Write(v1::DecodeRequest());
  absl::SleepFor(absl::Milliseconds(scribbler.Any(5)));
  context.TryCancel();
}

int Main(const std::string& socket, std::uint32_t seed, std::uint32_t streams) {
  const auto channel =
      grpc::CreateChannel(absl::StrCat("unix:", socket), grpc::InsecureChannelCredentials());
  if (!channel->WaitForConnected(absl::ToChronoTime(absl::Now() + absl::Seconds(20)))) return 3;
  const auto stub = v1::MaskService::NewStub(channel);
  for (std::uint32_t i = 0; i < streams; ++i) Misuse(socket, *stub, seed + i, i + 1 == streams);
  return 0;
}

}  // namespace
}  // namespace maskd::hostile

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  return maskd::hostile::Main(argv[1], static_cast<std::uint32_t>(std::atoi(argv[2])),
                              static_cast<std::uint32_t>(std::atoi(argv[3])));
}
