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
 * load is asked again when it said, not before. {@link #submit} looks for no server: a step that it could not send waits
 * for {@link #collect}, whose time bounds what it does of the search. The next one goes on with a search that took
 * longer.
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
  private ServerSearch search; // without a stream alone; else null
  private Opening opening; // of a search, or of a move to a server with fewer streams; else null
  private MaskdException leftFor; // why there is no stream, where a server has said so
  private Welcome welcome;
  private Tokenizer vocabulary; // of the first welcome
  private long nextStep = 2; // a replay takes the number before the oldest step it leads to
  private int moves;

  /** A server that has the rows to be opened, and is still to say that they are. */
  private record Opening(String address, MaskStream stream, io.maskd.v1.Step oldest, long until) {}

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
      leave(null);
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
    MaskStream before = stream;
    boolean went = false;
    try {
      offer.stream().setNext(nextStep - 1);
      sendOpens(offer.stream(), offer.address(), limit);
      went = takeRows(System.nanoTime() + FOREVER);
    } catch (MaskdException error) {
      // It is left alone.
    }
    if (!went) {
      opening = null;
      offer.stream().cancel();
      ledger.format = welcome.getGrammarFormat();
      return false;
    }
    before.cancel();
    servers.use(offer.address());
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
    if (!goTo(offer)) {
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

  /**
   * Looks for a server, until the caller's deadline, and brings the rows and the unanswered steps there; or goes on with
   * that.
   */
  private void findServer(long deadline) {
    if (search == null) {
      StreamOptions from = options.stream.from(1, options.stepTimeout);
      search = new ServerSearch(servers, guest(), options.giveUpAfter, from.openTimeout);
    }
    try {
      search.find(deadline);
    } finally {
      if (search.isOver()) {
        endSearch();
      }
    }
  }

  private void endSearch() {
    if (search != null) {
      search.cancel();
      search = null;
    }
    if (opening != null) {
      opening.stream.cancel();
      opening = null;
    }
  }

  private ServerSearch.Guest guest() {
    return new ServerSearch.Guest() {
      @Override
      public MaskStream begin(String address, Runnable heard) {
        StreamOptions from = options.stream.from(nextStep - unanswered.live().size() - 1, options.stepTimeout);
        return MaskStream.begin(address, options.connect, from, heard);
      }

      @Override
      public void sendOpens(MaskStream opened, String address) {
        FailoverStream.this.sendOpens(opened, address, options.compileTimeout.plus(options.stepTimeout));
      }

      @Override
      public boolean takeRows(long deadline) {
        return FailoverStream.this.takeRows(deadline);
      }
    };
  }

  /** What is left until a deadline, {@code most} at most. */
  private static long left(long most, long deadline) {
    return Math.max(0, Math.min(most, deadline - System.nanoTime()));
  }

  /** Sends what opens the rows to a stream that has just been opened: {@link #opening}. */
  private void sendOpens(MaskStream opened, String address, Duration limit) {
    checkVocabulary(opened.welcome(), address);
    ledger.format = opened.welcome().getGrammarFormat();
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
    try {
      opened.send(replay.build());
    } catch (MaskdException error) {
      throw error.at(address);
    }
    opening = new Opening(address, opened, oldest.build(), System.nanoTime() + limit.toNanos());
  }

  /**
   * Waits for the rows of {@link #opening} and uses that server; false: the caller's deadline has passed, or the thread
   * was interrupted, and it stays.
   */
  private boolean takeRows(long deadline) {
    MaskStream opened = opening.stream;
    try {
      openRows(opened, deadline);
    } catch (MaskdException error) {
      boolean isCallers =
          System.nanoTime() - deadline >= 0 && opening.until - deadline > 0 && error.code() == Status.Code.DEADLINE_EXCEEDED;
      if (isCallers || Thread.currentThread().isInterrupted()) {
        return false;
      }
      String address = opening.address;
      opening = null;
      opened.cancel();
      throw error.at(address);
    }
    stream = opened;
    welcome = opened.welcome();
    if (spreader != null) {
      spreader.come(opening.address, welcome);
    }
    opening = null;
    return true;
  }

  /**
   * The replay's reply is dropped: what it says has been said of each row. A row that cannot go on here speaks against
   * this server.
   */
  private void openRows(MaskStream opened, long deadline) {
    Duration wait = Duration.ofNanos(left(opening.until - System.nanoTime(), deadline));
    ledger.applyReplay(opened.collect(wait).rows());
    List<UnansweredSteps.Sent> live = unanswered.live();
    for (int i = 0; i < live.size(); ++i) {
      opened.send(i == 0 ? opening.oldest : live.get(i).step);
    }
  }

  /** Leaves the server in use, which has failed with an error, for another one, or goes on with that. */
  private void move(MaskdException error, long deadline) {
    if (search == null) {
      leave(null);
      servers.note(address(), error);
      servers.replace(spreader == null ? List.of() : spreader.servers());
      servers.goOn();
      ++moves;
    }
    findServer(deadline);
  }

  private void leave(MaskdException why) {
    leftFor = why;
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
   * Sends the step and empties it, as {@link MaskStream#submit}. It may go to a server that has fewer streams.
   *
   * @param step what to say
   * @return its number
   * @throws MaskdException FAILED_PRECONDITION (too many in flight), RESOURCE_EXHAUSTED (larger than the server takes)
   */
  public long submit(Step step) {
    MaskStream.checkInFlight(unanswered.size());
    followNotice();
    followSpreader();
    io.maskd.v1.Step message = step.takeMessage();
    Builder next = message.toBuilder();
    if (moves > 0) {
      ledger.writeTexts(next);
    }
    ledger.dropCloses(next);
    try {
      send(next.setStep(nextStep).build());
    } catch (MaskdException error) {
      if (error.code() == Status.Code.RESOURCE_EXHAUSTED || !ServerSearch.mayMove(error)) {
        step.restore(message);
        throw error;
      }
      noteEnd(error);
      leave(error);
    }
    unanswered.add(next.build());
    return nextStep++;
  }

  private void send(io.maskd.v1.Step step) {
    if (stream == null) {
      MaskStream.request(welcome, step, nextStep);
    } else {
      stream.send(step);
    }
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
   * Waits for the reply to the oldest step, as {@link MaskStream#collect}; it may move, for which the time holds too. The
   * next call goes on with a move that took longer.
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
    leave(null); // the next step finds another server
    return unanswered.answerGivenUp();
  }

  /** Waits for the server in use, and books what it says. */
  private StepResult collectHere(long deadline) {
    if (stream == null) {
      throw leftFor != null ? leftFor : new MaskdException(Status.Code.UNAVAILABLE, "no server is in use");
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
    endSearches();
    if (stream != null) {
      MaskStream last = stream;
      stream = null;
      last.close();
    }
  }

  /** Ends the stream at once, without a goodbye. */
  public void cancel() {
    endSearches();
    leave(null);
  }

  private void endSearches() {
    endSearch();
    if (spreader != null) {
      spreader.close();
      spreader = null;
    }
  }
}
