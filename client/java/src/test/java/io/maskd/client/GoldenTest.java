package io.maskd.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.Status;
import io.maskd.v1.DecodeRequest;
import io.maskd.v1.DecodeResponse;
import io.maskd.v1.IdList;
import io.maskd.v1.LogitBias;
import io.maskd.v1.MaskDelta;
import io.maskd.v1.OpenRow;
import io.maskd.v1.Position;
import io.maskd.v1.Tokenizer;
import io.maskd.v1.Welcome;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Says each session's steps by the verbs, which must be the golden requests, and reads the golden replies, which must be
 * the golden masks. No server is needed.
 */
class GoldenTest {
  private static byte[] bytes(String text) {
    return Base64.getDecoder().decode(text);
  }

  @TestFactory
  Stream<DynamicTest> sessions() {
    return Cases.load().stream()
        .filter(each -> each.kind.equals("session"))
        .map(each -> dynamicTest(each.name, () -> run(each)));
  }

  private static void run(Cases.Case each) throws InvalidProtocolBufferException {
    Cases.Golden golden = Cases.golden(each.name);
    DecodeRequest hello = DecodeRequest.newBuilder().setHello(each.options().hello()).build();
    assertEquals(DecodeRequest.parseFrom(bytes(golden.hello)), hello);
    Welcome welcome = DecodeResponse.parseFrom(bytes(golden.welcome)).getWelcome();
    StreamOptions.checkWelcome(hello.getHello(), welcome);
    MaskReader masks = new MaskReader(welcome);
    Map<Long, OpenRow> snapshots = new HashMap<>();
    Step step = new Step();
    for (int i = 0; i < each.steps.size(); ++i) {
      Cases.GoldenStep want = golden.steps.get(i);
      Cases.sayAll(step, each.steps.get(i), snapshots);
      DecodeRequest request = MaskStream.request(welcome, step.takeMessage(), i + 1);
      assertEquals(DecodeRequest.parseFrom(bytes(want.request)), request);
      StepResult result = StepResult.read(DecodeResponse.parseFrom(bytes(want.reply)).getStep(), masks);
      result.snapshots().forEach(snapshot -> snapshots.put(snapshot.getRow(), snapshot));
      Cases.expect(golden.masks, want, result);
    }
  }

  private static MaskReader reader(int vocabSize) {
    int words = (vocabSize + 31) / 32;
    MaskReader masks =
        new MaskReader(
            Welcome.newBuilder()
                .setTokenizer(Tokenizer.newBuilder().setVocabSize(vocabSize))
                .setMaskWords(words)
                .setDictionarySize(2)
                .build());
    masks.read(dense(4 * words).setDictionarySlot(0).build());
    return masks;
  }

  private static Position.Builder dense(int size) {
    byte[] ones = new byte[size];
    java.util.Arrays.fill(ones, (byte) 1);
    return Position.newBuilder().setDense(ByteString.copyFrom(ones));
  }

  private static Position.Builder allowed(Integer... ids) {
    return Position.newBuilder().setAllowedIds(IdList.newBuilder().addAllIds(List.of(ids)));
  }

  private static Position.Builder delta(int base, List<Integer> indices, List<Integer> words) {
    MaskDelta.Builder delta = MaskDelta.newBuilder().setBase(base).addAllWordIndices(indices).addAllWords(words);
    return Position.newBuilder().setDelta(delta);
  }

  private static Position.Builder biased(float bias, int... ids) {
    Position.Builder position = allowed(1);
    for (int id : ids) {
      position.addBiases(LogitBias.newBuilder().setId(id).setBias(bias));
    }
    return position;
  }

  @TestFactory
  Stream<DynamicTest> brokenPositionsAreInternal() {
    Map<String, Position.Builder> broken = new HashMap<>();
    broken.put("no form", Position.newBuilder());
    broken.put("too short", dense(4));
    broken.put("too long", dense(9));
    broken.put("id past the vocabulary", allowed(40));
    broken.put("negative id", allowed(-1));
    broken.put("ids that do not ascend", allowed(3, 3));
    broken.put("empty slot", Position.newBuilder().setSameAs(1));
    broken.put("slot past the end", Position.newBuilder().setSameAs(-1));
    broken.put("put past the end", dense(8).setDictionarySlot(2));
    broken.put("put what is no mask", Position.newBuilder().setFull(true).setDictionarySlot(1));
    broken.put("delta of an empty slot", delta(1, List.of(), List.of()));
    broken.put("delta past the end", delta(0, List.of(2), List.of(1)));
    broken.put("delta far past the end", delta(0, List.of(-1), List.of(1)));
    broken.put("uneven delta", delta(0, List.of(0, 1), List.of(1)));
    broken.put("temperature", allowed(1).setTemperature(Float.NaN));
    broken.put("bias past the vocabulary", biased(1, 40));
    broken.put("bias not finite", biased(Float.POSITIVE_INFINITY, 1));
    broken.put("biases that do not ascend", biased(1, 1, 1));
    return broken.entrySet().stream()
        .map(
            each ->
                dynamicTest(
                    each.getKey(),
                    () -> {
                      Position position = each.getValue().build();
                      MaskdException error =
                          assertThrows(MaskdException.class, () -> reader(40).read(position));
                      assertEquals(Status.Code.INTERNAL, error.code());
                    }));
  }

  @Test
  void aMaskThatIsKeptStaysAsItIs() {
    MaskReader masks = reader(40);
    Mask kept = masks.read(Position.newBuilder().setSameAs(0).build());
    Mask changed = masks.read(delta(0, List.of(1), List.of(0x80)).build());
    masks.read(allowed(2).setDictionarySlot(0).build());
    kept.words()[0] = 5; // a copy
    assertArrayEquals(new int[] {0x01010101, 0x01010101}, kept.words());
    assertArrayEquals(new int[] {0x01010101, 0x80}, changed.words());
  }

  @Test
  void token90Of128IsWord2() {
    assertArrayEquals(new int[] {0, 0, 67_108_864, 0}, reader(128).read(allowed(90).build()).words());
  }

  @Test
  void logitsThatAreTooFewAreLeftAlone() {
    Mask mask = reader(40).read(allowed(1).build());
    float[] logits = new float[39];
    MaskdException error = assertThrows(MaskdException.class, () -> mask.apply(logits));
    assertEquals(Status.Code.INVALID_ARGUMENT, error.code());
    assertArrayEquals(new float[39], logits);
    assertThrows(MaskdException.class, () -> mask.copyTo(new int[1], 0, 1));
    assertThrows(MaskdException.class, () -> mask.copyTo(new int[2], 1, 2));
  }
}
