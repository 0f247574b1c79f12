// Whether streams that decide each for itself, by figures that are a little old, come to be spread
// evenly, and then stay where they are: at the start, after a rolling restart, when one server more
// has come.
//
// Seeds    MASKD_SIMULATION_SEEDS of them, 10,000 by default: seconds. A failure names its seed.
#include "client/cpp/failover/balance.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "tests/base/night.h"

namespace maskd::client {
namespace {

using testing::ElementsAre;

// What the clients of all languages agree on.
nlohmann::json Spread() {
  std::ifstream file(MASKD_SOURCE_DIR "/tests/interop/spread.json");
  return nlohmann::json::parse(file);
}

TEST(PlaceToGoTest, StreamsGoWhereAllClientsSay) {
  const nlohmann::json spread = Spread();
  ASSERT_GT(spread["places"].size(), 10U);
  for (const nlohmann::json& each : spread["places"]) {
    const std::vector<int> streams = each["streams"];
    std::vector<std::vector<int>> moves;
    for (int own = 0; own < static_cast<int>(streams.size()); ++own) {
      for (int rank = 1; rank <= streams[own]; ++rank)
        if (const auto place = PlaceToGo(streams, own, rank); place.has_value())
          moves.push_back({own, rank, static_cast<int>(*place)});
    }
    EXPECT_EQ(moves, each["moves"].get<std::vector<std::vector<int>>>()) << each["streams"];
  }
}

TEST(PlaceToGoTest, AFigureThatIsOlderThanTheRankIsNoHarm) {
  const nlohmann::json spread = Spread();
  ASSERT_FALSE(spread["old_figures"].empty());
  for (const nlohmann::json& each : spread["old_figures"]) {
    const auto place =
        PlaceToGo(each["streams"].get<std::vector<int>>(), each["own"], each["rank"]);
    EXPECT_EQ(place.has_value(), !each["place"].is_null()) << each;
    if (place.has_value()) EXPECT_EQ(*place, each["place"].get<std::size_t>()) << each;
  }
}

// All of them at once, by the same figures: afterwards none has two more than another, and as few
// have moved as could be.
TEST(PlaceToGoTest, TogetherTheyAreEvenInOneRound) {
  std::mt19937 random(3);  // NOLINT(cert-msc51-cpp): the same figures in every run
  for (int round = 0; round < 10'000; ++round) {
    std::vector<int> streams(1 + random() % 8);
    for (int& count : streams) count = static_cast<int>(random() % 20);
    std::vector<int> after = streams;
    int moves = 0;
    for (std::size_t own = 0; own < streams.size(); ++own) {
      for (int rank = 1; rank <= streams[own]; ++rank) {
        const auto place = PlaceToGo(streams, own, rank);
        if (!place.has_value()) continue;
        --after[own];
        ++after[*place];
        ++moves;
      }
    }
    const auto [least, most] = std::ranges::minmax(after);
    ASSERT_LE(most - least, 1) << testing::PrintToString(streams);
    int needed = 0;
    for (const int count : streams) needed += std::max(0, count - most);
    ASSERT_LE(moves, needed + static_cast<int>(streams.size()));
  }
}

TEST(LeastFirstTest, WhatIsNotKnownComesLast) {
  EXPECT_THAT(LeastFirst(std::vector<std::optional<int>>{3, std::nullopt, 1, 3, 0}),
              ElementsAre(4, 2, 0, 3, 1));
}

TEST(LookPaceTest, IsFasterAFewTimesAfterSomethingHasHappened) {
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same times in every run
  LookPace pace(absl::Seconds(4));
  const auto is_usual = [&] {
    const absl::Duration wait = pace.Next(random);
    EXPECT_LE(wait, absl::Seconds(4));
    return wait >= absl::Seconds(2);
  };
  EXPECT_TRUE(is_usual());
  pace.Looked(true);
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(is_usual());
    pace.Looked(true);
  }
  EXPECT_TRUE(is_usual()) << "uneven for ever is looked at as ever";
  pace.Came();
  EXPECT_FALSE(is_usual());
}

// Twelve clients over servers whose answers, moves and steps take their time.
class World {
 public:
  static constexpr std::size_t kClients = 12;

  World(std::uint64_t seed, std::size_t servers)
      : random_(seed), servers_(servers), clients_(kClients) {}

