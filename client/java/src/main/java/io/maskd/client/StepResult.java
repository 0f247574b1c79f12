package io.maskd.client;

import io.grpc.Status;
import io.maskd.v1.OpenRow;
import io.maskd.v1.StepReply;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The answer to one step. It stays as it is for as long as it is kept.
 *
 * @param step the step's number
 * @param rows in the server's order: opened rows, named rows, rows that have compiled since
 * @param snapshots descriptions of the rows that {@link Step#snapshot} named
 */
public record StepResult(long step, List<Row> rows, List<OpenRow> snapshots) {

  static StepResult read(StepReply reply, MaskReader masks) {
    List<Row> rows = new ArrayList<>(reply.getRowsCount());
    reply.getRowsList().forEach(row -> rows.add(Row.read(row, masks)));
    return new StepResult(reply.getStep(), rows, reply.getSnapshotsList());
  }

  /**
   * Finds the row's answer that has its state.
   *
   * @param id of the row
   * @return null where it has none
   */
  public Row row(long id) {
    for (Row row : rows) {
      if (row.id() == id && !row.isRefused()) {
        return row;
      }
    }
    return null;
  }

  /**
   * Gives the row's mask at a position.
   *
   * @param id of the row
   * @param position 0, or i + 1 after draft i
   * @return the mask
   * @throws MaskdException NOT_FOUND (the row has no answer), FAILED_PRECONDITION (its answer has no such mask)
   */
  public Mask mask(long id, int position) {
    return maskOf(id, row(id), position);
  }

  /**
   * Masks one row of logits by the row's first mask, in place.
   *
   * @param id of the row
   * @param logits the row of logits
   * @throws MaskdException those of {@link #mask} and of {@link Mask#apply}, nothing being written
   */
  public void apply(long id, float[] logits) {
    mask(id, 0).apply(logits);
  }

  /**
   * Writes the first masks of rows into an engine's own bitmask: row i becomes the mask of order[i], all ones where
   * it is full.
   *
   * @param order the rows
   * @param bitmask the engine's memory
   * @param rowWords words of each of its rows
   * @throws MaskdException INVALID_ARGUMENT (the bitmask is too small), those of {@link #mask}, before anything is
   *     written
   */
  public void copyMasks(long[] order, int[] bitmask, int rowWords) {
    if ((long) order.length * rowWords > bitmask.length) {
      throw new MaskdException(
          Status.Code.INVALID_ARGUMENT,
          order.length + " rows of " + rowWords + " words do not fit into " + bitmask.length + " words");
    }
    Map<Long, Row> byId = new HashMap<>();
    for (Row row : rows) {
      if (!row.isRefused()) {
        byId.putIfAbsent(row.id(), row);
      }
    }
    Mask[] masks = new Mask[order.length];
    for (int i = 0; i < order.length; ++i) {
      masks[i] = maskOf(order[i], byId.get(order[i]), 0);
      masks[i].checkRoom(rowWords);
    }
    for (int i = 0; i < order.length; ++i) {
      masks[i].copyTo(bitmask, i * rowWords, rowWords);
    }
  }

  private static Mask maskOf(long id, Row row, int position) {
    if (row == null) {
      throw new MaskdException(Status.Code.NOT_FOUND, "row " + id + ": has no answer in this reply");
    }
    if (position < 0 || position >= row.masks().size()) {
      throw new MaskdException(
          Status.Code.FAILED_PRECONDITION, "row " + id + ": has no mask at position " + position);
    }
    return row.masks().get(position);
  }
}
