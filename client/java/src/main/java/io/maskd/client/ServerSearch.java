package io.maskd.client;

import io.grpc.Status;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Looks for a server that takes the rows of a stream. Of each round's servers several are asked at once. One that has
 * refused for load is asked again when it said, not before. One search goes on from call to call, each of which has a
 * deadline of its own.
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

    /** Sends what opens the rows to a stream that has been opened. */
    void sendOpens(MaskStream stream, String address);

    /** Waits for the rows and takes the stream; false: the caller's deadline has passed, and it may be asked again. */
    boolean takeRows(long deadline);
  }

  private final ServerList servers;
  private final Guest guest;
  private final long giveUpAt; // in nanoseconds of the clock, as all times here
  private long wake = System.nanoTime(); // when the next round begins
  private long delayMs = FIRST_DELAY_MS;
  private long patienceNanos; // of a server's welcome
  private Race race; // of the round; null between two
  private String first; // of the round's servers
  private String opening; // the server that is to open the rows; null: none is
  private MaskdException last; // of the last server
  private MaskdException differs; // of the last one that means other masks
  private int differing; // such servers in this round
  private boolean isOver;

  /** {@code giveUpAfter} bounds all of it, and a server's answer {@code patience}, twice as much in each round. */
  ServerSearch(ServerList servers, Guest guest, Duration giveUpAfter, Duration patience) {
    this.servers = servers;
    this.guest = guest;
    giveUpAt = System.nanoTime() + giveUpAfter.toNanos();
    patienceNanos = patience.toNanos();
  }

  /** Whether another server may do better: this one is gone, silent, full, or broken. */
  static boolean mayMove(MaskdException error) {
    return MAY_MOVE.contains(error.code());
  }

  /**
   * Goes on until a server has taken the rows, or the caller's deadline: then DEADLINE_EXCEEDED, or CANCELLED by an
   * interrupt, and {@link #isOver} is false. Any other error is the search's end.
   */
  void find(long deadline) {
    try {
      while (!askAll(deadline)) {
        endRound();
      }
      isOver = true;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new MaskdException(Status.Code.CANCELLED, "the caller has been interrupted");
    }
  }

  /** Whether nothing is left to be done. */
  boolean isOver() {
    return isOver;
  }

  /** Ends the attempts that run. */
  void cancel() {
    if (race != null) {
      race.close();
    }
  }

  private MaskdException outOfTime() {
    String why = last == null ? "" : ": " + last.getMessage();
    return new MaskdException(Status.Code.DEADLINE_EXCEEDED, "no server has taken the rows in time" + why);
  }

  private void beginRound(long deadline) throws InterruptedException {
    long now = System.nanoTime();
    TimeUnit.NANOSECONDS.sleep(Math.min(wake, deadline) - now);
    if (wake - deadline > 0) {
      throw outOfTime();
    }
    first = servers.address();
    differing = 0;
    Duration patience = Duration.ofNanos(Math.min(patienceNanos, giveUpAt - System.nanoTime()));
    race = new Race(servers.toAsk(), patience, guest::begin);
  }

  /** Goes on with a round. Whether a server has taken the rows; throws what another server would say too. */
  private boolean askAll(long deadline) throws InterruptedException {
    if (race == null) {
      beginRound(deadline);
    }
    while (opening != null || !race.isOver()) {
      MaskdException error = goOn(deadline);
      if (error == null) {
        return true;
      }
      boolean isOther = error.code() == Status.Code.FAILED_PRECONDITION;
      if (!isOther && !mayMove(error)) {
        isOver = true;
        throw error;
      }
      last = error;
      if (isOther) {
        differs = error;
        ++differing;
      }
    }
    return false;
  }

  /** Brings the rows to the next server that lets the stream in; null: it has them. */
  private MaskdException goOn(long deadline) throws InterruptedException {
    if (opening == null) {
      Race.Attempt tried = race.next(deadline);
      if (tried == null) {
        throw outOfTime();
      }
      servers.use(tried.address());
      MaskdException error = tried.error() != null ? tried.error() : sendOpens(tried);
      if (error != null) {
        servers.note(tried.address(), error);
        return error;
      }
      opening = tried.address();
    }
    MaskdException failure = null;
    boolean isLate = false;
    try {
      isLate = !guest.takeRows(deadline);
    } catch (MaskdException error) {
      failure = error;
    }
    if (isLate && Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (isLate) {
      throw outOfTime();
    }
    servers.note(opening, failure);
    opening = null;
    return failure;
  }

  private MaskdException sendOpens(Race.Attempt tried) {
    try {
      guest.sendOpens(tried.stream(), tried.address());
      return null;
    } catch (MaskdException error) {
      tried.stream().cancel();
      return error;
    }
  }

  /** Throws where another round can do no better. */
  private void endRound() {
    race.close();
    race = null;
    servers.use(first);
    long now = System.nanoTime();
    wake = now + MaskdClient.jittered(delayMs) * 1_000_000;
    ServerList.Refusal refusal = servers.first();
    if (refusal != null) {
      wake = now + Math.max(wake - now, refusal.untilNanos() - now);
      last = last == null ? refusal.error() : last;
    }
    if (differing == servers.size() || wake - giveUpAt > 0) {
      isOver = true;
      throw differs != null ? differs : last;
    }
    delayMs = Math.min(2 * delayMs, MAX_DELAY_MS);
    patienceNanos *= 2; // a server that is slow is found too
  }
}
