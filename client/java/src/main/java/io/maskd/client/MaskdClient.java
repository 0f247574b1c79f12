package io.maskd.client;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.maskd.v1.CheckRequest;
import io.maskd.v1.CheckResponse;
import io.maskd.v1.CompileRequest;
import io.maskd.v1.CompileResponse;
import io.maskd.v1.CompileServiceGrpc;
import io.maskd.v1.ExplainRequest;
import io.maskd.v1.ExplainResponse;
import io.maskd.v1.GetTokenizerRequest;
import io.maskd.v1.ListTokenizersRequest;
import io.maskd.v1.ListTokensRequest;
import io.maskd.v1.Token;
import io.maskd.v1.Tokenizer;
import io.maskd.v1.TokenizerServiceGrpc;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A client of one server. For any number of threads at once; its streams live on their own: the client may go first.
 *
 * <p>Unary calls that fail with UNAVAILABLE, or for load, are tried again within their time.
 */
public final class MaskdClient implements AutoCloseable {
  private static final int MAX_ATTEMPTS = 4;
  private static final long MAX_DELAY_MS = 1000;

  private final String address;
  private final ConnectOptions options;
  private final ManagedChannel channel;

  private MaskdClient(String address, ConnectOptions options) {
    this.address = address;
    this.options = options;
    this.channel = options.dial(address);
  }

  /**
   * Makes a client with the defaults.
   *
   * @param address as below
   * @return the client
   * @throws MaskdException as below
   */
  public static MaskdClient connect(String address) {
    return connect(address, ConnectOptions.builder().build());
  }

  /**
   * Makes a client and asks the server a question, so that whoever has a client has had an answer.
   *
   * @param address "unix:/run/maskd.sock" (an absolute path), "127.0.0.1:7411" or "dns:///maskd:7411"
   * @param options how it is reached
   * @return the client
   * @throws MaskdException INVALID_ARGUMENT (no address), UNAVAILABLE with the address and the system's own words
   */
  public static MaskdClient connect(String address, ConnectOptions options) {
    long deadline = System.nanoTime() + options.waitForServer.toNanos();
    while (true) {
      MaskdClient client = new MaskdClient(address, options);
      try {
        client.tokenizer("");
        return client;
      } catch (MaskdException error) {
        client.close();
        boolean isFinal =
            error.code() != Status.Code.UNAVAILABLE || error.getMessage().contains("ermission denied");
        if (isFinal || System.nanoTime() >= deadline) {
          throw error;
        }
      }
      sleep(10);
    }
  }

  /** Ends the client's own connection. */
  @Override
  public void close() {
    channel.shutdownNow();
  }

  /**
   * Compiles a grammar against the server's default tokenizer, or finds it in the cache.
   *
   * @param target the grammar
   * @return its id and costs
   * @throws MaskdException those of CompileService.Compile
   */
  public CompileResponse compile(Target target) {
    return compile(target, "");
  }

  /**
   * Compiles a grammar against a tokenizer by its name.
   *
   * @param target the grammar
   * @param tokenizer its name
   * @return its id and costs
   * @throws MaskdException those of CompileService.Compile
   */
  public CompileResponse compile(Target target, String tokenizer) {
    CompileRequest.Builder request = CompileRequest.newBuilder().setTokenizer(tokenizer);
    if (target.isId()) {
      request.setGrammarId(target.id());
    } else {
      request.setGrammar(target.grammar());
    }
    return ask(() -> compiler().compile(request.build()));
  }

  /**
   * Runs a text through a grammar. What the grammar refuses is an answer, not an error.
   *
   * @param target the grammar
   * @param text the text
   * @return how far it came
   * @throws MaskdException those of CompileService.Check
   */
  public CheckResponse check(Target target, String text) {
    CheckRequest.Builder request = CheckRequest.newBuilder().setText(text);
    if (target.isId()) {
      request.setGrammarId(target.id());
    } else {
      request.setGrammar(target.grammar());
    }
    return check(request.build());
  }

  /**
   * Runs what the caller has filled in through a grammar: raw bytes, tokens, a tokenizer by name.
   *
   * @param request what to check
   * @return how far it came
   * @throws MaskdException those of CompileService.Check
   */
  public CheckResponse check(CheckRequest request) {
    return ask(() -> compiler().check(request));
  }

