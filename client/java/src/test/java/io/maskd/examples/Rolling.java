package io.maskd.examples;

import io.maskd.client.FailoverOptions;
import io.maskd.client.FailoverStream;
import io.maskd.client.Row;
import io.maskd.client.Step;
import io.maskd.client.StepResult;
import io.maskd.client.StreamOptions;
import io.maskd.client.Target;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * An engine of tests/interop/rolling_restart.py, as tests/interop/README.md ("Rolling restart") says it. Arguments:
 * ADDRESSES LOGITS_WIDTH SEED PAUSE_MS KIND SOURCE [KIND SOURCE]...
 */
public final class Rolling {
  private static final int ROWS = 4;
  private static final int LONGEST = 48;
  private static final int REPORT_EVERY = 20;
  private static final int END = 256;
  private static final Duration TIMEOUT = Duration.ofMinutes(1);

  private final Step step = new Step();
  private final List<Target> grammars = new ArrayList<>();
  private final long[] order = {0, 1, 2, 3};
  private final int[] lengths = new int[ROWS];
  private final int width;
  private final int words;
  private long digest;

  private Rolling(String[] arguments) {
    width = Integer.parseInt(arguments[1]);
    words = (width + 31) / 32;
    digest = Long.parseLong(arguments[2]);
    for (int i = 4; i + 1 < arguments.length; i += 2) {
      grammars.add(Target.text(arguments[i], arguments[i + 1]));
    }
  }

  public static void main(String[] arguments) throws InterruptedException {
    new Rolling(arguments).run(List.of(arguments[0].split(",")), Long.parseLong(arguments[3]));
  }

  private void run(List<String> addresses, long pauseMs) throws InterruptedException {
    int[] bitmask = new int[ROWS * words];
    try (var stream =
        FailoverStream.open(
            FailoverOptions.builder(addresses, StreamOptions.builder(width).build()).build())) {
      for (long row : order) {
        open(row);
      }
      for (int steps = 1; !System.out.checkError(); ++steps) {
        answer(stream).copyMasks(order, bitmask, words);
        for (int i = 0; i < ROWS; ++i) {
          move(i, bitmask);
        }
        if (steps % REPORT_EVERY == 0) {
          System.out.printf("%d %d %016x%n", steps, stream.moves(), digest);
        }
        Thread.sleep(pauseMs);
      }
    }
  }

  private void open(long row) {
    step.open(row, grammars.get((int) (row % grammars.size()))).waitForCompile(TIMEOUT.dividedBy(2));
  }

  /** The answer to the step, which went well. */
  private StepResult answer(FailoverStream stream) {
    stream.submit(step);
    StepResult result = stream.collect(TIMEOUT);
    for (Row row : result.rows()) {
      if (row.error() != null) {
        throw new IllegalStateException("step " + result.step() + ": " + row);
      }
    }
    return result;
  }

  /** Gives a row the token that its mask and all masks before it lead to. */
  private void move(int i, int[] bitmask) {
    for (int word = i * words; word < (i + 1) * words; ++word) {
      digest = (digest ^ Integer.toUnsignedLong(bitmask[word])) * 1099511628211L;
    }
    int token = (int) ((digest >>> 33) % width);
    while ((bitmask[i * words + token / 32] >>> (token % 32) & 1) == 0) {
      token = (token + 1) % width;
    }
    if (token != END && ++lengths[i] < LONGEST) {
      step.take(order[i], token);
      return;
    }
    step.close(order[i]);
    order[i] += ROWS + 1;
    lengths[i] = 0;
    open(order[i]);
  }
}
