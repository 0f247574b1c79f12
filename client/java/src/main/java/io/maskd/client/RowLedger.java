package io.maskd.client;

import io.grpc.Status;
import io.maskd.v1.CompileRequest;
import io.maskd.v1.ForkRow;
import io.maskd.v1.Grammar;
import io.maskd.v1.OpenRow;
import io.maskd.v1.RowState;
import io.maskd.v1.RowUpdate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What a client must know of its rows to open them anew on another server: how each was opened, and the tokens that it
 * has taken since.
 *
 * <p>The replies are the truth: a step counts once its reply is here, and each row has as many tokens as its reply
 * says. A reply that no server gives that keeps to the protocol is booked not at all. A row's grammar is the one that
 * its first reply named: a server whose ids have the same format must name it too; one with another format is told
 * the text and believed. A row's tokens include those after its end.
 */
final class RowLedger {
  /** A row as it is booked. */
  static final class LedgerRow {
    private final OpenRow open; // as it was opened, its tokens left out
    private int[] tokens; // those taken so far, of which `size` are
    private int size;
    private String grammarId = ""; // as its first reply has it, in that server's format; empty: none has
    private String format = "";
    private long tokenLimit = -1; // the token count at which none is left; -1: no bound
    private boolean isUsed; // a reply has said where it stands
    private boolean failed; // its server said that it cannot go on
    private boolean isLate; // the caller's step opens it, not the replay

    private LedgerRow(OpenRow open, int[] tokens, int size) {
      this.open = open;
      this.tokens = tokens;
      this.size = size;
    }

    private static LedgerRow of(OpenRow open) {
      int[] tokens = open.getTokensList().stream().mapToInt(Integer::intValue).toArray();
      LedgerRow row = new LedgerRow(open.toBuilder().clearTokens().build(), tokens, tokens.length);
      if (open.hasRemainingTokens()) {
        row.tokenLimit = tokens.length + Integer.toUnsignedLong(open.getRemainingTokens());
      }
      return row;
    }

    private LedgerRow fork(long child) {
      LedgerRow row = new LedgerRow(open.toBuilder().setRow(child).build(), tokens.clone(), size);
      row.grammarId = grammarId;
      row.format = format;
      row.tokenLimit = tokenLimit;
      row.isUsed = isUsed;
      row.failed = failed;
      row.isLate = isLate;
      return row;
    }

    private void add(int token) {
      if (size == tokens.length) {
        tokens = Arrays.copyOf(tokens, Math.max(16, 2 * size));
      }
      tokens[size++] = token;
    }

    int[] tokens() {
      return Arrays.copyOf(tokens, size);
    }
  }

  /** Where a reply says that a row stands; `update` is booked, or null. */
  private record Place(LedgerRow row, Row reply, int kept, RowUpdate update) {}

  final TreeMap<Long, LedgerRow> rows = new TreeMap<>(); // so that a replay is the same in every run
  final Map<String, Grammar> grammars = new HashMap<>();
  String format = "";
  private final Set<Long> givenUp = new HashSet<>(); // and neither closed nor opened by the caller since

  /** Whether a server has told of each row where it stands, so none compiles. */
  boolean isSettled() {
    return rows.values().stream().allMatch(row -> row.isUsed || row.failed);
  }

  /** The grammars of the rows, each once: by their texts where those are known, else by id. */
  List<CompileRequest> compileRequests(String tokenizer) {
    Set<String> seen = new HashSet<>();
    List<CompileRequest> all = new ArrayList<>();
    for (LedgerRow row : rows.values()) {
      if (row.failed || !row.grammarId.isEmpty() && !seen.add(row.grammarId)) {
        continue;
      }
      OpenRow.Builder open = row.open.toBuilder();
      writeText(open);
      CompileRequest.Builder request = CompileRequest.newBuilder().setTokenizer(tokenizer);
      if (open.hasGrammar()) {
        request.setGrammar(open.getGrammar());
      } else {
        request.setGrammarId(open.getGrammarId());
      }
      all.add(request.build());
    }
    return all;
  }

  /** Makes a step fit for a server that may know nothing: opens by id get the text where it is kept. */
  void writeTexts(io.maskd.v1.Step.Builder step) {
    step.getOpenBuilderList().forEach(this::writeText);
  }