  /**
   * Says what the compiler understood of a grammar.
   *
   * @param target the grammar
   * @return rules, sizes, costs, warnings
   * @throws MaskdException those of CompileService.Explain
   */
  public ExplainResponse explain(Target target) {
    ExplainRequest.Builder request = ExplainRequest.newBuilder();
    if (target.isId()) {
      request.setGrammarId(target.id());
    } else {
      request.setGrammar(target.grammar());
    }
    return ask(() -> compiler().explain(request.build()));
  }

  /**
   * Lists the vocabularies.
   *
   * @return all of them, the default first
   * @throws MaskdException those of TokenizerService.ListTokenizers
   */
  public List<Tokenizer> listTokenizers() {
    List<Tokenizer> all = new ArrayList<>();
    String pageToken = "";
    do {
      ListTokenizersRequest request = ListTokenizersRequest.newBuilder().setPageToken(pageToken).build();
      var page = ask(() -> tokenizers().listTokenizers(request));
      all.addAll(page.getTokenizersList());
      pageToken = page.getNextPageToken();
    } while (!pageToken.isEmpty());
    return all;
  }

  /**
   * Gives one vocabulary.
   *
   * @param name empty: the server's default
   * @return its size, hash and special ids
   * @throws MaskdException those of TokenizerService.GetTokenizer
   */
  public Tokenizer tokenizer(String name) {
    GetTokenizerRequest request = GetTokenizerRequest.newBuilder().setName(name).build();
    return ask(() -> tokenizers().getTokenizer(request)).getTokenizer();
  }

  /**
   * Gives every token.
   *
   * @param tokenizer by its name; empty: the server's default
   * @return in order of id
   * @throws MaskdException those of TokenizerService.ListTokens
   */
  public List<Token> listTokens(String tokenizer) {
    List<Token> all = new ArrayList<>();
    while (true) {
      ListTokensRequest request =
          ListTokensRequest.newBuilder().setTokenizer(tokenizer).setFirstId(all.size()).build();
      var page = ask(() -> tokenizers().listTokens(request));
      all.addAll(page.getTokensList());
      if (!page.hasNextId()) {
        return all;
      }
      if (page.getNextId() != all.size()) {
        throw MaskdException.internal("the server's pages of tokens do not follow each other");
      }
    }
  }

  /**
   * Opens a decode stream, on a connection of its own so that no other call's bytes delay a step, and says hello.
   *
   * @param stream what it is for
   * @return the stream
   * @throws MaskdException those of MaskService.Decode, UNAVAILABLE, DEADLINE_EXCEEDED
   */
  public MaskStream openStream(StreamOptions stream) {
    return MaskStream.open(address, options, stream);
  }

  private CompileServiceGrpc.CompileServiceBlockingStub compiler() {
    return CompileServiceGrpc.newBlockingStub(channel)
        .withDeadlineAfter(options.callTimeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  private TokenizerServiceGrpc.TokenizerServiceBlockingStub tokenizers() {
    return TokenizerServiceGrpc.newBlockingStub(channel)
        .withDeadlineAfter(options.callTimeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** One unary call with its retries. */
  private <T> T ask(Supplier<T> call) {
    long deadline = System.nanoTime() + options.callTimeout.toNanos();
    long delayMs = 20;
    for (int tries = 1; ; ++tries) {
      MaskdException error;
      try {
        return call.get();
      } catch (RuntimeException failure) {
        error = MaskdException.of(failure);
      }
      Duration after = error.retryAfter();
      long waitMs = after != null ? after.toMillis() : jittered(delayMs);
      boolean again = after != null || error.code() == Status.Code.UNAVAILABLE;
      boolean isInTime = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMs) < deadline;
      if (!again || tries >= MAX_ATTEMPTS || !isInTime) {
        throw error.at(address);
      }
      sleep(waitMs);
      delayMs = Math.min(2 * delayMs, MAX_DELAY_MS);
    }
  }

  /** Between half and all of a delay, so that many callers do not come back at once. */
  static long jittered(long delayMs) {
    return (long) (delayMs * ThreadLocalRandom.current().nextDouble(0.5, 1));
  }

  static void sleep(long ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new MaskdException(Status.Code.CANCELLED, "the caller has been interrupted");
    }
  }
}