  // All of them within `time`.
  void Start(absl::Duration time) {
    for (std::size_t i = 0; i < clients_.size(); ++i)
      At(absl::ZeroDuration(), time, [this, i] { Begin(i); });
  }
  void RunFor(absl::Duration time) {
    const absl::Duration end = now_ + time;
    while (!events_.empty() && events_.top().at <= end) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      event.run();
    }
    now_ = end;
  }
  // Its streams are told, and go elsewhere with their next step.
  void Drain(std::size_t server) {
    servers_[server].serves = false;
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      if (clients_[i].server != server) continue;
      At(absl::ZeroDuration(), kStep, [this, i, server] {
        if (clients_[i].server == server) GoOn(i);
      });
    }
  }
  void Restart(std::size_t server) { servers_[server].serves = true; }
  void Add() { servers_.emplace_back(); }

  // Whether each server has the mean but for a fifth.
  [[nodiscard]] bool IsEven() const {
    return std::ranges::all_of(servers_, [this](const Server& server) {
      const auto mean = static_cast<double>(kClients) / static_cast<double>(servers_.size());
      return std::abs(static_cast<double>(server.streams.size()) - mean) <= mean / 5;
    });
  }
  [[nodiscard]] std::vector<std::size_t> Counts() const {
    std::vector<std::size_t> counts;
    for (const Server& server : servers_) counts.push_back(server.streams.size());
    return counts;
  }
  [[nodiscard]] int moves() const { return moves_; }

 private:
  static constexpr absl::Duration kAnswer = absl::Milliseconds(10);
  static constexpr absl::Duration kCompile = absl::Milliseconds(300);
  static constexpr absl::Duration kStep = absl::Milliseconds(50);
  static constexpr int kSettles = 3;

  struct Event {
    absl::Duration at;
    std::uint64_t number;  // of two at one time the one that was planned first
    std::function<void()> run;
    bool operator>(const Event& other) const {
      return std::pair(at, number) > std::pair(other.at, other.number);
    }
  };
  struct Server {
    bool serves = true;
    std::set<std::uint64_t> streams;  // by number, which grows
    std::uint64_t next = 0;
  };
  struct Client {
    std::optional<std::size_t> server;
    std::uint64_t number = 0;
    std::uint64_t uses = 0;
    LookPace pace{absl::Seconds(4)};
  };
  struct Seen {
    std::vector<std::size_t> servers;
    std::vector<int> streams;
    int rank = 0;
  };

  void At(absl::Duration least, absl::Duration most, std::function<void()> run) {
    events_.push({now_ + absl::Uniform(random_, 0.0, 1.0) * (most - least) + least, planned_++,
                  std::move(run)});
  }

  // Asks each server; each answers at a time of its own.
  void Ask(std::size_t client, const std::function<void(const Seen&)>& then) {
    auto seen = std::make_shared<std::map<std::size_t, std::pair<int, int>>>();
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      At(absl::ZeroDuration(), kAnswer, [this, i, client, seen] {
        const Server& server = servers_[i];
        if (!server.serves) return;
        int rank = 0;
        if (clients_[client].server == i)
          for (const std::uint64_t number : server.streams)
            rank += number <= clients_[client].number;
        (*seen)[i] = {static_cast<int>(server.streams.size()), rank};
      });
    }
    At(kAnswer, kAnswer, [seen, then] {
      Seen all;
      for (const auto& [server, said] : *seen) {
        all.servers.push_back(server);
        all.streams.push_back(said.first);
        all.rank = std::max(all.rank, said.second);
      }
      then(all);
    });
  }
  std::optional<std::size_t> PlaceFor(std::size_t client, const Seen& seen) {
    const auto own = std::ranges::find(seen.servers, clients_[client].server.value_or(SIZE_MAX));
    if (own == seen.servers.end() || seen.rank == 0) return std::nullopt;
    const auto place =
        PlaceToGo(seen.streams, static_cast<std::size_t>(own - seen.servers.begin()), seen.rank);
    return place.has_value() ? std::optional(seen.servers[*place]) : std::nullopt;
  }

  // Opens there, and leaves the server of before a moment later.
  void Open(std::size_t i, std::size_t to, absl::Duration leaves_in) {
    Client& client = clients_[i];
    const auto [from, number] = std::pair(client.server, client.number);
    client.server = to;
    client.number = servers_[to].next++;
    ++client.uses;
    client.pace.Came();
    servers_[to].streams.insert(client.number);
    if (from.has_value()) {
      At(absl::ZeroDuration(), leaves_in,
         [this, from = *from, number] { servers_[from].streams.erase(number); });
    }
    PlanLook(i);
  }
  void Begin(std::size_t i) {
    Ask(i, [this, i](const Seen& seen) {
      std::vector<std::size_t> order(seen.servers.size());
      std::iota(order.begin(), order.end(), 0);
      std::ranges::shuffle(order, random_);
      std::vector<std::optional<int>> streams;
      for (const std::size_t at : order) streams.emplace_back(seen.streams[at]);
      const std::size_t to = seen.servers[order[LeastFirst(streams).front()]];
      At(absl::ZeroDuration(), kAnswer, [this, i, to] {
        Open(i, to, absl::ZeroDuration());
        Settle(i, kSettles);
      });
    });
  }
  void Settle(std::size_t i, int times) {
    if (times == 0) return;
    Ask(i, [this, i, times](const Seen& seen) {
      const auto place = PlaceFor(i, seen);
      if (!place.has_value()) return;
      Open(i, *place, absl::ZeroDuration());
      Settle(i, times - 1);
    });
  }
  // The server ends: any other that serves.
  void GoOn(std::size_t i) {
    std::vector<std::size_t> others;
    for (std::size_t at = 0; at < servers_.size(); ++at)
      if (servers_[at].serves) others.push_back(at);
    Open(i, others[random_() % others.size()], absl::ZeroDuration());
  }
  void PlanLook(std::size_t i) {
    const absl::Duration wait = clients_[i].pace.Next(random_);
    At(wait, wait, [this, i, uses = clients_[i].uses] {
      if (clients_[i].uses == uses) Look(i);
    });
  }
  void Look(std::size_t i) {
    Ask(i, [this, i, uses = clients_[i].uses](const Seen& seen) {
      if (clients_[i].uses != uses) return;
      const auto [least, most] = std::ranges::minmax(seen.streams);
      clients_[i].pace.Looked(most > least + 1);
      const auto place = PlaceFor(i, seen);
      PlanLook(i);
      if (!place.has_value()) return;
      At(absl::ZeroDuration(), kCompile, [this, i, uses, place = *place] {
        Ask(i, [this, i, uses, place](const Seen& again) {
          if (clients_[i].uses != uses || PlaceFor(i, again) != place) return;
          ++moves_;
          Open(i, place, kStep);
        });
      });
    });
  }

  std::mt19937_64 random_;
  absl::Duration now_ = absl::ZeroDuration();
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t planned_ = 0;
  std::vector<Server> servers_;
  std::vector<Client> clients_;
  int moves_ = 0;
};