  private void writeText(OpenRow.Builder open) {
    Grammar text = open.hasGrammarId() ? grammars.get(open.getGrammarId()) : null;
    if (text != null) {
      open.setGrammar(text);
    }
  }

  /**
   * Gives up the rows that a step opens, moves, forks into or describes, and those that it was to open for a server
   * before, and says which; of the rest it books the closes.
   */
  List<Long> giveUp(io.maskd.v1.Step step) {
    step.getCloseList().forEach(rows::remove);
    Set<Long> once = new LinkedHashSet<>();
    step.getOpenList().forEach(open -> once.add(open.getRow()));
    step.getRowsList().forEach(update -> once.add(update.getRow()));
    step.getForkList().forEach(fork -> once.add(fork.getChild()));
    once.addAll(step.getSnapshotList());
    rows.forEach(
        (id, row) -> {
          if (row.isLate) {
            once.add(id);
          }
        });
    rows.keySet().removeAll(once);
    givenUp.addAll(once);
    return List.copyOf(once);
  }

  /** Takes out of a step the closes of rows that were given up, of which the servers know nothing. */
  void dropCloses(io.maskd.v1.Step.Builder step) {
    if (givenUp.isEmpty()) {
      return;
    }
    List<Long> kept = step.getCloseList().stream().filter(id -> !givenUp.remove(id)).toList();
    step.clearClose().addAllClose(kept);
    step.getOpenList().forEach(open -> givenUp.remove(open.getRow()));
    step.getForkList().forEach(fork -> givenUp.remove(fork.getChild()));
  }

  /**
   * Books a step and its reply. Throws, nothing being booked: INTERNAL (the reply is not one to this step and these
   * rows), UNAVAILABLE (the server does not open a row that was booked), FAILED_PRECONDITION (a row has another
   * grammar here).
   */
  void apply(io.maskd.v1.Step step, List<Row> replies) {
    Map<Long, LedgerRow> before = new HashMap<>(); // the rows that the step opens or closes, as they were
    step.getCloseList().forEach(id -> put(id, null, before));
    applyForks(step, replies, before);
    applyOpens(step, replies, before);
    try {
      placesOf(step, replies).forEach(this::moveTo);
    } catch (MaskdException error) {
      before.forEach((id, row) -> put(id, row, new HashMap<>()));
      throw error;
    }
  }

  /** Sets a row, or takes it away where it is null, and notes how it was. */
  private void put(long id, LedgerRow row, Map<Long, LedgerRow> before) {
    LedgerRow was = row == null ? rows.remove(id) : rows.put(id, row);
    if (!before.containsKey(id)) {
      before.put(id, was);
    }
  }

  private void applyForks(io.maskd.v1.Step step, List<Row> replies, Map<Long, LedgerRow> before) {
    for (ForkRow fork : step.getForkList()) {
      LedgerRow parent = rows.get(fork.getParent());
      if (parent == null || hasState(replies, fork.getChild(), true)) {
        continue;
      }
      LedgerRow child = parent.fork(fork.getChild());
      for (Row reply : replies) {
        if (reply.id() == fork.getParent() && !parent.isUsed && refusesOpening(reply, child.size)) {
          child.size = reply.tokenCount();
        }
      }
      put(fork.getChild(), child, before);
    }
  }

  private void applyOpens(io.maskd.v1.Step step, List<Row> replies, Map<Long, LedgerRow> before) {
    for (OpenRow open : step.getOpenList()) {
      if (!rows.containsKey(open.getRow()) && hasState(replies, open.getRow(), false)) {
        put(open.getRow(), LedgerRow.of(open), before);
      }
    }
  }

  private List<Place> placesOf(io.maskd.v1.Step step, List<Row> replies) {
    Map<Long, RowUpdate> updates = new HashMap<>();
    step.getRowsList().forEach(update -> updates.putIfAbsent(update.getRow(), update));
    Set<Long> answered = new HashSet<>();
    List<Place> places = new ArrayList<>(replies.size());
    for (Row reply : replies) {
      LedgerRow row = rows.get(reply.id());
      if (row == null) {
        continue;
      }
      if (reply.isRefused()) {
        if (row.isLate) {
          throw cannotGoOn(reply.id(), "is refused", reply.error());
        }
        continue;
      }
      if (row.isLate && isForLoad(reply)) {
        throw cannotGoOn(reply.id(), "is refused", reply.error());
      }
      if (!answered.add(reply.id())) {
        throw MaskdException.internal("the server answers row " + reply.id() + " twice");
      }
      checkGrammar(row, reply);
      places.add(placeOf(updates.get(reply.id()), reply, row));
    }
    return places;
  }

