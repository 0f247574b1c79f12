package io.maskd.client;

import com.google.protobuf.ByteString;
import io.maskd.v1.AnswerDelta;
import io.maskd.v1.RefusedToken;
import io.maskd.v1.RowReply;
import io.maskd.v1.RowState;
import java.util.List;

/**
 * The answer for one row.
 *
 * @param id names the row
 * @param state what it is doing
 * @param masks by position: 0 after the tokens taken, i + 1 after draft i. Empty when compiling, failed or refused,
 *     and when they would not have fitted into the reply: the error is RESOURCE_EXHAUSTED at "positions" then, and
 *     the next step may ask for them
 * @param error what went wrong; null: nothing. With the state free, active or finished the row goes on from
 *     tokenCount
 * @param refusedToken the token that was refused; null: none was
 * @param tokenCount how many tokens the row has taken, those after its end included
 * @param mayEnd whether the text may end here
 * @param grammarId set in the reply that first has a position; else empty
 * @param acceptedDrafts drafts that have a mask, of a chain its first ones; null: no drafts were sent
 * @param forcedBytes what must come next, where it was asked for
 * @param forcedTokens tokens that may be appended without asking the model
 * @param forcedDraft all of forcedBytes in tokens, to be sent as drafts
 * @param answer what its answer has more or less than before, where it is wanted; null: nothing new
 */
public record Row(
    long id,
    RowState state,
    List<Mask> masks,
    MaskdException error,
    RefusedToken refusedToken,
    int tokenCount,
    boolean mayEnd,
    String grammarId,
    Integer acceptedDrafts,
    ByteString forcedBytes,
    List<Integer> forcedTokens,
    List<Integer> forcedDraft,
    AnswerDelta answer) {

  static Row read(RowReply reply, MaskReader masks) {
    try {
      return new Row(
          reply.getRow(),
          reply.getState(),
          reply.getPositionsList().stream().map(masks::read).toList(),
          reply.hasError() ? MaskdException.of(reply.getError()) : null,
          reply.getError().hasToken() ? reply.getError().getToken() : null,
          reply.getTokenCount(),
          reply.getMayEnd(),
          reply.getGrammarId(),
          reply.hasAcceptedDrafts() ? reply.getAcceptedDrafts() : null,
          reply.getForcedBytes(),
          reply.getForcedTokensList(),
          reply.getForcedDraftList(),
          reply.hasAnswer() ? reply.getAnswer() : null);
    } catch (MaskdException error) {
      throw error.at("row " + reply.getRow());
    }
  }

  /** A row that no server answers. */
  static Row failed(long id, MaskdException error) {
    return new Row(
        id, RowState.ROW_STATE_FAILED, List.of(), error, null, 0, false, "", null, ByteString.EMPTY, List.of(),
        List.of(), null);
  }

  boolean isRefused() {
    return state == RowState.ROW_STATE_REFUSED;
  }
}
