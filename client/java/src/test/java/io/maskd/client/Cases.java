package io.maskd.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.google.gson.FieldNamingPolicy;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import io.maskd.v1.LogitBias;
import io.maskd.v1.OpenRow;
import io.maskd.v1.ReasoningGate;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The interop list of tests/interop, read and said by this client's verbs. */
final class Cases {
  static final Path INTEROP = Path.of("../../tests/interop").toAbsolutePath().normalize();

  private static final Gson GSON =
      new GsonBuilder().setFieldNamingPolicy(FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES).create();

  private Cases() {}

  /** A case of cases.json. */
  static final class Case {
    String name;
    String kind;
    StreamCase stream;
    List<List<Verb>> steps;

    StreamOptions options() {
      StreamOptions.Builder options =
          StreamOptions.builder(stream.logitsWidth)
              .wantTemperature(stream.wantTemperature)
              .wantBias(stream.wantBias);
      if (stream.shortForms != null) {
        options.shortForms(stream.shortForms);
      }
      if (stream.dictionarySize != null) {
        options.dictionarySize(stream.dictionarySize);
      }
      return options.build();
    }
  }

  static final class StreamCase {
    int logitsWidth;
    Boolean shortForms;
    Integer dictionarySize;
    boolean wantTemperature;
    boolean wantBias;
  }

  static final class Bias {
    int id;
    float bias;
  }

  static final class Source {
    String kind;
    String source;
  }

  static final class Reasoning {
    int[] endTokens;
    Integer maxTokens;
  }

  static final class Verb {
    String verb;
    long row;
    long rows = 1;
    long child;
    int[] tokens = {};
    int[] parents = {};
    int count;
    long ms;
    String grammarId;
    Source grammar;
    int[] stopIds = {};
    int minTokens;
    Integer remainingTokens;
    Reasoning reasoning;
    Float temperature;
    List<Bias> biases = List.of();

    private void open(Step step, long id) {
      OpenOptions.Builder options =
          OpenOptions.builder().tokens(tokens).stopIds(stopIds).minTokens(minTokens).biases(byToken(biases));
      if (remainingTokens != null) {
        options.remainingTokens(remainingTokens);
      }
      if (temperature != null) {
        options.temperature(temperature);
      }
      if (reasoning != null) {
        ReasoningGate.Builder gate = ReasoningGate.newBuilder();
        Arrays.stream(reasoning.endTokens).forEach(gate::addEndTokens);
        if (reasoning.maxTokens != null) {
          gate.setMaxTokens(reasoning.maxTokens);
        }
        options.reasoning(gate.build());
      }
      Target target = grammarId != null ? Target.id(grammarId) : Target.text(grammar.kind, grammar.source);
      step.open(id, target, options.build());
    }

    private void say(Step step, long id, Map<Long, OpenRow> snapshots) {
      switch (verb) {
        case "open" -> open(step, id);
        case "open_snapshot" -> step.openSnapshot(snapshots.get(id));
        case "take" -> step.take(id, tokens);
        case "rollback" -> step.rollback(id, count);
        case "remaining" -> step.setRemaining(id, count);
        case "draft" -> step.draftTree(id, tokens, parents);
        case "want_forced" -> step.wantForced(id);
        case "snapshot" -> step.snapshot(id);
        case "fork" -> step.fork(id, child);
        case "close" -> step.close(id);
        case "wait" -> step.waitForCompile(Duration.ofMillis(ms));
        default -> throw new AssertionError("no verb " + verb);
      }
    }
  }

  private static Map<Integer, Float> byToken(List<Bias> biases) {
    Map<Integer, Float> map = new LinkedHashMap<>();
    biases.forEach(each -> map.put(each.id, each.bias));
    return map;
  }

  static Step sayAll(Step step, List<Verb> verbs, Map<Long, OpenRow> snapshots) {
    for (Verb verb : verbs) {
      for (long row = verb.row; row < verb.row + verb.rows; ++row) {
        verb.say(step, row, snapshots);
      }
    }
    return step;
  }

  /** What a server answered to a session: golden/NAME.json. */
  static final class Golden {
    String hello;
    String welcome;
    List<String> masks;
    List<GoldenStep> steps;
  }

  static final class GoldenStep {
    String request;
    String reply;
    List<GoldenRow> rows;
    List<Long> snapshots;
  }

  static final class GoldenRow {
    long row;
    long count;
    String state;
    int tokenCount;
    boolean mayEnd;
    List<GoldenPosition> positions;
    Integer acceptedDrafts;
    GoldenError error;
    List<Integer> forcedTokens = List.of();
    List<Integer> forcedDraft = List.of();
  }

