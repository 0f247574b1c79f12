package io.maskd.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.maskd.v1.OpenRow;
import io.maskd.v1.RowState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class RowLedgerTest {
  private static Row answer(long id, RowState state, int tokens, String grammarId, MaskdException error) {
    List<Mask> masks =
        state == RowState.ROW_STATE_ACTIVE ? List.of(Mask.without(Mask.Form.FULL, 0, 0)) : List.of();
    return new Row(
        id, state, masks, error, null, tokens, false, grammarId, null, ByteString.EMPTY, List.of(), List.of(), null);
  }

  private static Row answer(int tokens) {
    return answer(1, RowState.ROW_STATE_ACTIVE, tokens, "", null);
  }

  private static final Row COMPILING = answer(2, RowState.ROW_STATE_COMPILING, 0, "", null);

  /** Row 1 stands at tokens 10 and 11 of its grammar g1. */
  private static RowLedger opened() {
    RowLedger ledger = new RowLedger();
    Step step = new Step().open(1, Target.regex("a*")).take(1, 10, 11);
    ledger.apply(step.takeMessage(), List.of(answer(1, RowState.ROW_STATE_ACTIVE, 2, "g1", null)));
    return ledger;
  }

  private static io.maskd.v1.Step taking(int... tokens) {
    return new Step().take(1, tokens).takeMessage();
  }

  private static void expectTokens(RowLedger ledger, long row, int... tokens) {
    assertArrayEquals(tokens, ledger.rows.get(row).tokens());
  }

  private static void expectCode(Status.Code code, org.junit.jupiter.api.function.Executable run) {
    assertEquals(code, assertThrows(MaskdException.class, run).code());
  }

  @Test
  void booksWhatRepliesSay() {
    RowLedger ledger = opened();
    ledger.apply(new Step().rollback(1, 1).take(1, 12, 13).takeMessage(), List.of(answer(3)));
    expectTokens(ledger, 1, 10, 12, 13);
  }

  @Test
  void keepsWhatARefusedTokenLeaves() {
    RowLedger ledger = opened();
    MaskdException error =
        new MaskdException(Status.Code.INVALID_ARGUMENT, "", "TOKEN_REFUSED", "tokens[1]", null, null);
    ledger.apply(taking(12, 13), List.of(answer(1, RowState.ROW_STATE_ACTIVE, 3, "", error)));
    expectTokens(ledger, 1, 10, 11, 12);
  }

  @Test
  void booksNoLie() {
    for (List<Row> lie : List.of(List.of(answer(4)), List.of(answer(2)), List.of(answer(3), answer(3)))) {
      RowLedger ledger = opened();
      List<Row> replies = new ArrayList<>(lie);
      replies.add(COMPILING);
      Step step = new Step().take(1, 12).open(2, Target.regex("b"));
      expectCode(Status.Code.INTERNAL, () -> ledger.apply(step.takeMessage(), replies));
      assertEquals(1, ledger.rows.size());
      expectTokens(ledger, 1, 10, 11);
    }
  }

  @Test
  void pinsTheGrammar() {
    RowLedger ledger = opened();
    List<Row> other = List.of(answer(1, RowState.ROW_STATE_ACTIVE, 2, "g2", null));
    expectCode(Status.Code.FAILED_PRECONDITION, () -> ledger.applyReplay(other));
    ledger.format = "another";
    ledger.applyReplay(other);
  }

  @Test
  void forksAreIndependent() {
    RowLedger ledger = opened();
    ledger.apply(new Step().fork(1, 2).takeMessage(), List.of());
    ledger.apply(taking(12), List.of(answer(3)));
    expectTokens(ledger, 1, 10, 11, 12);
    expectTokens(ledger, 2, 10, 11);
  }

  @Test
  void opensLateWhatNobodyHasAnswered() {
    RowLedger ledger = opened();
    ledger.apply(new Step().open(2, Target.regex("b")).takeMessage(), List.of(COMPILING));
    var replay = io.maskd.v1.Step.newBuilder();
    var next = taking(12).toBuilder();
    ledger.writeOpens(replay, next);
    assertEquals(List.of(1L), replay.getOpenList().stream().map(OpenRow::getRow).toList());
    assertEquals(List.of(2L), next.getOpenList().stream().map(OpenRow::getRow).toList());
  }

  @Test
  void countsWhatIsLeft() {
    RowLedger ledger = opened();
    ledger.apply(new Step().setRemaining(1, 9).take(1, 12).takeMessage(), List.of(answer(3)));
    ledger.apply(taking(13, 14), List.of(answer(5)));
    var replay = io.maskd.v1.Step.newBuilder();
    ledger.writeOpens(replay, io.maskd.v1.Step.newBuilder());
    assertEquals(7, replay.getOpen(0).getRemainingTokens());
  }

  @Test
  void givesUpTheStepsRows() {
    RowLedger ledger = opened();
    assertEquals(List.of(3L, 1L), ledger.giveUp(new Step().take(1, 5).open(3, Target.regex("c")).takeMessage()));
    assertTrue(ledger.rows.isEmpty());
    var closing = new Step().close(1).close(4).takeMessage().toBuilder();
    ledger.dropCloses(closing);
    assertEquals(List.of(4L), closing.getCloseList());
  }

  /** A refusal for load speaks against the server, not against the row, and keeps its time. */
  @Test
  void keepsWhenAServerThatHasNoRoomMayBeAskedAgain() {
    Duration after = Duration.ofMillis(200);
    var full = new MaskdException(Status.Code.RESOURCE_EXHAUSTED, "full", "COMPILE_QUEUE_FULL", "", after, null);
    List<Row> refused = List.of(answer(1, RowState.ROW_STATE_FAILED, 0, "", full));
    RowLedger late = compiling();
    late.writeOpens(io.maskd.v1.Step.newBuilder(), io.maskd.v1.Step.newBuilder());
    List<Executable> bookings =
        List.of(
            () -> opened().applyReplay(refused),
            () -> compiling().applyReplay(refused),
            () -> late.apply(io.maskd.v1.Step.getDefaultInstance(), refused));
    for (Executable book : bookings) {
      MaskdException error = assertThrows(MaskdException.class, book);
      assertEquals(Status.Code.UNAVAILABLE, error.code());
      assertEquals("COMPILE_QUEUE_FULL", error.reason());
      assertEquals(after, error.retryAfter());
    }
  }

  private static RowLedger compiling() {
    RowLedger ledger = new RowLedger();
    Step step = new Step().open(1, Target.regex("a*"));
    ledger.apply(step.takeMessage(), List.of(answer(1, RowState.ROW_STATE_COMPILING, 0, "", null)));
    return ledger;
  }
}
