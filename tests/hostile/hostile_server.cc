// A server that says hello and then does to the memory it has lent what it likes, lends what is
// none, or sends what nobody asked for; and dies of SIGKILL in its last stream.
//
//   hostile_server SOCKET SEED STREAMS
//
// Each stream is another seed.
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "maskd/v1/mask_service.grpc.pb.h"
#include "ring/handover.h"
#include "ring/shared_memory.h"
#include "tests/hostile/scribbler.h"

namespace maskd::hostile {
namespace {

using Call = grpc::ServerReaderWriter<v1::DecodeResponse, v1::DecodeRequest>;

constexpr std::int32_t kTokens = 257;

// The reply to step `number` of a server that keeps to the rules, now and then with masks that do
// not.
std::string ReplyOf(std::uint64_t number, Scribbler& by) {
  v1::DecodeResponse response;
  v1::StepReply& reply = *response.mutable_step();
  reply.set_step(by.Any(16) == 0 ? by.Any(100) : number);
  for (std::uint32_t i = 0; i < by.Any(5); ++i) {
    v1::RowReply& row = *reply.add_rows();
    row.set_row(1 + i);
    row.set_state(static_cast<v1::RowState>(by.Any(7)));
    if (by.Any(2) == 0) row.set_token_count(by.Any(8) == 0 ? by.Any(1U << 31) * 2 : by.Any(4));
    if (by.Any(4) == 0) {
      row.mutable_error()->set_code(static_cast<int>(by.Any(17)));
      row.mutable_error()->set_place(by.Any(2) == 0 ? "tokens[0]" : "rollback");
      row.mutable_error()->mutable_token()->set_index(by.Any(by.Any(2) == 0 ? 3 : 1U << 31));
    }
    v1::Position& position = *row.add_positions();
    switch (by.Any(5)) {
      case 0:
        position.set_dense(
            std::string(by.Any(8) == 0 ? by.Any(100) : 4 * ((kTokens + 31) / 32), 'x'));
        break;
      case 1:
        position.set_same_as(by.Any(20));
        break;
      case 2:
        position.mutable_delta()->set_base(by.Any(20));
        position.mutable_delta()->add_word_indices(by.Any(10));
        position.mutable_delta()->add_words(by.Any(1000));
        break;
      case 3:
        position.mutable_allowed_ids()->add_ids(static_cast<std::int32_t>(by.Any(kTokens + 2)));
        break;
      default:
        position.mutable_forbidden_ids()->add_ids(static_cast<std::int32_t>(by.Any(kTokens + 2)));
    }
    if (by.Any(2) == 0) position.set_dictionary_slot(by.Any(20));
  }
  return response.SerializeAsString();
}

// The reply to step `number` of rows 1 to 4, opened by step 2 and moved by a token in each step
// since: what a server would say that keeps to the rules, but for the masks, and lies about the
// tokens now and then.
std::string LieOf(std::uint64_t number, Scribbler& by) {
  v1::DecodeResponse response;
  v1::StepReply& reply = *response.mutable_step();
  reply.set_step(number);
  for (std::uint64_t id = 1; number > 1 && id <= 4; ++id) {
    v1::RowReply& row = *reply.add_rows();
    row.set_row(by.Any(100) == 0 ? 1 : id);
    row.set_state(by.Any(100) == 0 ? v1::ROW_STATE_FAILED : v1::ROW_STATE_ACTIVE);
    row.set_token_count(static_cast<std::uint32_t>(number - 2) + (by.Any(50) == 0 ? 1 : 0));
    row.add_positions()->set_dense(std::string(std::size_t{4} * ((kTokens + 31) / 32), 'x'));
  }
  return response.SerializeAsString();
}

// What is lent where memory of `sizes` is due.
ring::UniqueFd FdOf(std::uint32_t kind, const ring::RingSizes& sizes, ring::UniqueFd good) {
  switch (kind) {
    case 0:
      return ring::UniqueFd(open("/dev/null", O_RDWR | O_CLOEXEC));
    case 1:
      return ring::UniqueFd(memfd_create("unsealed", MFD_CLOEXEC));
    case 2: {
      auto other = ring::SharedMemory::Create({.to_server = 4096, .to_client = sizes.to_client});
      return other->TakeFd();
    }
    case 3:  // cannot be written
      return ring::UniqueFd(
          open(absl::StrCat("/proc/self/fd/", good.get()).c_str(), O_RDONLY | O_CLOEXEC));
    case 4:  // nothing
      return ring::UniqueFd();
    default:
      return good;
  }
}

class Service : public v1::MaskService::Service {
 public:
  Service(std::string socket, std::uint32_t seed, std::uint32_t streams)
      : socket_(std::move(socket)), seed_(seed), last_(seed + streams - 1) {
    auto port = ring::HandoverPort::Listen(socket_ + ring::kSocketSuffix, [this](auto) {
      const std::lock_guard<std::mutex> lock(mutex_);
      fetched_ = true;
      return std::exchange(offered_, ring::UniqueFd());
    });
    if (!port.ok()) std::abort();
    port_ = *std::move(port);
  }

