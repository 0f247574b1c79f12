package io.maskd.client;

import io.grpc.Status;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/**
 * Looks for a server that takes the rows of a stream. Of each round's servers several are asked at once. One that has
 * refused for load is asked again when it said, not before.
 */
final class ServerSearch {
  private static final long FIRST_DELAY_MS = 20;
  private static final long MAX_DELAY_MS = 1000;

  private static final Set<Status.Code> MAY_MOVE =
      EnumSet.of(
          Status.Code.UNAVAILABLE,
          Status.Code.CANCELLED,
          Status.Code.ABORTED,
          Status.Code.DEADLINE_EXCEEDED,
          Status.Code.RESOURCE_EXHAUSTED,
          Status.Code.INTERNAL,
          Status.Code.UNKNOWN);

  /** What is done with a server. */
  interface Guest {
    /** Begins to open a stream. */
    MaskStream begin(String address, Runnable heard);

    /** Brings the rows to a stream, and takes it. */
    void settle(MaskStream stream, String address);
  }

  private final ServerList servers;
  private final Guest guest;
  private final long deadline; // the caller's
  private MaskdException last; // of the last server
  private MaskdException differs; // of the last one that means other masks
  private int differing; // such servers in this round

  /** The deadline is the caller's, in nanoseconds of the clock. */
  ServerSearch(ServerList servers, Guest guest, long deadline) {
    this.servers = servers;
    this.guest = guest;
    this.deadline = deadline;
  }

  /** Whether another server may do better: this one is gone, silent, full, or broken. */
  static boolean mayMove(MaskdException error) {
    return MAY_MOVE.contains(error.code());
  }

  /** {@code giveUpAfter} bounds all of it, and a server's answer {@code patience}, twice as much in each round. */
  void find(Duration giveUpAfter, Duration patience) {
    long giveUpAt = System.nanoTime() + giveUpAfter.toNanos();
    long patienceNanos = patience.toNanos();
    for (long delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(2 * delayMs, MAX_DELAY_MS)) {
      if (askAll(Duration.ofNanos(Math.min(patienceNanos, giveUpAt - System.nanoTime())))) {
        return;
      }
      checkTime();
      long now = System.nanoTime();
      long waitNanos = MaskdClient.jittered(delayMs) * 1_000_000;
      ServerList.Refusal refusal = servers.first();
      if (refusal != null) {
        waitNanos = Math.max(waitNanos, refusal.untilNanos() - now);
        last = last == null ? refusal.error() : last;
      }
      if (differing == servers.size() || now + waitNanos - giveUpAt > 0) {
        throw differs != null ? differs : last;
      }
      MaskdClient.sleep(Math.min(waitNanos, Math.max(0, deadline - now)) / 1_000_000 + 1);
      checkTime();
      patienceNanos *= 2;
    }
  }

  /** Throws where the caller's own time is over. */
  private void checkTime() {
    if (System.nanoTime() - deadline >= 0) {
      String why = last == null ? "" : ": " + last.getMessage();
      throw new MaskdException(Status.Code.DEADLINE_EXCEEDED, "no server has taken the rows in time" + why);
    }
  }

  /** Asks the servers once. Whether one has taken the rows; throws what another server would say too. */
  private boolean askAll(Duration patience) {
    differing = 0;
    String first = servers.address();
    try (Race race = new Race(servers.toAsk(), patience, guest::begin)) {
      for (Race.Attempt tried = race.next(deadline); tried != null; tried = race.next(deadline)) {
        MaskdException error = tried.error() != null ? tried.error() : settle(tried);
        servers.note(tried.address(), error);
        if (error == null) {
          return true;
        }
        boolean isOther = error.code() == Status.Code.FAILED_PRECONDITION;
        if (!isOther && !mayMove(error) || Thread.currentThread().isInterrupted()) {
          throw error;
        }
        last = error;
        if (isOther) {
          differs = error;
          ++differing;
        }
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new MaskdException(Status.Code.CANCELLED, "the caller has been interrupted");
    }
    servers.use(first);
    return false;
  }

  private MaskdException settle(Race.Attempt tried) {
    servers.use(tried.address());
    try {
      guest.settle(tried.stream(), tried.address());
      return null;
    } catch (MaskdException error) {
      tried.stream().cancel();
      return error;
    }
  }
}