TEST(SpreadSimulationTest, StreamsAreEvenAtTheStartAfterARestartAndWithOneMore) {
  std::uint64_t seeds = ByNight(2'000, 10'000);
  if (const char* wanted = std::getenv("MASKD_SIMULATION_SEEDS"); wanted != nullptr)
    ASSERT_TRUE(absl::SimpleAtoi(wanted, &seeds)) << wanted;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    World world(seed, 3);
    world.Start(seed % 2 == 0 ? absl::ZeroDuration() : absl::Seconds(1));
    world.RunFor(absl::Milliseconds(2'500));
    ASSERT_TRUE(world.IsEven()) << seed << ": " << testing::PrintToString(world.Counts());
    for (std::size_t server = 0; server < 3; ++server) {
      world.Drain(server);
      world.RunFor(absl::Milliseconds(500 + 100 * (seed % 20)));
      world.Restart(server);
      world.RunFor(absl::Milliseconds(100 * (seed % 7)));
    }
    world.RunFor(absl::Seconds(5));
    ASSERT_TRUE(world.IsEven()) << seed << ": " << testing::PrintToString(world.Counts());
    const int before = world.moves();
    world.Add();
    world.RunFor(absl::Seconds(5));
    ASSERT_TRUE(world.IsEven()) << seed << ": " << testing::PrintToString(world.Counts());
    ASSERT_LE(world.moves() - before, 4) << seed << ": no more move than have to, but for one";
    const int all = world.moves();
    world.RunFor(absl::Seconds(20));
    ASSERT_EQ(world.moves(), all) << seed << ": nobody moves where streams are even";
  }
}

}  // namespace
}  // namespace maskd::client