 private:
  grpc::Status Decode(grpc::ServerContext* context, Call* call) override {
    const std::uint32_t seed = seed_++;
    auto memory = ring::SharedMemory::Create(sizes_);
    if (!memory.ok()) std::abort();
    Scribbler by(&*memory, ring::Side::kServer, seed);
    v1::DecodeRequest hello;
    call->Read(&hello);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      fetched_ = false;
      offered_ = FdOf(by.Any(30), sizes_, memory->TakeFd());
    }
    call->Write(WelcomeBy(by));
    for (int i = 0; i < 200 && !IsFetched(); ++i) absl::SleepFor(absl::Milliseconds(1));
    Serve(*call, by);
    if (seed >= last_) Die(by);
    if (by.Any(4) == 0) return {grpc::StatusCode::UNAVAILABLE, "has had enough"};
    for (int i = 0; i < 1000 && !context->IsCancelled(); ++i) absl::SleepFor(absl::Milliseconds(1));
    return grpc::Status::OK;
  }

  v1::DecodeResponse WelcomeBy(Scribbler& by) const {
    v1::DecodeResponse response;
    v1::Welcome& welcome = *response.mutable_welcome();
    welcome.set_protocol_version(1);
    welcome.mutable_tokenizer()->set_vocab_size(by.Any(20) == 0 ? 1 << by.Any(31) : kTokens);
    welcome.set_mask_words(by.Any(20) == 0 ? 1U << by.Any(32) : (kTokens + 31) / 32);
    welcome.set_dictionary_size(by.Any(20) == 0 ? 1U << by.Any(32) : 16);
    v1::SharedMemory& offer = *welcome.mutable_shared_memory();
    offer.set_socket_suffix(by.Any(30) == 0 ? std::string(by.Any(200), '/') : ring::kSocketSuffix);
    offer.set_token(std::string(by.Any(30) == 0 ? by.Any(100) : ring::kTokenBytes, 't'));
    offer.set_to_server_bytes(by.Any(30) == 0 ? by.Any(1U << 31) : sizes_.to_server);
    offer.set_to_client_bytes(by.Any(30) == 0 ? 1U << by.Any(32) : sizes_.to_client);
    return response;
  }

  bool IsFetched() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return fetched_;
  }

  // Answers steps that it has not read, a few milliseconds long; or each step when it comes.
  static void Serve(Call& call, Scribbler& by) {
    const bool lies = by.Any(2) == 0;
    const bool floods = by.Any(10) == 0;
    const std::uint64_t turns = 1 + by.Any(40);
    for (std::uint64_t step = 1; step <= turns; ++step) {
      if (lies) by.Await();
      by.Turn(lies ? LieOf(step, by) : ReplyOf(step, by));
      if (by.Any(30) == 0) call.Write(Notice(by));
      absl::SleepFor(absl::Microseconds(by.Any(500)));
    }
    for (int i = 0; floods && i < 2000; ++i) by.Send(ReplyOf(1, by));
    for (int i = 0; floods && i < 2000 && call.Write(Notice(by)); ++i) {
    }
  }

  static v1::DecodeResponse Notice(Scribbler& by) {
    v1::DecodeResponse response;
    if (by.Any(2) == 0)
      response.mutable_go_away()->set_reason(std::string(by.Any(1000), 'x'));
    else
      response.ParseFromString(ReplyOf(by.Any(10), by));
    return response;
  }

  [[noreturn]] static void Die(Scribbler& by) {
    by.SendHalf(ReplyOf(1, by));
    raise(SIGKILL);
    std::abort();
  }

  const std::string socket_;
  const ring::RingSizes sizes_;
  std::atomic<std::uint32_t> seed_;
  const std::uint32_t last_;
  std::mutex mutex_;
  bool fetched_ = false;
  ring::UniqueFd offered_;
  std::unique_ptr<ring::HandoverPort> port_;
};

int Main(const std::string& socket, std::uint32_t seed, std::uint32_t streams) {
  Service service(socket, seed, streams);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(absl::StrCat("unix:", socket), grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return 3;
  server->Wait();
  return 0;
}

}  // namespace
}  // namespace maskd::hostile

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  return maskd::hostile::Main(argv[1], static_cast<std::uint32_t>(std::atoi(argv[2])),
                              static_cast<std::uint32_t>(std::atoi(argv[3])));
}
