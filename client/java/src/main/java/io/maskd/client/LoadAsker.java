package io.maskd.client;

import io.grpc.ManagedChannel;
import io.maskd.v1.GetLoadRequest;
import io.maskd.v1.GetLoadResponse;
import io.maskd.v1.MaskServiceGrpc;
import io.maskd.v1.Welcome;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Asks servers how many streams they have, over connections that it keeps. For one thread at a time. */
final class LoadAsker implements AutoCloseable {
  /** How long a server may take to answer. */
  private static final long ANSWER_MS = 500;

  /** How many servers are asked at most. */
  private static final int MOST = 8;

  /** A stream as its server knows it. */
  record Own(String address, long number) {
    /** The stream of a welcome; null: its server does not tell of streams. */
    static Own of(String address, Welcome welcome) {
      return welcome.hasStreamNumber() ? new Own(address, welcome.getStreamNumber()) : null;
    }
  }

  private final ConnectOptions connect;
  private final Map<String, ManagedChannel> connections = new HashMap<>();

  LoadAsker(ConnectOptions connect) {
    this.connect = connect;
  }

  @Override
  public void close() {
    keepOnly(List.of());
  }

  private void keepOnly(List<String> servers) {
    for (String server : List.copyOf(connections.keySet())) {
      if (!servers.contains(server)) {
        connections.remove(server).shutdownNow();
      }
    }
  }

  /** Asks all at once; of many a random few, the own one among them. `own` may be null. */
  Balance.Loads ask(List<String> servers, Own own) throws InterruptedException {
    List<String> asked = sample(servers, own);
    keepOnly(asked);
    Map<String, Future<GetLoadResponse>> answers = new TreeMap<>();
    for (String server : asked) {
      GetLoadRequest.Builder request = GetLoadRequest.newBuilder();
      if (own != null && own.address.equals(server)) {
        request.setStreamNumber(own.number);
      }
      try {
        ManagedChannel connection = connections.computeIfAbsent(server, connect::dial);
        answers.put(
            server,
            MaskServiceGrpc.newFutureStub(connection)
                .withDeadlineAfter(ANSWER_MS, TimeUnit.MILLISECONDS)
                .getLoad(request.build()));
      } catch (MaskdException error) {
        // No address of a server: it answers nothing.
      }
    }
    return read(answers);
  }

  private Balance.Loads read(Map<String, Future<GetLoadResponse>> answers) throws InterruptedException {
    List<String> servers = new ArrayList<>();
    List<Integer> streams = new ArrayList<>();
    int rank = 0;
    for (var each : answers.entrySet()) {
      try {
        GetLoadResponse answer = each.getValue().get();
        servers.add(each.getKey());
        streams.add(answer.getOpenStreams());
        rank = answer.hasRank() ? answer.getRank() : rank;
      } catch (ExecutionException error) {
        connections.remove(each.getKey()).shutdownNow(); // it may wait for long before it tries again
      }
    }
    return new Balance.Loads(servers, streams.stream().mapToInt(Integer::intValue).toArray(), rank);
  }

  private static List<String> sample(List<String> servers, Own own) {
    List<String> asked = new ArrayList<>(servers);
    if (asked.size() > MOST) {
      Collections.shuffle(asked);
      int here = own == null ? 0 : Math.max(0, asked.indexOf(own.address));
      Collections.swap(asked, 0, here);
      asked = asked.subList(0, MOST);
    }
    return asked;
  }
}
