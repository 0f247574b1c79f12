package io.maskd.client;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** How the streams of many clients spread over many servers, each deciding for its own alone. */
final class Balance {
  /** The place of a stream that does not go. */
  static final int STAYS = -1;

  private Balance() {}

  /**
   * Where the stream of `rank`, 1 the oldest, of server `own` goes: an index of `streams`, which has how many each
   * server has; or STAYS. The goal is the mean, rounded up where there are most now, else down. Of a server that has
   * more the youngest go, each to another of the places that are free: no chance is in it, and a herd does not swing.
   */
  static int placeToGo(int[] streams, int own, int rank) {
    List<Integer> mostFirst = new ArrayList<>();
    for (int i = 0; i < streams.length; ++i) {
      mostFirst.add(i);
    }
    mostFirst.sort(Comparator.comparingInt(i -> -streams[i]));
    int total = Arrays.stream(streams).sum();
    int[] goals = new int[streams.length];
    for (int n = 0; n < goals.length; ++n) {
      goals[mostFirst.get(n)] = total / goals.length + (n < total % goals.length ? 1 : 0);
    }
    if (rank <= goals[own]) {
      return STAYS;
    }
    int number = rank - goals[own] - 1; // among those that go: first all of the fullest server
    for (int i : mostFirst.subList(0, mostFirst.indexOf(own))) {
      number += Math.max(0, streams[i] - goals[i]);
    }
    Collections.reverse(mostFirst);
    int last = STAYS;
    for (int i : mostFirst) {
      int free = goals[i] - streams[i];
      if (free <= 0) {
        continue;
      }
      last = i;
      if (number < free) {
        break;
      }
      number -= free;
    }
    return last;
  }

  /**
   * When a stream looks at the servers: every `everyMs` or sooner, half of it at least, so that streams that began
   * together part; an eighth of that a few times in a row, where it has just come to a server or saw that streams were
   * uneven and others had to go.
   */
  static final class LookPace {
    private static final int MOST_SOON = 4;

    private final long everyMs;
    private int soon;

    LookPace(long everyMs) {
      this.everyMs = everyMs;
    }

    /** How long until the next look. */
    long nextMs() {
      return MaskdClient.jittered(everyMs) / (soon > 0 ? 8 : 1);
    }

    void came() {
      soon = MOST_SOON;
    }

    void looked(boolean isUneven) {
      soon = soon > 0 ? soon - 1 : isUneven ? MOST_SOON : 0;
    }
  }

  /** What servers said: those that answered, ascending, their streams, and the rank of the own one; 0: not told. */
  record Loads(List<String> servers, int[] streams, int rank) {
    boolean isUneven() {
      return streams.length > 0
          && Arrays.stream(streams).max().getAsInt() > Arrays.stream(streams).min().getAsInt() + 1;
    }

    /** Where the own stream goes, which is at `address`; null: it stays. */
    String placeFor(String address) {
      int own = servers.indexOf(address);
      int place = own < 0 || rank == 0 ? STAYS : placeToGo(streams, own, rank);
      return place == STAYS ? null : servers.get(place);
    }

    /**
     * The servers by what they said, the least first, in a random order where they have the same; those of which
     * nothing is known come last.
     */
    List<String> leastFirst(List<String> all) {
      List<String> ordered = new ArrayList<>(all);
      Collections.shuffle(ordered, ThreadLocalRandom.current());
      ordered.sort(
          Comparator.comparingInt(
              server -> servers.contains(server) ? streams[servers.indexOf(server)] : Integer.MAX_VALUE));
      return ordered;
    }
  }
}
