// A decode stream that outlives its servers: when one breaks, stops answering or says that it will
// stop, the rows are opened with their tokens on the next address and the masks go on, bit for bit.
//
//   FailoverStream::Options options;
//   options.addresses = {"unix:/run/maskd-a.sock", "unix:/run/maskd-b.sock"};
//   auto stream = FailoverStream::Open(options);
//   (*stream)->Submit(step);  (*stream)->Collect(timeout, result);   // as a MaskStream
//
// Once     a step without a reply is sent again to the new server, whose rows stand where the last
//          reply said: no token is taken twice, none is lost.
// Grammars rows opened by text, or whose text Remember() was told, need nothing of the new server;
//          rows opened by id alone need the grammar to be there.
// Meaning  masks mean what they meant: the first welcome's vocabulary (hash and size) and the
//          grammar of each row's first reply are kept. A server that differs is refused with both
//          values and the next address is tried; FAILED_PRECONDITION where none is left. A server
//          whose grammar ids have another format is given the text, as in a rolling upgrade.
// Deaths   a step under which two servers ended is not sent to a third. The rows that it opens,
//          moves, forks into or describes have failed (INTERNAL, reason SERVERS_ENDED) and are
//          closed, their tokens of this step lost with them; other rows and steps go on.
// Spread   it opens where there are the fewest streams, and goes when its server has too many:
//          after a restart, or when a server has come to those of a name (server_watch.h). It goes
//          between two steps, to where its grammars are compiled by then; a server that does not
//          take the rows in a moment is left for the old one, which still has them.
//          When its server ends it tries the others, each client in another random order.
// Lies     a reply that contradicts its step or what was said before speaks against its server,
//          which is left: what it said of that step counts as not said.
// Going away  the notice is followed as soon as no step is in flight.
// Time     Submit() looks for no server: a step that it could not send waits for Collect(), which
//          finds one within its timeout. The next Collect() goes on with a move that took longer.
// Search   several servers are asked at once (opening_race.h), so a zone that is lost costs a
//          quarter of a second a server. One that refuses for load is asked again when it said.
// Errors   those of a MaskStream that another server would give too; else the last server's, after
//          give_up_after without one that serves, or at the timeout once all have failed a step.
// Threads  one thread at a time; it starts one to watch the servers, where there are several.
#ifndef MASKD_CLIENT_CPP_FAILOVER_FAILOVER_STREAM_H_
#define MASKD_CLIENT_CPP_FAILOVER_FAILOVER_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/random/random.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "client/cpp/base/retry.h"
#include "client/cpp/base/steady_time.h"
#include "client/cpp/connect/resolve.h"
#include "client/cpp/failover/load_asker.h"
#include "client/cpp/failover/opening_race.h"
#include "client/cpp/failover/row_ledger.h"
#include "client/cpp/failover/server_list.h"
#include "client/cpp/failover/server_watch.h"
#include "client/cpp/steps/step.h"
#include "client/cpp/steps/step_result.h"
#include "client/cpp/streams/mask_stream.h"

namespace maskd::client {

// Open() once; then use it as a MaskStream.
class FailoverStream {
 public:
  // Times bound how long an engine can stand still, each for one kind of trouble.
  struct Options {
    // At least one. A name of DNS stands for all servers that it has.
    std::vector<std::string> addresses;
    // Whether they are tried as listed, and the stream stays where it is. Else it spreads.
    bool in_order = false;
    StreamOptions stream = {};
    int max_message_bytes = 64 << 20;
    // A server that has not answered a step for so long is given up.
    absl::Duration step_timeout = absl::Seconds(2);
    // How long a server that serves is looked for.
    absl::Duration give_up_after = absl::Seconds(10);
    // How long the replayed rows' grammars may compile on the new server.
    absl::Duration compile_timeout = absl::Seconds(10);
    // Waits between two rounds over the addresses, each with jitter.
    RetryPolicy retry = {};
    // How often it is looked at the servers, at least.
    absl::Duration look_every = absl::Seconds(4);
    // What gives the servers of an address.
    Resolver resolve = ResolveByDns;
  };

  // Opens on the first server that serves. Errors: INVALID_ARGUMENT (no address), those above.
  static absl::StatusOr<std::unique_ptr<FailoverStream>> Open(Options options);

  // See RowLedger.
  void Remember(const std::string& grammar_id, const v1::Grammar& grammar) {
    ledger_.Remember(grammar_id, grammar);
  }

  // As MaskStream's.
  absl::StatusOr<std::uint64_t> Submit(Step& step);
  absl::Status Collect(absl::Duration timeout, StepResult& result);
  absl::Status Close(absl::Duration timeout);

