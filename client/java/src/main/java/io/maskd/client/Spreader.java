package io.maskd.client;

import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.maskd.v1.CompileRequest;
import io.maskd.v1.CompileServiceGrpc;
import io.maskd.v1.Welcome;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Looks at the servers of a stream now and then, and prepares its move to another where its own has too many: it asks
 * for the grammars of its rows, has them compiled there, opens a stream there and offers it. So a step of a stream that
 * moves waits for no connection and no compile. A thread of its own does that.
 */
final class Spreader {
  /** How long an offer, and a wish for grammars, wait for the next step. */
  private static final Duration TAKEN_WITHIN = Duration.ofSeconds(1);

  /** How long a server that could not be gone to is left alone. */
  private static final Duration LEFT_ALONE = Duration.ofSeconds(30);

  /** A stream to go to, on which nothing was sent. */
  record Offer(String address, MaskStream stream) {}

  private final FailoverOptions options;
  private final Thread thread = new Thread(this::run, "maskd-spread");
  private final AtomicLong steps = new AtomicLong();
  private volatile boolean hasNews; // whether the stream is wanted: give or take

  // The thread's alone.
  private final LoadAsker asker;
  private final Balance.LookPace pace;
  private long seenSteps;

  // Of both, under the lock of this.
  private final Map<String, Long> aloneSince = new HashMap<>();
  private List<String> servers = List.of();
  private LoadAsker.Own own;
  private boolean hasCome;
  private boolean isWanted;
  private List<CompileRequest> given;
  private Offer offered;

  Spreader(FailoverOptions options) {
    this.options = options;
    asker = new LoadAsker(options.connect);
    pace = new Balance.LookPace(options.lookEvery.toMillis());
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  /** Ends the thread, and does not wait for it. */
  void close() {
    thread.interrupt();
  }

  /** The stream is now the one of this welcome. */
  synchronized void come(String address, Welcome welcome) {
    own = LoadAsker.Own.of(address, welcome);
    hasCome = true;
    isWanted = false;
    retract();
    notifyAll();
  }

  /** Counts a step, and says whether the stream is wanted. */
  boolean touch() {
    steps.incrementAndGet();
    return hasNews;
  }

  /** The servers, as of the last look. */
  synchronized List<String> servers() {
    return servers;
  }

  /** The stream could not go there. */
  synchronized void leaveAlone(String address) {
    aloneSince.put(address, System.nanoTime());
  }

  /** Hands over the grammars, if they are wanted. */
  synchronized void give(Supplier<List<CompileRequest>> grammars) {
    if (isWanted) {
      isWanted = false;
      given = grammars.get();
      hasNews = offered != null;
      notifyAll();
    }
  }

  /** The stream that is offered, or null. */
  synchronized Offer take() {
    Offer taken = offered;
    offered = null;
    hasNews = isWanted;
    notifyAll();
    return taken;
  }

  /** Takes an offer back. */
  private synchronized void retract() {
    Offer late = take();
    if (late != null) {
      late.stream.cancel();
    }
  }

  private void run() {
    try {
      while (true) {
        if (await(Duration.ofMillis(pace.nextMs()), () -> hasCome)) {
          hasCome(false);
          pace.came();
        } else {
          look();
        }
      }
    } catch (InterruptedException ended) {
      // By close().
    } finally {
      asker.close();
      retract();
    }
  }

  private synchronized void hasCome(boolean has) {
    hasCome = has;
  }

  /** Waits until `isThere`, which is asked under the lock, and says whether it is. */
  private synchronized boolean await(Duration atMost, BooleanSupplier isThere) throws InterruptedException {
    long end = System.nanoTime() + atMost.toNanos();
    while (!isThere.getAsBoolean()) {
      long left = end - System.nanoTime();
      if (left <= 0) {
        return false;
      }
      TimeUnit.NANOSECONDS.timedWait(this, left);
    }
    return true;
  }

  private void look() throws InterruptedException {
    List<String> found = Names.serversOf(options.addresses, options.resolver);
    LoadAsker.Own here;
    synchronized (this) {
      servers = found;
      here = own;
    }
    long now = steps.get();
    boolean isIdle = now == seenSteps;
    seenSteps = now;
    if (here == null || found.size() < 2 || isIdle) {
      pace.looked(false);
      return;
    }
    Balance.Loads loads = askAll(here);
    pace.looked(loads.isUneven());
    String place = loads.placeFor(here.address());
    if (place != null) {
      prepare(place, here, loads.servers());
    }
  }

  private Balance.Loads askAll(LoadAsker.Own here) throws InterruptedException {
    List<String> asked;
    synchronized (this) {
      long now = System.nanoTime();
      aloneSince.values().removeIf(since -> now - since > LEFT_ALONE.toNanos());
      asked =
          servers.stream()
              .filter(server -> server.equals(here.address()) || !aloneSince.containsKey(server))
              .toList();
    }
    return asker.ask(asked, here);
  }

  /** Makes the move to a place that follows from what the servers asked said. */
  private void prepare(String place, LoadAsker.Own here, List<String> asked) throws InterruptedException {
    List<CompileRequest> grammars = awaitGrammars();
    if (grammars == null) {
      return;
    }
    MaskStream stream;
    try {
      compile(place, grammars);
      // That may have taken long. The same servers: of many, others would have another place for it.
      if (!place.equals(asker.ask(asked, here).placeFor(here.address()))) {
        return;
      }
      stream = MaskStream.open(place, options.connect, options.stream.from(1, TAKEN_WITHIN));
    } catch (MaskdException error) {
      leaveAlone(place);
      return;
    }
    offer(new Offer(place, stream), here);
  }

  /** Asks the stream for its rows' grammars, which it gives with its next step. */
  private synchronized List<CompileRequest> awaitGrammars() throws InterruptedException {
    given = null;
    isWanted = true;
    hasNews = true;
    await(TAKEN_WITHIN, () -> given != null);
    isWanted = false;
    hasNews = offered != null;
    return given;
  }

  private void compile(String place, List<CompileRequest> grammars) {
    if (grammars.isEmpty()) {
      return;
    }
    ManagedChannel channel = options.connect.dial(place);
    try {
      var stub =
          CompileServiceGrpc.newBlockingStub(channel)
              .withDeadlineAfter(options.compileTimeout.toNanos(), TimeUnit.NANOSECONDS);
      grammars.forEach(stub::compile);
    } catch (StatusRuntimeException error) {
      throw MaskdException.of(error);
    } finally {
      channel.shutdownNow();
    }
  }

  /** Offers a stream, and takes it back where it is not taken in time. */
  private void offer(Offer offer, LoadAsker.Own here) throws InterruptedException {
    synchronized (this) {
      if (own != here) {
        offer.stream.cancel();
        return;
      }
      offered = offer;
      hasNews = true;
    }
    await(TAKEN_WITHIN, () -> offered == null);
    retract();
  }
}
