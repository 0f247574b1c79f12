package io.maskd.client;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * Streams that are opened on several servers at once, so that those that are silent are not waited for in turn: the next
 * attempt begins {@link #ATTEMPT_DELAY} after the one before, or as soon as one has failed ("Happy Eyeballs", RFC 8305).
 * For one thread at a time; it starts none.
 */
final class Race implements AutoCloseable {
  /** How long an attempt is alone before the next begins: RFC 8305, section 5, "Connection Attempt Delay". */
  static final Duration ATTEMPT_DELAY = Duration.ofMillis(250);

  /** Begins to open a stream, and has `heard` run when the server has said something or has gone. */
  interface Begin {
    MaskStream begin(String address, Runnable heard);
  }

  /** What has come of opening a stream: the stream, or the error. */
  record Attempt(String address, MaskStream stream, MaskdException error) {}

  private record Running(String address, MaskStream stream, long until) {}

  private final Deque<String> left;
  private final Begin begin;
  private final long patienceNanos;
  private final List<Running> running = new ArrayList<>();
  private final LinkedBlockingQueue<String> heard = new LinkedBlockingQueue<>();
  private long due = System.nanoTime(); // when the next begins

  /** Each attempt may take {@code patience}. */
  Race(List<String> addresses, Duration patience, Begin begin) {
    left = new ArrayDeque<>(addresses);
    this.begin = begin;
    patienceNanos = patience.toNanos();
  }

  /** Whether all attempts have ended. */
  boolean isOver() {
    return left.isEmpty() && running.isEmpty();
  }

  /**
   * Waits for the next attempt that ends.
   *
   * @param deadline of the caller, in nanoseconds of the clock
   * @return null: all have, or the caller's time has
   */
  Attempt next(long deadline) throws InterruptedException {
    while (!left.isEmpty() || !running.isEmpty()) {
      long now = System.nanoTime();
      if (!left.isEmpty() && now - due >= 0) {
        Attempt failed = begin(left.remove(), now);
        if (failed != null) {
          return failed;
        }
        continue;
      }
      Running late = find(each -> now - each.until >= 0);
      if (late != null) {
        late.stream.cancel();
        return failed(late.address, MaskStream.noAnswer(Duration.ofNanos(patienceNanos)).at(late.address));
      }
      if (now - deadline >= 0) {
        return null;
      }
      String address = heard.poll(waitNanos(now, deadline), TimeUnit.NANOSECONDS);
      Running said = address == null ? null : find(each -> each.address.equals(address));
      if (said != null) {
        return end(said);
      }
    }
    return null;
  }

  private Attempt begin(String address, long now) {
    due = now + ATTEMPT_DELAY.toNanos();
    try {
      MaskStream stream = begin.begin(address, () -> heard.add(address));
      running.add(new Running(address, stream, now + patienceNanos));
      return null;
    } catch (MaskdException error) {
      return failed(address, error);
    }
  }

  private Attempt end(Running said) {
    try {
      said.stream.begun();
      return new Attempt(said.address, said.stream, null);
    } catch (MaskdException error) {
      said.stream.cancel();
      return failed(said.address, error.at(said.address));
    }
  }

  private Attempt failed(String address, MaskdException error) {
    due = System.nanoTime();
    return new Attempt(address, null, error);
  }

  private Running find(Predicate<Running> isIt) {
    for (Iterator<Running> each = running.iterator(); each.hasNext(); ) {
      Running found = each.next();
      if (isIt.test(found)) {
        each.remove();
        return found;
      }
    }
    return null;
  }

  private long waitNanos(long now, long deadline) {
    long wait = deadline - now;
    if (!left.isEmpty()) {
      wait = Math.min(wait, due - now);
    }
    for (Running each : running) {
      wait = Math.min(wait, each.until - now);
    }
    return wait;
  }

  /** Ends the attempts that run. */
  @Override
  public void close() {
    running.forEach(each -> each.stream.cancel());
    running.clear();
  }
}