  static final class GoldenError {
    int code;
    String reason;
    String place;
    GoldenToken token;
  }

  static final class GoldenToken {
    int index;
    int id;
  }

  static final class GoldenPosition {
    Integer mask;
    boolean full;
    boolean invalid;
    Float temperature;
    List<Bias> biases = List.of();
  }

  private static final class File {
    List<Case> cases;
  }

  static List<Case> load() {
    return load("cases.json", File.class).cases;
  }

  static Golden golden(String name) {
    return load("golden/" + name + ".json", Golden.class);
  }

  static <T> T load(String name, Class<T> type) {
    try {
      return GSON.fromJson(Files.readString(INTEROP.resolve(name)), type);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  /** Holds a result to what every client must make of the reply. */
  static void expect(List<String> masks, GoldenStep want, StepResult got) {
    assertEquals(want.snapshots, got.snapshots().stream().map(OpenRow::getRow).toList());
    int next = 0;
    for (GoldenRow row : want.rows) {
      for (long i = 0; i < row.count; ++i) {
        expect(masks, row, row.row + i, got.rows().get(next++));
      }
    }
    assertEquals(next, got.rows().size());
  }

  private static void expect(List<String> masks, GoldenRow want, long id, Row got) {
    assertEquals(id, got.id());
    assertEquals("ROW_STATE_" + want.state, got.state().name());
    assertEquals(want.tokenCount, got.tokenCount());
    assertEquals(want.mayEnd, got.mayEnd());
    assertEquals(want.acceptedDrafts, got.acceptedDrafts());
    assertEquals(want.forcedTokens, got.forcedTokens());
    assertEquals(want.forcedDraft, got.forcedDraft());
    assertEquals(want.error == null, got.error() == null);
    if (want.error != null) {
      assertEquals(want.error.code, got.error().code().value());
      assertEquals(want.error.reason, got.error().reason());
      assertEquals(want.error.place, got.error().place());
      if (want.error.token != null) {
        assertEquals(want.error.token.index, got.refusedToken().getIndex());
        assertEquals(want.error.token.id, got.refusedToken().getId());
      }
    }
    assertEquals(want.positions.size(), got.masks().size());
    for (int i = 0; i < want.positions.size(); ++i) {
      expect(masks, want.positions.get(i), got.masks().get(i));
    }
  }

  /** The words of a mask in hexadecimal digits of its bytes. */
  private static int[] wordsOf(String digits) {
    int[] words = new int[digits.length() / 8];
    ByteBuffer.wrap(HexFormat.of().parseHex(digits)).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(words);
    return words;
  }

  private static void expect(List<String> masks, GoldenPosition want, Mask got) {
    assertEquals(want.full, got.isFull());
    assertEquals(want.invalid, got.isInvalid());
    assertEquals(want.temperature, got.temperature());
    Map<Integer, Float> biases = new LinkedHashMap<>();
    for (LogitBias bias : got.biases()) {
      biases.put(bias.getId(), bias.getBias());
    }
    assertEquals(byToken(want.biases), biases);
    if (want.mask == null) {
      assertNull(got.words());
      return;
    }
    int[] words = wordsOf(masks.get(want.mask));
    int[] row = new int[words.length + 4];
    Arrays.fill(row, 7);
    got.copyTo(row, 1, words.length + 2);
    int[] expected = new int[row.length];
    System.arraycopy(words, 0, expected, 1, words.length);
    expected[0] = expected[row.length - 1] = 7;
    assertArrayEquals(expected, row);
    assertArrayEquals(words, got.words());
    expectApplied(words, want, byToken(want.biases), got);
  }

  /** Masks logits wider than the words. */
  private static void expectApplied(int[] words, GoldenPosition want, Map<Integer, Float> biases, Mask mask) {
    float[] logits = new float[32 * words.length + 5];
    for (int i = 0; i < logits.length; ++i) {
      logits[i] = i + 1;
    }
    mask.apply(logits);
    for (int i = 0; i < logits.length; ++i) {
      float expected = Float.NEGATIVE_INFINITY;
      if (i / 32 < words.length && (words[i / 32] >>> (i % 32) & 1) == 1) {
        expected = i + 1 + biases.getOrDefault(i, 0f);
        expected /= want.temperature == null || want.temperature == 0 ? 1 : want.temperature;
      }
      assertEquals(expected, logits[i], "logit " + i);
    }
  }
}
