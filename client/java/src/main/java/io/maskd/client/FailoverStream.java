package io.maskd.client;

import io.grpc.Status;
import io.maskd.v1.Step.Builder;
import io.maskd.v1.Tokenizer;
import io.maskd.v1.Welcome;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A decode stream that outlives its servers: when one breaks, stops answering or says that it will stop, the rows are
 * opened with their tokens on the next address and the masks go on, bit for bit.
 *
 * <p>A step without a reply is sent again to the new server, whose rows stand where the last reply said: no token is
 * taken twice, none is lost. Rows opened by text, or whose text {@link #remember} was told, need nothing of the new
 * server; rows opened by id alone need the grammar to be there.
 *
 * <p>Masks mean what they meant: the first welcome's vocabulary (hash and size) and the grammar of each row's first
 * reply are kept. A server that differs is refused with both values and the next address is tried; FAILED_PRECONDITION
 * where none is left.
 *
 * <p>It goes to a server that has fewer streams between two steps, when none is in flight and no row compiles. One that
 * does not take the rows in half a second is left for the old one, which still has them.
 *
 * <p>A step under which two servers ended is not sent to a third: its rows have failed (INTERNAL, reason
 * SERVERS_ENDED) and are closed; other rows and steps go on. For one thread at a time.
 */
public final class FailoverStream implements AutoCloseable {
  /** How long an old server may take to be told goodbye. */
  private static final Duration GOODBYE = Duration.ofMillis(50);

  /** How many servers may end under a step. */
  private static final int MOST_ENDS = 2;

  /** How long a server that has fewer streams may take to open the rows. */
  private static final long SHORTEST_MOVE_MS = 40;

  private static final long LONGEST_MOVE_MS = 500;

  /** How often it is looked at the servers once more at the start. */
  private static final int MOST_SETTLES = 3;

  private static final long FIRST_DELAY_MS = 20;
  private static final long MAX_DELAY_MS = 1000;

  private static final Set<Status.Code> MAY_MOVE =
      EnumSet.of(
          Status.Code.UNAVAILABLE,
          Status.Code.CANCELLED,
          Status.Code.ABORTED,
          Status.Code.DEADLINE_EXCEEDED,
          Status.Code.RESOURCE_EXHAUSTED,
          Status.Code.INTERNAL,
          Status.Code.UNKNOWN);

  /** A step without a reply. */
  private static final class Sent {
    private io.maskd.v1.Step step;
    private final List<String> ended = new ArrayList<>(); // the servers that ended under it
    private List<Long> failed = List.of(); // its rows, once it is given up

    private Sent(io.maskd.v1.Step step) {
      this.step = step;
    }
  }

  private final FailoverOptions options;
  private List<String> servers;
  private final RowLedger ledger = new RowLedger();
  private final ArrayDeque<Sent> unanswered = new ArrayDeque<>();
  private int at;
  private Spreader spreader; // where the stream spreads, once it is open; else null
  private MaskStream stream;
  private Welcome welcome;
  private Tokenizer vocabulary; // of the first welcome
  private int givenUp; // of the unanswered, the oldest
  private long nextStep = 2; // a replay takes the number before the oldest step it leads to
  private int moves;

  private FailoverStream(FailoverOptions options) {
    this.options = options;
    servers = new ArrayList<>(options.addresses);
  }

  /**
   * Opens on the first address that serves, or where there are the fewest streams.
   *
   * @param options between which servers, and what for
   * @return the stream
   * @throws MaskdException INVALID_ARGUMENT (no address), those of a stream's opening that another server would give
   *     too; else the last server's, where none serves in time
   */
  public static FailoverStream open(FailoverOptions options) {
    if (options.addresses.isEmpty()) {
      throw new MaskdException(Status.Code.INVALID_ARGUMENT, "addresses: is empty");
    }
    FailoverStream opened = new FailoverStream(options);
    boolean isOne = options.addresses.size() == 1 && Names.match(options.addresses.get(0)) == null;
    if (options.inOrder || isOne) {
      opened.findServer();
    } else {
      opened.openSpread();
    }
    return opened;
  }

  /**
   * Opens where there are the fewest streams, and looks once more behind its own opening: of many that open together
   * the last sees all.
   */
  private void openSpread() {
    List<String> all = Names.serversOf(options.addresses, options.resolver);
    try (LoadAsker asker = new LoadAsker(options.connect)) {
      servers = asker.ask(all, null).leastFirst(all);
      findServer();
      int left = MOST_SETTLES;
      while (left > 0 && settleOnce(asker, all)) {
        --left;
      }
    } catch (InterruptedException interrupted) {
      leave();
      Thread.currentThread().interrupt();
      throw new MaskdException(Status.Code.CANCELLED, "the caller has been interrupted");
    }
    // All begin with the server that had least: they must not all go on to the same one.
    String here = address();
    Collections.shuffle(servers);
    setAddress(here);
    moves = 0;
    spreader = new Spreader(options);
    spreader.come(here, welcome);
    spreader.start();
  }

  /** Goes to a server that has fewer streams, if there is one and it lets the stream in. */
  private boolean settleOnce(LoadAsker asker, List<String> all) throws InterruptedException {
    LoadAsker.Own own = LoadAsker.Own.of(address(), welcome);
    String place = own == null ? null : asker.ask(all, own).placeFor(own.address());
    if (place == null) {
      return false;
    }
    try {
      return goTo(new Spreader.Offer(place, MaskStream.open(place, options.connect, options.stream)));
    } catch (MaskdException error) {
      return false;
    }
  }

  private void setAddress(String address) {
    if (!servers.contains(address)) {
      servers.add(address);
    }
    at = servers.indexOf(address);
  }

  /** Brings the rows to a server that has fewer streams; false: they stay. */
  private boolean goTo(Spreader.Offer offer) {
    long half = options.stepTimeout.toMillis() / 2;
    Duration limit = Duration.ofMillis(Math.max(SHORTEST_MOVE_MS, Math.min(half, LONGEST_MOVE_MS)));
    try {
      offer.stream().setNext(nextStep - 1);
      settle(offer.stream(), offer.address(), limit);
    } catch (MaskdException error) {
      offer.stream().cancel();
      ledger.format = welcome.getGrammarFormat();
      return false;
    }
    leave();
    setAddress(offer.address());
    stream = offer.stream();
    welcome = stream.welcome();
    ++moves;
    return true;
  }

  /** Does what the spreader waits for: between two steps, when none is in flight and no row compiles. */
  private void followSpreader() {
    if (spreader == null || stream == null) {
      return;
    }
    boolean isWanted = spreader.touch();
    if (!isWanted || !unanswered.isEmpty() || !ledger.isSettled()) {
      return;
    }
    spreader.give(() -> ledger.compileRequests(options.stream.hello().getTokenizer()));
    Spreader.Offer offer = spreader.take();
    if (offer == null) {
      return;
    }
    takeServers();
    if (goTo(offer)) {
      spreader.come(offer.address(), welcome);
    } else {
      spreader.leaveAlone(offer.address());
    }
  }

  /** Takes the servers that there are now, in the order of before. */
  private void takeServers() {
    List<String> now = spreader == null ? List.of() : spreader.servers();
    if (now.isEmpty()) {
      return;
    }
    String here = address();
    servers.removeIf(server -> !server.equals(here) && !now.contains(server));
    for (String server : now) {
      if (!servers.contains(server)) {
        servers.add(ThreadLocalRandom.current().nextInt(servers.size() + 1), server);
      }
    }
    setAddress(here);
  }

  /**
   * Keeps the text of a grammar: a server that does not have its id is told the text.
   *
   * @param grammarId its id
   * @param text the grammar
   */
  public void remember(String grammarId, Target text) {
    ledger.grammars.put(grammarId, text.grammar());
  }

  /**
   * Gives the terms of the server in use, or of the last one that was.
   *
   * @return tokenizer, words of a mask, limits
   */
  public Welcome welcome() {
    return welcome;
  }

  /**
   * Says which server is in use, or is tried next.
   *
   * @return its address
   */
  public String address() {
    return servers.get(at);
  }

  /**
   * Counts the steps that are submitted and not collected.
   *
   * @return the count
   */
  public int inFlight() {
    return unanswered.size();
  }

  /**
   * Counts how often the rows have moved.
   *
   * @return the count
   */
  public int moves() {
    return moves;
  }

  /** The steps that a server is still to answer. */
  private List<Sent> live() {
    return unanswered.stream().skip(givenUp).toList();
  }

  /** Takes the addresses in turn, from the one in use on. */
  private void findServer() {
    long deadline = System.nanoTime() + options.giveUpAfter.toNanos();
    long delayMs = FIRST_DELAY_MS;
    MaskdException differs = null; // what the last server said that means other masks
    int differing = 0; // such servers in this round
    for (int tries = 1; ; ++tries) {
      MaskdException error;
      try {
        openHere();
        return;
      } catch (MaskdException failure) {
        error = failure;
      }
      boolean isOther = error.code() == Status.Code.FAILED_PRECONDITION;
      if (!isOther && !MAY_MOVE.contains(error.code()) || Thread.currentThread().isInterrupted()) {
        throw error;
      }
      if (isOther) {
        differs = error;
        ++differing;
      }
      at = (at + 1) % servers.size();
      if (tries % servers.size() != 0) {
        continue;
      }
      long waitMs = MaskdClient.jittered(delayMs);
      if (differing == servers.size() || System.nanoTime() + waitMs * 1_000_000 > deadline) {
        throw differs != null ? differs : error;
      }
      differing = 0;
      MaskdClient.sleep(waitMs);
      delayMs = Math.min(2 * delayMs, MAX_DELAY_MS);
    }
  }

  private void checkVocabulary(Welcome said, String address) {
    Tokenizer here = said.getTokenizer();
    if (vocabulary == null) {
      vocabulary = here.getHash().isEmpty() ? null : here;
      return;
    }
    if (here.getHash().equals(vocabulary.getHash()) && here.getVocabSize() == vocabulary.getVocabSize()) {
      return;
    }
    throw new MaskdException(
        Status.Code.FAILED_PRECONDITION,
        address + ": its tokenizer \"" + here.getName() + "\" has " + here.getVocabSize() + " tokens and the hash "
            + here.getHash() + "; the stream's has " + vocabulary.getVocabSize() + " tokens and the hash "
            + vocabulary.getHash());
  }

  /** Opens on the address in use and brings the rows and the unanswered steps there. */
  private void openHere() {
    StreamOptions here = options.stream.from(nextStep - live().size() - 1, options.stepTimeout);
    MaskStream opened = MaskStream.open(address(), options.connect, here);
    try {
      settle(opened, address(), options.compileTimeout.plus(options.stepTimeout));
    } catch (MaskdException error) {
      opened.cancel();
      throw error;
    }
    stream = opened;
    welcome = opened.welcome();
    if (spreader != null) {
      spreader.come(address(), welcome);
    }
  }

  /** Brings the rows and the unanswered steps to a stream that has just been opened. */
  private void settle(MaskStream opened, String address, Duration timeout) {
    checkVocabulary(opened.welcome(), address);
    ledger.format = opened.welcome().getGrammarFormat();
    try {
      replay(opened, timeout);
    } catch (MaskdException error) {
      throw error.at(address);
    }
    live().stream().skip(1).forEach(sent -> opened.send(sent.step));
  }

  /**
   * Opens the rows and sends the oldest unanswered step, if there is one. The replay's reply is dropped: what it says
   * has been said of each row. A row that cannot go on here speaks against this server.
   */
  private void replay(MaskStream opened, Duration timeout) {
    for (Sent sent : live()) {
      Builder step = sent.step.toBuilder();
      ledger.writeTexts(step);
      ledger.dropCloses(step);
      sent.step = step.build();
    }
    boolean isLive = !live().isEmpty();
    // A copy, as another server may have to open other rows in it.
    Builder oldest = isLive ? live().get(0).step.toBuilder() : io.maskd.v1.Step.newBuilder();
    Builder replay =
        io.maskd.v1.Step.newBuilder().setWaitForCompileMs((int) options.compileTimeout.toMillis());
    ledger.writeOpens(replay, oldest);
    opened.send(replay.build());
    ledger.applyReplay(opened.collect(timeout).rows());
    if (isLive) {
      opened.send(oldest.build());
    }
  }

  /** Takes the next address and all of the above. */
  private void move() {
    leave();
    takeServers();
    at = (at + 1) % servers.size();
    ++moves;
    findServer();
  }

  private void leave() {
    if (stream != null) {
      stream.cancel();
      stream = null;
    }
  }

  /**
   * Notes that the server in use ended, if it did, under the steps it was to answer. Those that ended as they had said
   * do not count.
   */
  private void noteEnd(MaskdException error) {
    boolean isEnd = error.code() == Status.Code.UNAVAILABLE || error.code() == Status.Code.UNKNOWN;
    if (stream == null || !isEnd || stream.goAway() != null) {
      return;
    }
    for (Sent sent : live()) {
      sent.ended.add(address());
      if (sent.ended.size() >= MOST_ENDS) {
        sent.failed = ledger.giveUp(sent.step);
        ++givenUp; // an older step saw no fewer ends, so these are the oldest
      }
    }
  }

  /** Answers the oldest step, which is given up. */
  private StepResult answerGivenUp() {
    Sent sent = unanswered.remove();
    --givenUp;
    String message =
        "the servers " + String.join(" and ", sent.ended)
            + " ended under a step of this row: it is not sent to another";
    MaskdException error =
        new MaskdException(Status.Code.INTERNAL, message, "SERVERS_ENDED", "", null, null);
    return new StepResult(
        sent.step.getStep(), sent.failed.stream().map(id -> Row.failed(id, error)).toList(), List.of());
  }

  /**
   * Sends the step and empties it, as {@link MaskStream#submit}; it may move.
   *
   * @param step what to say
   * @return its number
   * @throws MaskdException FAILED_PRECONDITION (too many in flight), RESOURCE_EXHAUSTED (larger than the server takes);
   *     those of {@link #open}, where no server is left
   */
  public long submit(Step step) {
    MaskStream.checkInFlight(unanswered.size());
    followNotice();
    followSpreader();
    io.maskd.v1.Step message = step.takeMessage();
    try {
      return sendOrMove(message.toBuilder());
    } catch (MaskdException error) {
      step.restore(message);
      throw error;
    }
  }

  private long sendOrMove(Builder step) {
    if (moves > 0) {
      ledger.writeTexts(step);
    }
    ledger.dropCloses(step);
    io.maskd.v1.Step next = step.setStep(nextStep).build();
    boolean wasSent = false;
    try {
      if (stream == null) {
        MaskStream.request(welcome, next, nextStep);
      } else {
        stream.send(next);
        wasSent = true;
      }
    } catch (MaskdException error) {
      if (error.code() == Status.Code.RESOURCE_EXHAUSTED || !MAY_MOVE.contains(error.code())) {
        throw error;
      }
      noteEnd(error);
    }
    unanswered.add(new Sent(next));
    ++nextStep;
    if (!wasSent) {
      try {
        move();
      } catch (MaskdException error) {
        unanswered.removeLast();
        --nextStep;
        throw error;
      }
    }
    return nextStep - 1;
  }

  /** Leaves a server that has said that it will stop, as soon as no step is in flight. */
  private void followNotice() {
    if (stream == null || stream.goAway() == null || !unanswered.isEmpty()) {
      return;
    }
    try {
      stream.close(GOODBYE);
    } catch (MaskdException error) {
      // It is left in any case.
    }
    stream = null;
  }

  /**
   * Waits for the reply to the oldest step, as {@link MaskStream#collect}; it may move, for which the time does not
   * hold.
   *
   * @param timeout how long
   * @return the reply
   * @throws MaskdException FAILED_PRECONDITION (no step is in flight), DEADLINE_EXCEEDED and CANCELLED (try again);
   *     those of {@link #open}, where no server is left
   */
  public StepResult collect(Duration timeout) {
    if (unanswered.isEmpty()) {
      throw new MaskdException(Status.Code.FAILED_PRECONDITION, "no step is in flight");
    }
    long deadline = System.nanoTime() + timeout.toNanos();
    while (givenUp == 0) {
      try {
        return collectHere(deadline);
      } catch (MaskdException error) {
        if (givenUp > 0) {
          break;
        }
        boolean isCallers = System.nanoTime() >= deadline || Thread.currentThread().isInterrupted();
        boolean mayMove =
            MAY_MOVE.contains(error.code()) || error.code() == Status.Code.FAILED_PRECONDITION;
        if (isCallers || !mayMove) {
          throw error;
        }
      }
      move();
    }
    leave(); // the next step finds another server
    return answerGivenUp();
  }

  /** Waits for the server in use, and books what it says. */
  private StepResult collectHere(long deadline) {
    if (stream == null) {
      throw new MaskdException(Status.Code.UNAVAILABLE, "no server is in use");
    }
    io.maskd.v1.Step oldest = unanswered.element().step;
    long patience =
        options.stepTimeout.plusMillis(Integer.toUnsignedLong(oldest.getWaitForCompileMs())).toNanos();
    StepResult result;
    try {
      result = stream.collect(Duration.ofNanos(Math.max(0, Math.min(patience, deadline - System.nanoTime()))));
    } catch (MaskdException error) {
      noteEnd(error);
      throw error;
    }
    ledger.apply(oldest, result.rows());
    unanswered.remove();
    return result;
  }

  /**
   * Says goodbye and waits for the stream's end; replies in flight are dropped.
   *
   * @throws MaskdException as {@link MaskStream#close}
   */
  @Override
  public void close() {
    unanswered.clear();
    givenUp = 0;
    endSpreader();
    if (stream != null) {
      MaskStream last = stream;
      stream = null;
      last.close();
    }
  }

  /** Ends the stream at once, without a goodbye. */
  public void cancel() {
    endSpreader();
    leave();
  }

  private void endSpreader() {
    if (spreader != null) {
      spreader.close();
      spreader = null;
    }
  }
}
