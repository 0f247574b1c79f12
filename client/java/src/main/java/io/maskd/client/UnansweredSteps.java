package io.maskd.client;

import io.grpc.Status;
import io.maskd.v1.Step;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** The steps without a reply, the oldest first, and which of them are given up. */
final class UnansweredSteps {
  /** How many servers may end under a step. */
  private static final int MOST_ENDS = 2;

  /** A step without a reply. */
  static final class Sent {
    Step step;
    private final List<String> ended = new ArrayList<>(); // the servers that ended under it
    private List<Long> failed = List.of(); // its rows, once it is given up

    private Sent(Step step) {
      this.step = step;
    }
  }

  private final ArrayDeque<Sent> all = new ArrayDeque<>();
  private int givenUp; // the oldest

  int size() {
    return all.size();
  }

  boolean isEmpty() {
    return all.isEmpty();
  }

  void add(Step step) {
    all.add(new Sent(step));
  }

  /** Takes away the oldest one, whose reply is here. */
  void remove() {
    all.remove();
  }

  void clear() {
    all.clear();
    givenUp = 0;
  }

  Step oldest() {
    return all.element().step;
  }

  /** Those that a server is still to answer. */
  List<Sent> live() {
    return all.stream().skip(givenUp).toList();
  }

  /** Whether the oldest one is given up. */
  boolean isGivenUp() {
    return givenUp > 0;
  }

  /** Notes that a server ended under those that it was to answer. */
  void noteEnd(String address, RowLedger ledger) {
    for (Sent sent : live()) {
      sent.ended.add(address);
      if (sent.ended.size() >= MOST_ENDS) {
        sent.failed = ledger.giveUp(sent.step);
        ++givenUp; // an older step saw no fewer ends, so these are the oldest
      }
    }
  }

  /** Answers the oldest one, which is given up. */
  StepResult answerGivenUp() {
    Sent sent = all.remove();
    --givenUp;
    String message =
        "the servers " + String.join(" and ", sent.ended)
            + " ended under a step of this row: it is not sent to another";
    MaskdException error =
        new MaskdException(Status.Code.INTERNAL, message, "SERVERS_ENDED", "", null, null);
    return new StepResult(
        sent.step.getStep(), sent.failed.stream().map(id -> Row.failed(id, error)).toList(), List.of());
  }
}
