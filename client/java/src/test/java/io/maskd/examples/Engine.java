package io.maskd.examples;

import io.maskd.client.MaskdClient;
import io.maskd.client.OpenOptions;
import io.maskd.client.Step;
import io.maskd.client.StreamOptions;
import io.maskd.client.Target;
import java.time.Duration;
import java.util.Random;

/**
 * Writes one JSON text with a model that guesses: each step masks random logits and takes the greatest. The server has
 * its embedded vocabulary of single bytes; its address is the argument.
 */
public final class Engine {
  private static final int ROW = 7;
  private static final int WIDTH = 320;
  private static final int END = 256;

  public static void main(String[] arguments) {
    Target schema =
        Target.jsonSchema(
            "{\"type\": \"object\", \"required\": [\"age\"], \"additionalProperties\": false,"
                + " \"properties\": {\"age\": {\"type\": \"integer\"}}}");
    Random random = new Random();
    try (var client = MaskdClient.connect(arguments[0]);
        var stream = client.openStream(StreamOptions.builder(WIDTH).build())) {
      Target grammar = Target.id(client.compile(schema).getGrammarId());
      Step step = new Step().open(ROW, grammar, OpenOptions.builder().remainingTokens(40).build());
      StringBuilder text = new StringBuilder();
      for (int token = 0; token != END; ) {
        stream.submit(step); // returns at once, and empties the step
        float[] logits = new float[WIDTH]; // the forward pass
        for (int i = 0; i < WIDTH; ++i) {
          logits[i] = random.nextFloat();
        }
        stream.collect(Duration.ofSeconds(1)).apply(ROW, logits); // in place
        token = 0;
        for (int i = 1; i < WIDTH; ++i) {
          token = logits[i] > logits[token] ? i : token;
        }
        if (token != END) {
          text.append((char) token);
          step.take(ROW, token);
        }
      }
      System.out.println(text);
    }
  }
}
