package io.maskd.client;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

/**
 * The servers of a stream in the order in which they are tried, and when one that has refused for load may be asked
 * again.
 */
final class ServerList {
  /** An error with a time of the server's own, and when that is over. */
  record Refusal(MaskdException error, long untilNanos) {}

  private final List<String> all;
  private final LongSupplier clock;
  private final Map<String, Refusal> refusals = new HashMap<>();
  private int at; // the one in use, or that is tried next

  ServerList(List<String> addresses, LongSupplier clock) {
    all = new ArrayList<>(addresses);
    this.clock = clock;
  }

  String address() {
    return all.get(at);
  }

  int size() {
    return all.size();
  }

  /** Makes a server the one in use. */
  void use(String address) {
    if (!all.contains(address)) {
      all.add(address);
    }
    at = all.indexOf(address);
  }

  /** Leaves the server in use for the next one. */
  void goOn() {
    at = (at + 1) % all.size();
  }

  void shuffle() {
    String here = address();
    Collections.shuffle(all);
    use(here);
  }

  /** Takes the servers that there are now, in the order of before; new ones get a place by chance. */
  void replace(List<String> now) {
    if (now.isEmpty()) {
      return;
    }
    String here = address();
    all.removeIf(server -> !server.equals(here) && !now.contains(server));
    for (String server : now) {
      if (!all.contains(server)) {
        all.add(ThreadLocalRandom.current().nextInt(all.size() + 1), server);
      }
    }
    use(here);
  }

  /** Keeps what a server has said of the time after which it may be asked again. */
  void note(String address, MaskdException error) {
    if (error != null && error.retryAfter() != null && error.retryAfter().toNanos() > 0) {
      refusals.put(address, new Refusal(error, clock.getAsLong() + error.retryAfter().toNanos()));
    } else {
      refusals.remove(address);
    }
  }

  /** Those that may be asked now, from the one that is tried next on. */
  List<String> toAsk() {
    long now = clock.getAsLong();
    List<String> inOrder = new ArrayList<>(all.subList(at, all.size()));
    inOrder.addAll(all.subList(0, at));
    inOrder.removeIf(server -> refusals.containsKey(server) && refusals.get(server).untilNanos - now > 0);
    return inOrder;
  }

  /** The refusal that is over first, where all servers have refused for load; else null. */
  Refusal first() {
    List<Refusal> said = all.stream().map(refusals::get).filter(Objects::nonNull).toList();
    boolean doAll = said.size() == all.size();
    return doAll ? Collections.min(said, Comparator.comparingLong(Refusal::untilNanos)) : null;
  }
}
