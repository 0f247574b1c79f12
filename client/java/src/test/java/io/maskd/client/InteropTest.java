package io.maskd.client;

import static io.maskd.client.EngineSteps.engineStep;
import static io.maskd.client.EngineSteps.masksOf;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.grpc.Status;
import io.maskd.v1.OpenRow;
import io.maskd.v1.RowState;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Runs the interop list of tests/interop against real servers (MASKD_SERVER: the program's path). */
class InteropTest {
  static final int WIDTH = 2080;
  private static final int ENGINE_STEPS = 40;
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final String SERVER = System.getenv("MASKD_SERVER");

  @TempDir Path folder;
  private final List<Program> started = new ArrayList<>();

  private Program start(Function<Path, List<String>> command) throws Exception {
    return start(folder.resolve("s" + started.size()), command);
  }

  private Program start(Path path, Function<Path, List<String>> command) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(command.apply(path));
    Process process = builder.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    Program program = new Program(path, process);
    started.add(program);
    for (int i = 0; i < 2000 && !Files.exists(path); ++i) {
      Thread.sleep(5);
    }
    assertTrue(Files.exists(path), "it does not listen");
    return program;
  }

  private static List<String> command(Path path, boolean withPairs) {
    List<String> command =
        new ArrayList<>(List.of(SERVER, "--listen=unix:" + path, "--metrics_listen=", "--heap_mib=0"));
    if (withPairs) {
      command.add("--tokenizer=pairs=" + Cases.INTEROP + "/pairs.tiktoken,special=<end>:256,stop=<end>");
    }
    return command;
  }

  /** A server with the vocabulary of the cases, or with the embedded one. */
  private Program server(boolean withPairs) throws Exception {
    return start(path -> command(path, withPairs));
  }

  /** A server at a path where another was. */
  private Program serve(Path at) throws Exception {
    return start(at, path -> command(path, true));
  }

  private Program server() throws Exception {
    return server(true);
  }

  @AfterEach
  void end() throws InterruptedException {
    for (Program program : started) {
      program.kill();
    }
  }

  @TestFactory
  Stream<DynamicTest> list() throws Exception {
    Assumptions.assumeTrue(SERVER != null, "MASKD_SERVER is not set: run scripts/test-clients java");
    Map<String, Executable> scenarios = new HashMap<>();
    scenarios.put("width_refused", this::widthRefused);
    scenarios.put("compile_and_check", this::compileAndCheck);
    scenarios.put("compile_refused", this::compileRefused);
    scenarios.put("tokens", this::tokens);
    scenarios.put("cancel", this::cancel);
    scenarios.put("deadline", this::deadline);
    scenarios.put("go_away", this::goAway);
    scenarios.put("wrong_vocabulary", this::wrongVocabulary);
    scenarios.put("failover", this::failover);
    scenarios.put("two_deaths", this::twoDeaths);
    scenarios.put("drain", this::drain);
    scenarios.put("balance", this::balance);
    scenarios.put("lost_zone", this::lostZone);
    scenarios.put("queue_full", this::queueFull);
    scenarios.put("slow_server", this::slowServer);
    Program shared = server();
    return Cases.load().stream()
        .map(
            each ->
                dynamicTest(
                    each.name,
                    () -> {
                      if (each.kind.equals("session")) {
                        session(shared, each);
                      } else {
                        assertNotNull(scenarios.get(each.name), "this client has no such scenario");
                        scenarios.get(each.name).execute();
                      }
                    }));
  }

  private static StepResult run(MaskStream stream, Step step) {
    stream.submit(step);
    return stream.collect(TIMEOUT);
  }

  private static StepResult run(FailoverStream stream, Step step) {
    stream.submit(step);
    return stream.collect(TIMEOUT);
  }

  private static MaskdException expect(Status.Code code, Executable run) {
    MaskdException error = assertThrows(MaskdException.class, run);
    assertEquals(code, error.code(), error.getMessage());
    return error;
  }

  private static void session(Program server, Cases.Case each) {
    Cases.Golden golden = Cases.golden(each.name);
    Map<Long, OpenRow> snapshots = new HashMap<>();
    try (MaskdClient client = server.connect();
        MaskStream stream = client.openStream(each.options())) {
      Step step = new Step();
      for (int i = 0; i < each.steps.size(); ++i) {
        StepResult result = run(stream, Cases.sayAll(step, each.steps.get(i), snapshots));
        result.snapshots().forEach(snapshot -> snapshots.put(snapshot.getRow(), snapshot));
        Cases.expect(golden.masks, golden.steps.get(i), result);
      }
    }
  }

  private void widthRefused() throws Exception {
    try (MaskdClient client = server().connect()) {
      StreamOptions narrow = StreamOptions.builder(100).build();
      MaskdException error = expect(Status.Code.INVALID_ARGUMENT, () -> client.openStream(narrow));
      assertEquals("hello.logits_width", error.place());
    }
  }

  private void compileAndCheck() throws Exception {
    try (MaskdClient client = server().connect()) {
      Target grammar = Target.choice("[\"red\", \"rose\"]");
      var first = client.compile(grammar);
      Target id = Target.id(first.getGrammarId());
      var second = client.compile(id);
      assertTrue(!first.getFromCache() && second.getFromCache());
      assertEquals(first.getGrammarId(), second.getGrammarId());
      assertEquals("r", client.explain(grammar).getForcedPrefix().toStringUtf8());
      var taken = client.check(id, "rose");
      assertTrue(taken.getAccepted() && taken.getMayEnd());
      assertEquals(1, client.check(grammar, "r!").getStop().getByteOffset());
    }
  }

  private void compileRefused() throws Exception {
    try (MaskdClient client = server().connect()) {
      Target wrong = Target.jsonSchema("{\"properties\": {\"a\": {\"type\": \"strng\"}}}");
      MaskdException error = expect(Status.Code.INVALID_ARGUMENT, () -> client.compile(wrong));
      assertEquals("/properties/a/type", error.place());
      assertEquals("INVALID_GRAMMAR", error.reason());
      expect(Status.Code.NOT_FOUND, () -> client.compile(Target.id("0".repeat(64))));
      expect(Status.Code.NOT_FOUND, () -> client.compile(Target.jsonObject(), "qwen"));
    }
  }

  private void tokens() throws Exception {
    try (MaskdClient client = server().connect()) {
      var tokens = client.listTokens("");
      assertEquals(2048, tokens.size());
      assertEquals("a", tokens.get(97).getText().toStringUtf8());
      assertEquals("aa", tokens.get(257).getText().toStringUtf8());
      assertEquals(List.of(client.tokenizer("pairs")), client.listTokenizers());
    }
  }

  private void cancel() throws Exception {
    Program server = server();
    MaskStream stream = server.open();
    server.stop();
    stream.submit(new Step());
    Thread caller = Thread.currentThread();
    Thread other = new Thread(caller::interrupt);
    other.start();
    expect(Status.Code.CANCELLED, () -> stream.collect(TIMEOUT));
    assertTrue(Thread.interrupted());
    other.join();
    stream.cancel();
    server.signal("CONT");
    try (MaskStream next = server.open()) {
      run(next, new Step());
    }
  }

  private void deadline() throws Exception {
    Program server = server();
    try (MaskStream stream = server.open()) {
      server.stop();
      stream.submit(new Step());
      expect(Status.Code.DEADLINE_EXCEEDED, () -> stream.collect(Duration.ofMillis(50)));
      server.signal("CONT");
      assertEquals(1, stream.collect(TIMEOUT).step());
    }
  }

  private void goAway() throws Exception {
    Program server = server();
    MaskStream stream = server.open();
    server.signal("TERM");
    for (int i = 0; i < 200 && stream.goAway() == null; ++i) {
      run(stream, new Step());
      Thread.sleep(10);
    }
    assertNotNull(stream.goAway());
    run(stream, new Step());
    stream.cancel();
  }

  private static FailoverOptions.Builder inOrder(List<String> addresses) {
    return FailoverOptions.builder(addresses, StreamOptions.builder(WIDTH).build()).inOrder(true);
  }

  private static FailoverStream openFailover(Program... servers) {
    List<String> addresses = Arrays.stream(servers).map(Program::address).toList();
    return FailoverStream.open(inOrder(addresses).giveUpAfter(Duration.ofSeconds(2)).build());
  }

  private void wrongVocabulary() throws Exception {
    Program pairs = server();
    Program bytes = server(false);
    StreamOptions other = StreamOptions.builder(WIDTH).tokenizerHash("0".repeat(64)).build();
    try (MaskdClient client = bytes.connect()) {
      expect(Status.Code.FAILED_PRECONDITION, () -> client.openStream(other));
    }
    FailoverStream stream = openFailover(pairs, bytes);
    String pinned = stream.welcome().getTokenizer().getHash();
    pairs.kill();
    MaskdException error = expect(Status.Code.FAILED_PRECONDITION, () -> run(stream, new Step()));
    assertTrue(error.getMessage().contains(pinned));
    assertTrue(
        error.getMessage().contains("549865214666861bd3f33839842e48cc81cc3f68229504f1958f5083842f8204"));
  }

  /** The masks of an engine whose server nothing happens to. */
  private List<String> undisturbed() throws Exception {
    List<String> masks = new ArrayList<>();
    try (MaskStream stream = server().open()) {
      for (int i = 0; i < ENGINE_STEPS; ++i) {
        masks.addAll(masksOf(run(stream, engineStep(i))));
      }
    }
    return masks;
  }

  private void failover() throws Exception {
    Program a = server();
    Program b = server();
    expectMove(openFailover(a, b), a, b, a::kill);
  }

  /**
   * Has an engine's server killed under a step: the stream goes on elsewhere, with the masks of one that nothing
   * happened to.
   */
  private void expectMove(FailoverStream opened, Program from, Program to, Executable kill) throws Exception {
    expectMove(opened, from, to, kill, () -> opened.collect(TIMEOUT));
  }

  private void expectMove(
      FailoverStream opened, Program from, Program to, Executable kill, Supplier<StepResult> collect)
      throws Exception {
    List<String> masks = new ArrayList<>();
    try (FailoverStream stream = opened) {
      for (int i = 0; i < ENGINE_STEPS; ++i) {
        if (i == 20) {
          from.stop();
        }
        stream.submit(engineStep(i));
        if (i == 20) {
          assertDoesNotThrow(kill);
        }
        masks.addAll(masksOf(collect.get()));
      }
      assertEquals(1, stream.moves());
      assertEquals(to.address(), stream.address());
    }
    assertEquals(undisturbed(), masks);
  }

  /** Takes connections and says nothing. */
  private static ServerSocketChannel silent(Path path) throws IOException {
    return ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(path));
  }

  /** Each of the silent ones would be given longer than the whole search has. */
  private void lostZone() throws Exception {
    Program a = server();
    Program b = server();
    List<String> addresses = new ArrayList<>(List.of(a.address()));
    List<ServerSocketChannel> zone = new ArrayList<>();
    for (int i = 0; i < 8; ++i) {
      zone.add(silent(folder.resolve("silent" + i)));
      addresses.add("unix:" + folder.resolve("silent" + i));
    }
    addresses.add(b.address());
    FailoverOptions options = inOrder(addresses).stepTimeout(Duration.ofMinutes(1)).giveUpAfter(TIMEOUT).build();
    expectMove(FailoverStream.open(options), a, b, a::kill);
    for (ServerSocketChannel each : zone) {
      each.close();
    }
  }

  /** Opens slow grammars until one is refused for the compile queue. */
  private static void fillQueue(MaskStream holder) {
    for (int row = 0; row < 10; ++row) {
      List<Row> rows = run(holder, new Step().open(row, EngineSteps.slow(row + "x"))).rows();
      if (!rows.isEmpty() && rows.get(0).state() == RowState.ROW_STATE_FAILED) {
        assertEquals("COMPILE_QUEUE_FULL", rows.get(0).error().reason());
        assertNotNull(rows.get(0).error().retryAfter());
        return;
      }
    }
    throw new AssertionError("the queue does not fill");
  }

  /** Before the server whose queue is full stands a program that ends when it is asked earlier than that has said. */
  private void queueFull() throws Exception {
    Program a = server();
    List<String> flags = List.of("--compile_threads=1", "--compile_queue=1", "--max_compile_work=1000000000");
    Program full =
        start(path -> Stream.concat(command(path, true).stream(), flags.stream()).toList());
    String script = Cases.INTEROP.resolve("early.py").toString();
    Program early =
        start(path -> List.of("python3", script, path.toString(), full.path().toString(), "200"));
    MaskStream holder = full.open();
    fillQueue(holder);
    FailoverOptions options = inOrder(List.of(a.address(), early.address())).giveUpAfter(TIMEOUT).build();
    Timer timer = new Timer(true);
    expectMove(
        FailoverStream.open(options),
        a,
        early,
        () -> {
          timer.schedule(
              new TimerTask() {
                @Override
                public void run() {
                  holder.cancel();
                }
              },
              500);
          a.kill();
        });
    assertTrue(early.process().isAlive(), "the server was asked before it said");
  }

  /** Each answer of the server to go to comes later than a call waits. It ends when it is asked twice. */
  private void slowServer() throws Exception {
    Program a = server();
    Program slow = server();
    String script = Cases.INTEROP.resolve("early.py").toString();
    Path path = folder.resolve("once");
    Duration minute = Duration.ofMinutes(1);
    FailoverOptions options =
        inOrder(List.of(a.address(), "unix:" + path)).stepTimeout(minute).giveUpAfter(minute).build();
    FailoverStream stream = FailoverStream.open(options);
    // It begins now, or a stream that is slow to open would ask it too.
    Program once =
        start(path, at -> List.of("python3", script, at.toString(), slow.path().toString(), "60000", "200"));
    expectMove(
        stream,
        a,
        once,
        a::kill,
        () -> {
          while (true) {
            try {
              return stream.collect(Duration.ofMillis(50));
            } catch (MaskdException error) {
              boolean isAgain = error.code() == Status.Code.DEADLINE_EXCEEDED;
              if (!isAgain || !once.process().isAlive()) {
                throw error;
              }
            }
          }
        });
  }

  private void drain() throws Exception {
    Program a = server();
    Program b = server();
    Program c = server();
    List<String> masks = new ArrayList<>();
    try (FailoverStream stream = openFailover(a, b, c)) {
      for (int i = 0; i < ENGINE_STEPS; ++i) {
        if (i == 10 || i == 25) {
          (i == 10 ? a : b).signal("TERM");
        }
        stream.submit(engineStep(i));
        Thread.sleep(5);
        masks.addAll(masksOf(stream.collect(TIMEOUT)));
      }
      assertEquals(c.address(), stream.address());
    }
    assertEquals(undisturbed(), masks);
  }

  /** A server that the word "deadly" ends. */
  private Program mortal(Program server) throws Exception {
    String script = Cases.INTEROP.resolve("mortal.py").toString();
    return start(path -> List.of("python3", script, path.toString(), server.path().toString(), "deadly"));
  }

  private void twoDeaths() throws Exception {
    Program server = server();
    Program b = mortal(server);
    Program c = mortal(server);
    FailoverStream stream = openFailover(mortal(server), b, c);
    masksOf(run(stream, engineStep(0)));
    StepResult result = run(stream, new Step().open(66, Target.regex("deadly[0-9]")));
    assertEquals(1, result.rows().size());
    Row row = result.rows().get(0);
    assertEquals(66, row.id());
    assertEquals(RowState.ROW_STATE_FAILED, row.state());
    assertEquals(Status.Code.INTERNAL, row.error().code());
    assertEquals("SERVERS_ENDED", row.error().reason());
    masksOf(run(stream, engineStep(1)));
    assertTrue(b.process().isAlive() || c.process().isAlive(), "the third server got the step too");
    stream.cancel();
  }

  /** Streams of a name, whose masks must be those of one that nothing happens to. */
  private record Engines(List<FailoverStream> streams, MaskStream undisturbed, AtomicInteger number) {
    void step() throws InterruptedException {
      int now = number.getAndIncrement();
      List<String> expected = masksOf(run(undisturbed, engineStep(now)));
      for (FailoverStream stream : streams) {
        assertEquals(expected, masksOf(run(stream, engineStep(now))), "step " + now);
      }
      Thread.sleep(10);
    }

    boolean areEven(List<Program> servers) {
      return servers.stream()
          .allMatch(
              server ->
                  streams.stream().filter(stream -> stream.address().equals(server.address())).count()
                      == streams.size() / servers.size());
    }

    void stepUntilEven(List<Program> servers) throws InterruptedException {
      long end = System.nanoTime() + Duration.ofMinutes(1).toNanos();
      while (!areEven(servers)) {
        assertTrue(System.nanoTime() < end, "not even");
        step();
      }
    }
  }

  private Program answering(Program server) {
    server.connect().close();
    return server;
  }

  /** Twelve streams of a name that has three servers, which are restarted in turn, and then four. */
  private void balance() throws Exception {
    List<Program> servers = new CopyOnWriteArrayList<>();
    for (int i = 0; i < 3; ++i) {
      servers.add(answering(server()));
    }
    FailoverOptions options =
        FailoverOptions.builder(List.of("dns:///maskd.test:7411"), StreamOptions.builder(WIDTH).build())
            .resolver(name -> servers.stream().map(Program::address).toList())
            .build();
    Engines engines = new Engines(new ArrayList<>(), server().open(), new AtomicInteger());
    for (int i = 0; i < 12; ++i) {
      engines.streams.add(FailoverStream.open(options));
    }
    assertTrue(engines.areEven(servers), "not even at the start");
    engines.step();
    for (int i = 0; i < servers.size(); ++i) {
      Program old = servers.get(i);
      old.signal("TERM");
      while (old.process().isAlive()) {
        engines.step();
      }
      servers.set(i, answering(serve(old.path())));
    }
    engines.stepUntilEven(servers);
    servers.add(answering(server()));
    engines.stepUntilEven(servers);
    engines.streams.forEach(FailoverStream::close);
    engines.undisturbed.close();
  }

  /** The cause and the address, at once. */
  @Test
  void nobodyThere() {
    MaskdException error = expect(Status.Code.UNAVAILABLE, () -> MaskdClient.connect("unix:/no/such/socket"));
    assertTrue(error.getMessage().startsWith("unix:/no/such/socket: "), error.getMessage());
    assertTrue(error.getMessage().contains("FileNotFound"), error.getMessage());
    expect(Status.Code.INVALID_ARGUMENT, () -> MaskdClient.connect(""));
  }
}
