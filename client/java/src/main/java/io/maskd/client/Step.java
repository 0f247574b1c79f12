package io.maskd.client;

import io.maskd.v1.Drafts;
import io.maskd.v1.ForkRow;
import io.maskd.v1.OpenRow;
import io.maskd.v1.RowUpdate;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * One decode step as the engine says it: which rows open, what was sampled, which rows close.
 *
 * <p>The server closes, forks, opens and then moves rows, whatever the order of the calls. What a row may not do
 * comes back in its own reply. Submitting a step empties it for its next use. For one thread at a time.
 */
public final class Step {
  private io.maskd.v1.Step.Builder message = io.maskd.v1.Step.newBuilder();
  private final Map<Long, RowUpdate.Builder> updates = new HashMap<>();

  /** Makes an empty step. */
  public Step() {}

  /**
   * Opens a row on a grammar.
   *
   * @param row the caller's choice
   * @param target its grammar
   * @return this
   */
  public Step open(long row, Target target) {
    return open(row, target, OpenOptions.builder().build());
  }

  /**
   * Opens a row on a grammar, with more to say.
   *
   * @param row the caller's choice
   * @param target its grammar
   * @param options beside the grammar
   * @return this
   */
  public Step open(long row, Target target, OpenOptions options) {
    OpenRow.Builder open = options.fields.toBuilder().setRow(row);
    if (target.isId()) {
      open.setGrammarId(target.id());
    } else {
      open.setGrammar(target.grammar());
    }
    message.addOpen(open);
    return this;
  }

  /**
   * Opens a row as a snapshot describes it.
   *
   * @param snapshot of {@link StepResult#snapshots}
   * @return this
   */
  public Step openSnapshot(OpenRow snapshot) {
    message.addOpen(snapshot);
    return this;
  }

  /**
   * Gives a row the tokens sampled since the last step; called again, further ones. Without tokens it asks for the
   * row's mask as it is.
   *
   * @param row an open row
   * @param tokens in order
   * @return this
   */
  public Step take(long row, int... tokens) {
    RowUpdate.Builder update = update(row);
    for (int token : tokens) {
      update.addTokens(token);
    }
    return this;
  }

  /**
   * Takes back a row's last tokens, before those that {@link #take} gives.
   *
   * @param row an open row
   * @param tokenCount how many
   * @return this
   */
  public Step rollback(long row, int tokenCount) {
    update(row).setRollback(tokenCount);
    return this;
  }

  /**
   * Says how many tokens the row may still produce, its end included.
   *
   * @param row an open row
   * @param tokenCount how many
   * @return this
   */
  public Step setRemaining(long row, int tokenCount) {
    update(row).setRemainingTokens(tokenCount);
    return this;
  }

  /**
   * Asks for the masks after draft tokens, which the row does not take: position i + 1 is the mask after the i-th.
   *
   * @param row an open row
   * @param tokens a chain
   * @return this
   */
  public Step draft(long row, int... tokens) {
    return draftTree(row, tokens, new int[0]);
  }

  /**
   * {@link #draft} for a tree.
   *
   * @param row an open row
   * @param tokens its nodes
   * @param parents of each node the index of the one that it comes after, or -1
   * @return this
   */
  public Step draftTree(long row, int[] tokens, int[] parents) {
    Drafts.Builder drafts = Drafts.newBuilder();
    for (int token : tokens) {
      drafts.addTokens(token);
    }
    for (int parent : parents) {
      drafts.addParents(parent);
    }
    update(row).setDrafts(drafts);
    return this;
  }

  /**
   * Asks for what must come next.
   *
   * @param row an open row
   * @return this
   */
  public Step wantForced(long row) {
    update(row).setWantForced(true);
    return this;
  }

  /**
   * Asks for the row's description, by which it can be opened anew.
   *
   * @param row an open row
   * @return this
   */
  public Step snapshot(long row) {
    message.addSnapshot(row);
    return this;
  }

  /**
   * Makes a row an independent copy of another.
   *
   * @param parent an open row
   * @param child the copy's id
   * @return this
   */
  public Step fork(long parent, long child) {
    message.addFork(ForkRow.newBuilder().setParent(parent).setChild(child));
    return this;
  }

  /**
   * Closes a row; its id is free again in the same step.
   *
   * @param row an open row
   * @return this
   */
  public Step close(long row) {
    message.addClose(row);
    return this;
  }

  /**
   * Lets the reply wait for grammars that still compile.
   *
   * @param atMost zero, the default, never waits
   * @return this
   */
  public Step waitForCompile(Duration atMost) {
    message.setWaitForCompileMs((int) Math.min(Math.max(atMost.toMillis(), 0), Integer.MAX_VALUE));
    return this;
  }

  /**
   * Empties the step.
   *
   * @return this
   */
  public Step clear() {
    takeMessage();
    return this;
  }

  private RowUpdate.Builder update(long row) {
    return updates.computeIfAbsent(row, id -> message.addRowsBuilder().setRow(id));
  }

  /** The step's message, which is empty afterwards. */
  io.maskd.v1.Step takeMessage() {
    io.maskd.v1.Step taken = message.build();
    message = io.maskd.v1.Step.newBuilder();
    updates.clear();
    return taken;
  }

  /** Gives back what was taken. */
  void restore(io.maskd.v1.Step taken) {
    message = taken.toBuilder();
    updates.clear();
    message.getRowsBuilderList().forEach(update -> updates.putIfAbsent(update.getRow(), update));
  }
}
