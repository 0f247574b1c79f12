package io.maskd.client;

import io.grpc.Status;
import io.maskd.v1.Step.Builder;
import io.maskd.v1.Tokenizer;
import io.maskd.v1.Welcome;
import java.time.Duration;
import java.util.List;

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
 * <p>Several servers are asked at once, so those that are silent cost a quarter of a second each. One that refuses for
 * load is asked again when it said, not before. The caller's time bounds the search; the next begins anew.
 *
 * <p>A step under which two servers ended is not sent to a third: its rows have failed (INTERNAL, reason
 * SERVERS_ENDED) and are closed; other rows and steps go on. For one thread at a time.
 */
public final class FailoverStream implements AutoCloseable {
  /** How long an old server may take to be told goodbye. */
  private static final Duration GOODBYE = Duration.ofMillis(50);

  /** How long a server that has fewer streams may take to open the rows. */
  private static final long SHORTEST_MOVE_MS = 40;

  private static final long LONGEST_MOVE_MS = 500;

  /** How often it is looked at the servers once more at the start. */
  private static final int MOST_SETTLES = 3;

  /** No deadline: as far away as the clock can tell. */
  private static final long FOREVER = Long.MAX_VALUE / 2;

  private final FailoverOptions options;
  private ServerList servers;
  private final RowLedger ledger = new RowLedger();
  private final UnansweredSteps unanswered = new UnansweredSteps();
  private Spreader spreader; // where the stream spreads, once it is open; else null
  private MaskStream stream;
  private Welcome welcome;
  private Tokenizer vocabulary; // of the first welcome
  private long nextStep = 2; // a replay takes the number before the oldest step it leads to
  private int moves;

  private FailoverStream(FailoverOptions options) {
    this.options = options;
    servers = new ServerList(options.addresses, System::nanoTime);
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
      opened.findServer(System.nanoTime() + FOREVER);
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
      servers = new ServerList(asker.ask(all, null).leastFirst(all), System::nanoTime);
      findServer(System.nanoTime() + FOREVER);
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
    servers.shuffle();
    moves = 0;
    spreader = new Spreader(options);
    spreader.come(address(), welcome);
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
    servers.use(offer.address());
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
    servers.replace(spreader.servers());
    if (goTo(offer)) {
      spreader.come(offer.address(), welcome);
    } else {
      spreader.leaveAlone(offer.address());
    }
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
    return servers.address();
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

  /** Looks for a server, until the caller's deadline, and brings the rows and the unanswered steps there. */
  private void findServer(long deadline) {
    StreamOptions from = options.stream.from(nextStep - unanswered.live().size() - 1, options.stepTimeout);
    ServerSearch.Guest guest =
        new ServerSearch.Guest() {
          @Override
          public MaskStream begin(String address, Runnable heard) {
            return MaskStream.begin(address, options.connect, from, heard);
          }

          @Override
          public void settle(MaskStream opened, String address) {
            long most = options.compileTimeout.plus(options.stepTimeout).toNanos();
            FailoverStream.this.settle(opened, address, Duration.ofNanos(left(most, deadline)));
            stream = opened;
            welcome = opened.welcome();
            if (spreader != null) {
              spreader.come(address, welcome);
            }
          }
        };
    new ServerSearch(servers, guest, deadline).find(options.giveUpAfter, from.openTimeout);
  }

  /** What is left until a deadline, {@code most} at most. */
  private static long left(long most, long deadline) {
    return Math.max(0, Math.min(most, deadline - System.nanoTime()));
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
    unanswered.live().stream().skip(1).forEach(sent -> opened.send(sent.step));
  }

  /**
   * Opens the rows and sends the oldest unanswered step, if there is one. The replay's reply is dropped: what it says
   * has been said of each row. A row that cannot go on here speaks against this server.
   */
  private void replay(MaskStream opened, Duration timeout) {
    List<UnansweredSteps.Sent> live = unanswered.live();
    for (UnansweredSteps.Sent sent : live) {
      Builder step = sent.step.toBuilder();
      ledger.writeTexts(step);
      ledger.dropCloses(step);
      sent.step = step.build();
    }
    // A copy, as another server may have to open other rows in it.
    Builder oldest = live.isEmpty() ? io.maskd.v1.Step.newBuilder() : live.get(0).step.toBuilder();
    Builder replay =
        io.maskd.v1.Step.newBuilder().setWaitForCompileMs((int) options.compileTimeout.toMillis());
    ledger.writeOpens(replay, oldest);
    opened.send(replay.build());
    ledger.applyReplay(opened.collect(timeout).rows());
    if (!live.isEmpty()) {
      opened.send(oldest.build());
    }
  }

  /** Leaves the server in use, which has failed with an error, for another one. */
  private void move(MaskdException error, long deadline) {
    leave();
    servers.note(address(), error);
    servers.replace(spreader == null ? List.of() : spreader.servers());
    servers.goOn();
    ++moves;
    findServer(deadline);
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
    unanswered.noteEnd(address(), ledger);
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
    MaskdException failure = null;
    try {
      if (stream == null) {
        MaskStream.request(welcome, next, nextStep);
      } else {
        stream.send(next);
        wasSent = true;
      }
    } catch (MaskdException error) {
      if (error.code() == Status.Code.RESOURCE_EXHAUSTED || !ServerSearch.mayMove(error)) {
        throw error;
      }
      noteEnd(error);
      failure = error;
    }
    unanswered.add(next);
    ++nextStep;
    if (!wasSent) {
      try {
        move(failure, System.nanoTime() + FOREVER);
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
   * Waits for the reply to the oldest step, as {@link MaskStream#collect}; it may move, for which the time holds too.
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
    while (!unanswered.isGivenUp()) {
      MaskdException error;
      try {
        return collectHere(deadline);
      } catch (MaskdException failure) {
        error = failure;
      }
      if (unanswered.isGivenUp()) {
        break;
      }
      boolean isCallers = System.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted();
      boolean mayMove = ServerSearch.mayMove(error) || error.code() == Status.Code.FAILED_PRECONDITION;
      if (isCallers || !mayMove) {
        throw error;
      }
      move(error, deadline);
    }
    leave(); // the next step finds another server
    return unanswered.answerGivenUp();
  }

  /** Waits for the server in use, and books what it says. */
  private StepResult collectHere(long deadline) {
    if (stream == null) {
      throw new MaskdException(Status.Code.UNAVAILABLE, "no server is in use");
    }
    io.maskd.v1.Step oldest = unanswered.oldest();
    long patience =
        options.stepTimeout.plusMillis(Integer.toUnsignedLong(oldest.getWaitForCompileMs())).toNanos();
    StepResult result;
    try {
      result = stream.collect(Duration.ofNanos(left(patience, deadline)));
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
