package io.maskd.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** An engine of the interop list. */
final class EngineSteps {
  private EngineSteps() {}

  /** What an engine says in a step: two rows, one of them forked from the other. */
  static Step engineStep(int number) {
    Step step = new Step();
    int letter = 'a' + number % 26;
    if (number == 0) {
      return step.open(1, Target.regex("([a-z][a-m]?[0-9]?)*")).waitForCompile(Duration.ofSeconds(5));
    }
    if (number == 5) {
      step.fork(1, 2);
    }
    step.take(1, letter);
    if (number > 5) {
      step.take(2, letter, '5');
    }
    if (number % 4 == 3) {
      step.rollback(1, 1);
    }
    return step;
  }

  /** All masks of a reply. */
  static List<String> masksOf(StepResult result) {
    List<String> masks = new ArrayList<>();
    for (Row row : result.rows()) {
      assertNull(row.error());
      assertEquals(1, row.masks().size());
      masks.add(row.id() + " " + row.tokenCount() + " " + Arrays.toString(row.masks().get(0).words()));
    }
    return masks;
  }

  /** A schema that compiles for many seconds: strings whose length is a multiple of each of five numbers. */
  static Target slow(String tag) {
    StringBuilder properties = new StringBuilder();
    for (int i = 0; i < 2000; ++i) {
      String name = tag + i;
      String patterns =
          IntStream.of(3, 5, 7, 11, 13)
              .mapToObj(each -> "{\"pattern\": \"^" + name + "(?:.{" + each + "})*$\"}")
              .collect(Collectors.joining(","));
      properties.append(i == 0 ? "" : ",").append("\"").append(name).append("\": ");
      properties.append("{\"type\": \"string\", \"allOf\": [").append(patterns).append("]}");
    }
    return Target.jsonSchema("{\"properties\": {" + properties + "}}");
  }
}