  /** Holds a reply to the row's own grammar. */
  private void checkGrammar(LedgerRow row, Row reply) {
    if (row.grammarId.isEmpty() || reply.grammarId().isEmpty() || !row.format.equals(format)
        || row.grammarId.equals(reply.grammarId())) {
      return;
    }
    throw new MaskdException(
        Status.Code.FAILED_PRECONDITION,
        "row " + reply.id() + " has grammar " + reply.grammarId() + " here, its own is " + row.grammarId);
  }

  /** Reads one answer; without an update for a row that is answered unasked. */
  private static Place placeOf(RowUpdate update, Row reply, LedgerRow row) {
    int before = row.size;
    if (!saysItsPlace(reply)) {
      // Of a row that compiles an update says at most how many tokens are left.
      boolean isBounded = reply.state() == RowState.ROW_STATE_COMPILING && reply.error() == null;
      return new Place(row, reply, before, isBounded ? update : null);
    }
    boolean ofOpening = !row.isUsed && refusesOpening(reply, before);
    RowUpdate moves = ofOpening || refusesAll(reply, before) ? null : update;
    int kept = before;
    int most = before;
    if (moves != null) {
      kept = before - (int) Math.min(before, Integer.toUnsignedLong(moves.getRollback()));
      most = kept + moves.getTokensCount();
    }
    boolean isWhole = reply.error() == null || lacksRoom(reply);
    int least = isWhole ? most : moves != null ? kept : 0;
    if (reply.tokenCount() < least || reply.tokenCount() > most) {
      throw MaskdException.internal(
          "the server says that row " + reply.id() + " has taken " + reply.tokenCount() + " tokens, not " + least
              + " to " + most);
    }
    return new Place(row, reply, kept, moves);
  }

  private void moveTo(Place place) {
    LedgerRow row = place.row;
    Row reply = place.reply;
    if (row.grammarId.isEmpty() && !reply.grammarId().isEmpty()) {
      row.grammarId = reply.grammarId();
      row.format = format;
    }
    row.failed = reply.state() == RowState.ROW_STATE_FAILED;
    row.isLate = false;
    int count = row.size;
    if (saysItsPlace(reply)) {
      count = reply.tokenCount();
      row.isUsed = true;
      row.size = Math.min(row.size, Math.min(count, place.kept));
    }
    if (place.update == null) {
      return;
    }
    for (int i = 0; row.size < count; ++i) {
      row.add(place.update.getTokens(i));
    }
    if (place.update.hasRemainingTokens()) {
      row.tokenLimit = row.size + Integer.toUnsignedLong(place.update.getRemainingTokens());
    }
  }

  /**
   * Books the reply to the opens of a replay. Every row must stand where it is booked, but for two kinds: one whose
   * place no server had told, which may have been opened with what is refused, and one whose server said that it
   * cannot go on, whose id is taken until it is closed. Throws UNAVAILABLE (this server does not go on with a row),
   * FAILED_PRECONDITION (a row has another grammar here; nothing is booked).
   */
  void applyReplay(List<Row> replies) {
    Map<Long, Row> answers = new HashMap<>();
    for (Row reply : replies) {
      answers.putIfAbsent(reply.id(), reply);
      if (rows.containsKey(reply.id())) {
        checkGrammar(rows.get(reply.id()), reply);
      }
    }
    rows.forEach(
        (id, row) -> {
          if (row.isLate) {
            return;
          }
          Row reply = answers.get(id);
          if (reply == null) {
            throw cannotGoOn(id, "is not answered", null);
          }
          if (isForLoad(reply) && !row.failed) {
            throw cannotGoOn(id, "is refused", reply.error());
          }
          if (row.isUsed && !row.failed && reply.state() != RowState.ROW_STATE_COMPILING) {
            standsWhereBooked(row, reply);
          } else if (saysItsPlace(reply)) {
            moveTo(new Place(row, reply, row.size, null));
          }
        });
  }

