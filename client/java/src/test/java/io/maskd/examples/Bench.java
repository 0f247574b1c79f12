package io.maskd.examples;

import io.maskd.client.MaskdClient;
import io.maskd.client.Step;
import io.maskd.client.StreamOptions;
import io.maskd.client.Target;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.LongStream;

/**
 * The loop of bench/client_loop_bench.cc in Java: what a step of the client costs, every mask made dense. Arguments:
 * ADDRESS LOGITS_WIDTH ROWS STEPS. Each row writes [a-z]* with one token a step. Prints the p50 and p99 of the time from
 * where a step's message begins until its masks lie in the engine's bitmask, in microseconds.
 */
public final class Bench {
  private static final int WARM_UP = 50_000; // below that it is the machine's compiler that is measured

  public static void main(String[] arguments) {
    int width = Integer.parseInt(arguments[1]);
    int rows = Integer.parseInt(arguments[2]);
    double[] micros = new double[Integer.parseInt(arguments[3])];
    int words = (width + 31) / 32;
    int[] bitmask = new int[rows * words];
    long[] order = LongStream.range(0, rows).toArray();
    Duration timeout = Duration.ofSeconds(30);
    try (var client = MaskdClient.connect(arguments[0]);
        var stream = client.openStream(StreamOptions.builder(width).build())) {
      Step step = new Step().waitForCompile(Duration.ofSeconds(5));
      for (long row : order) {
        step.open(row, Target.regex("[a-z]*"));
      }
      for (int i = 0; i < WARM_UP + micros.length; ++i) {
        long start = System.nanoTime();
        for (int row = 0; i > 0 && row < rows; ++row) {
          step.take(row, 'a');
        }
        stream.submit(step);
        stream.collect(timeout).copyMasks(order, bitmask, words);
        if (i >= WARM_UP) {
          micros[i - WARM_UP] = (System.nanoTime() - start) / 1000.0;
        }
      }
    }
    Arrays.sort(micros);
    System.out.printf("%.1f %.1f%n", micros[micros.length / 2], micros[micros.length * 99 / 100]);
  }
}