  // What the server in use has said, or the last one that was.
  [[nodiscard]] const v1::Welcome& welcome() const { return welcome_; }
  [[nodiscard]] bool uses_shared_memory() const {
    return stream_ != nullptr && stream_->uses_shared_memory();
  }
  // How steps travel now: "grpc", "shared_memory" or "local"; "grpc" between two servers.
  [[nodiscard]] const char* transport() const {
    return stream_ != nullptr ? stream_->transport() : "grpc";
  }
  // The server in use, or the next to be tried; and steps whose reply is not collected yet.
  [[nodiscard]] const std::string& address() const { return servers_.address(); }
  [[nodiscard]] int in_flight() const { return static_cast<int>(unanswered_.size()); }
  // How often the rows have moved.
  [[nodiscard]] int moves() const { return moves_; }

 private:
  // A step without a reply.
  struct Sent {
    Step step;
    std::vector<std::string> ended;  // the servers that ended under it
    std::vector<RowId> failed = {};  // its rows, once it is given up
  };
  // What every server must have.
  struct Vocabulary {
    std::string hash;
    std::int32_t size;
  };

  // A server that has the rows to be opened, and is still to say that they are.
  struct Opening {
    std::unique_ptr<MaskStream> stream;
    Step oldest;  // the oldest unanswered step, as this server is to have it
    SteadyTime until;
  };

  // A server that is left and still has the rows.
  struct Left {
    std::string address;
    std::unique_ptr<MaskStream> stream;
  };

  // A search for a server. The next Collect() goes on with one that took longer.
  struct Search {
    SteadyTime give_up_at;
    SteadyTime wake;  // when its next round begins
    absl::Duration delay;
    absl::Duration patience;  // of a server's welcome
    std::string first = {};   // of the round's servers
    std::optional<OpeningRace> race = {};
    absl::Status last = {};     // of the last server
    absl::Status differs = {};  // of the last one that means other masks
    std::size_t differing = 0;  // such servers in this round
    bool is_over = false;
  };

  explicit FailoverStream(Options options);

  // The steps that a server is still to answer.
  [[nodiscard]] std::size_t live() const { return unanswered_.size() - given_up_; }
  // Whether another server may do better: this one is gone, silent, full, or broken.
  static bool MayMove(const absl::Status& status);
  // Those of a stream of this one, whose server may take so long to welcome.
  [[nodiscard]] StreamOptions OptionsWithin(absl::Duration open_timeout) const;
  // Leaves the server in use, for `why`, and finds another; or goes on with that. `deadline` is the
  // caller's in all of these: DEADLINE_EXCEEDED once it has passed.
  absl::Status Move(const absl::Status& why, SteadyTime deadline);
  absl::Status FindServer(SteadyTime deadline);
  // A round of a search. Absent: no server has taken the rows, and another round may do better.
  void BeginRound();
  std::optional<absl::Status> AskServers(SteadyTime deadline);
  std::optional<absl::Status> EndRound();
  // Whether a server has the vocabulary of the first one.
  absl::Status CheckVocabulary(const v1::Welcome& welcome);
  // Notes that the server in use ended, if it did, under the steps it was to answer.
  void NoteEnd(const absl::Status& status);
  // Answers the oldest step, which is given up.
  absl::Status AnswerGivenUp(StepResult& result);
  // Goes to a place, however long it takes.
  absl::Status OpenAt(const std::string& place);
  // Sends what opens the rows on a new stream: opening_.
  absl::Status SendOpens(std::unique_ptr<MaskStream> stream);
  // Waits for the rows of opening_, which stays when the caller has no more time for it.
  absl::Status FinishOpening(SteadyTime deadline);
  // Waits for the rows of opening_, and brings the unanswered steps there.
  absl::Status TakeRows(SteadyTime deadline);

  // Whether the stream goes where there are few.
  [[nodiscard]] bool spreads() const;
  // Puts the servers into the order in which they are tried at the start.
  void OrderByLoad();
  // Goes on to where there are fewer while others open too.
  void Settle();
  // What the watch wants, or offers: then left_ is the server of before, and the step that comes
  // opens the rows on the other.
  std::unique_ptr<MaskStream> FollowWatch();
  // Waits for the rows on the other server, or goes back.
  absl::Status FinishLeaving(SteadyTime deadline);
  absl::Status GoBack();

  Options options_;
  ServerList servers_;
  std::unique_ptr<MaskStream> stream_;
  std::optional<Search> search_;    // without a stream_ alone
  std::optional<Opening> opening_;  // likewise
  v1::Welcome welcome_;
  RowLedger ledger_;
  std::optional<Vocabulary> vocabulary_;  // of the first welcome that has one
  std::deque<Sent> unanswered_;
  std::size_t given_up_ = 0;     // of them, the oldest
  std::uint64_t next_step_ = 2;  // a replay takes the number before the oldest step it leads to
  int moves_ = 0;
  absl::BitGen random_;
  std::optional<Left> left_;  // without a stream_ alone
  SteadyTime left_at_;
  LoadAsker asker_;
  std::unique_ptr<ServerWatch> watch_;  // where it spreads, once it is open
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_FAILOVER_FAILOVER_STREAM_H_