  private static void standsWhereBooked(LedgerRow row, Row reply) {
    boolean lacksRoom = lacksRoom(reply);
    if (reply.error() != null && !lacksRoom) {
      throw cannotGoOn(reply.id(), "is refused", reply.error());
    }
    if (reply.masks().isEmpty() && !lacksRoom) {
      throw cannotGoOn(reply.id(), "has no mask", null);
    }
    if (reply.tokenCount() != row.size) {
      throw cannotGoOn(reply.id(), "has not taken its tokens", null);
    }
  }

  /**
   * Opens every row as it is booked: in `replay`, whose reply nobody reads but applyReplay(), or, where no server had
   * told its place, in `next`, the caller's step behind it, to whose reply the row's first mask or error then belongs.
   * Rows that `next` moves, forks or takes the ids of are needed before it.
   */
  void writeOpens(io.maskd.v1.Step.Builder replay, io.maskd.v1.Step.Builder next) {
    Set<Long> needed = rowsNeededBy(next);
    rows.forEach(
        (id, row) -> {
          row.isLate = !row.isUsed && !row.failed && !needed.contains(id);
          OpenRow.Builder open = row.open.toBuilder();
          for (int i = 0; i < row.size; ++i) {
            open.addTokens(row.tokens[i]);
          }
          writeText(open);
          if (row.tokenLimit >= 0) {
            open.setRemainingTokens((int) Math.max(0, row.tokenLimit - row.size));
          }
          (row.isLate ? next : replay).addOpen(open);
        });
  }

  /** The rows that must be there before a step: those that it moves, forks or describes, and those whose ids it takes. */
  private static Set<Long> rowsNeededBy(io.maskd.v1.Step.Builder step) {
    Set<Long> needed = new HashSet<>(step.getCloseList());
    needed.addAll(step.getSnapshotList());
    step.getOpenList().forEach(open -> needed.add(open.getRow()));
    for (ForkRow fork : step.getForkList()) {
      needed.add(fork.getParent());
      needed.add(fork.getChild());
    }
    for (RowUpdate update : step.getRowsList()) {
      if (update.getRollback() != 0 || update.getTokensCount() > 0) {
        needed.add(update.getRow());
      }
    }
    return needed;
  }

  /** Whether a row was refused something, or was answered. */
  private static boolean hasState(List<Row> replies, long id, boolean refused) {
    return replies.stream().anyMatch(row -> row.id() == id && row.isRefused() == refused);
  }

  /** A server's fault, with the server's own words and its time to come again where it said them. */
  private static MaskdException cannotGoOn(long id, String why, MaskdException said) {
    String message = "row " + id + " cannot go on here: " + (said == null ? why : said.getMessage());
    return said == null
        ? new MaskdException(Status.Code.UNAVAILABLE, message)
        : new MaskdException(Status.Code.UNAVAILABLE, message, said.reason(), "", said.retryAfter(), said);
  }

  /** Whether a row was refused for load: the server had no room for its grammar, and may later. */
  private static boolean isForLoad(Row reply) {
    boolean isRefused = reply.isRefused() || reply.state() == RowState.ROW_STATE_FAILED;
    return isRefused && reply.error() != null && reply.error().retryAfter() != null;
  }

  /**
   * Whether a row of `before` tokens, which says for the first time where it stands, was opened with one that is
   * refused: it stands before that, and has taken nothing else.
   */
  private static boolean refusesOpening(Row reply, int before) {
    return reply.error() != null && reply.refusedToken() != null
        && reply.refusedToken().getIndex() == reply.tokenCount() && reply.tokenCount() < before;
  }

  /** Whether the row's masks, and nothing else, were refused: they would not have fitted. */
  private static boolean lacksRoom(Row reply) {
    return reply.error() != null && reply.error().code() == Status.Code.RESOURCE_EXHAUSTED
        && reply.error().place().equals("positions");
  }

  /** Whether an update of a row of `before` tokens was refused as a whole, its rollback included. */
  private static boolean refusesAll(Row reply, int before) {
    return reply.error() != null && reply.tokenCount() == before && !lacksRoom(reply)
        && !reply.error().place().startsWith("tokens[");
  }

  /** Whether a row says where it stands: with masks, or with an error in their place. */
  private static boolean saysItsPlace(Row reply) {
    boolean isUsed =
        switch (reply.state()) {
          case ROW_STATE_FREE, ROW_STATE_ACTIVE, ROW_STATE_FINISHED -> true;
          default -> false;
        };
    return !reply.masks().isEmpty() || isUsed && reply.error() != null;
  }
}
