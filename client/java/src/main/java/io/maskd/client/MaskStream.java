package io.maskd.client;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.maskd.v1.DecodeRequest;
import io.maskd.v1.DecodeResponse;
import io.maskd.v1.GoAway;
import io.maskd.v1.Hello;
import io.maskd.v1.MaskServiceGrpc;
import io.maskd.v1.Welcome;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A decode stream: one message a step goes out, one comes back, in order.
 *
 * <p>Up to {@link #MAX_IN_FLIGHT} steps may be submitted before the first is collected. An error of {@link #submit} or
 * {@link #collect} is the stream's end, and each later call throws it again; but DEADLINE_EXCEEDED of the caller's own
 * time and CANCELLED of an interrupt are not final: the reply may still be collected. For one thread at a time.
 */
public final class MaskStream implements AutoCloseable {
  /** Steps of a stream that may be on their way at once. */
  public static final int MAX_IN_FLIGHT = 64;

  private static final Duration GOODBYE = Duration.ofSeconds(5);

  /** What the connection's thread hands over: a message, or the end. */
  private record Heard(DecodeResponse message, MaskdException end) {}

  private final ManagedChannel channel;
  private final ClientCall<DecodeRequest, DecodeResponse> call;
  private final LinkedBlockingQueue<Heard> heard = new LinkedBlockingQueue<>();
  private final ArrayDeque<Long> inFlight = new ArrayDeque<>();
  private Hello hello;
  private Welcome welcome;
  private MaskReader masks;
  private long next;
  private GoAway goAway;
  private MaskdException end;
  private boolean ended; // with nothing wrong

  private MaskStream(ManagedChannel channel, long firstStep) {
    this.channel = channel;
    this.next = firstStep;
    this.call = channel.newCall(MaskServiceGrpc.getDecodeMethod(), CallOptions.DEFAULT.withExecutor(Runnable::run));
  }

  static MaskStream open(String address, ConnectOptions connect, StreamOptions options) {
    MaskStream stream = begin(address, connect, options, () -> {});
    try {
      stream.begun(options.openTimeout);
      return stream;
    } catch (MaskdException error) {
      stream.cancel();
      throw error.at(address);
    }
  }

  /** Connects and says hello, and does not wait: {@code onHeard} runs with each message, and at the end. */
  static MaskStream begin(String address, ConnectOptions connect, StreamOptions options, Runnable onHeard) {
    MaskStream stream = new MaskStream(connect.dial(address), options.firstStep);
    stream.sayHello(options.hello(), onHeard);
    return stream;
  }

  private void sayHello(Hello said, Runnable onHeard) {
    hello = said;
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onMessage(DecodeResponse message) {
            heard.add(new Heard(message, null));
            onHeard.run();
            call.request(1);
          }

          @Override
          public void onClose(Status status, Metadata trailers) {
            MaskdException error =
                status.isOk() ? null : MaskdException.of(new StatusRuntimeException(status, trailers));
            heard.add(new Heard(null, error));
            onHeard.run();
          }
        },
        new Metadata());
    call.request(1);
    call.sendMessage(DecodeRequest.newBuilder().setHello(hello).build());
  }

  /** Reads the welcome, which has come. */
  void begun() {
    begun(Duration.ZERO);
  }

  private void begun(Duration timeout) {
    DecodeResponse response = next(timeout);
    if (!response.hasWelcome()) {
      throw MaskdException.internal("the server said something else than welcome");
    }
    welcome = response.getWelcome();
    StreamOptions.checkWelcome(hello, welcome);
    masks = new MaskReader(welcome);
  }

  static MaskdException noAnswer(Duration timeout) {
    return new MaskdException(Status.Code.DEADLINE_EXCEEDED, "no answer within " + timeout.toMillis() + " ms");
  }

  /** The next message, or the end as an error. */
  private DecodeResponse next(Duration timeout) {
    if (end != null) {
      throw end;
    }
    Heard next;
    try {
      next = heard.poll(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new MaskdException(Status.Code.CANCELLED, "the caller has been interrupted");
    }
    if (next == null) {
      throw noAnswer(timeout);
    }
    if (next.message == null) {
      ended = next.end == null;
      end = ended ? new MaskdException(Status.Code.UNAVAILABLE, "the server ended the stream") : next.end;
      throw end;
    }
    return next.message;
  }

  /** Numbers the first step, of a stream on which none was sent. */
  void setNext(long step) {
    next = step;
  }

  /**
   * Gives the server's terms.
   *
   * @return tokenizer, words of a mask, limits
   */
  public Welcome welcome() {
    return welcome;
  }

  /**
   * Counts the steps that are submitted and not collected.
   *
   * @return the count
   */
  public int inFlight() {
    return inFlight.size();
  }

  /**
   * Says whether the server will stop, once a reply behind its notice was collected: move the rows to another one.
   *
   * @return null: it has not said so
   */
  public GoAway goAway() {
    return goAway;
  }

  /**
   * Sends the step and empties it.
   *
   * @param step what to say
   * @return its number, which its reply bears
   * @throws MaskdException FAILED_PRECONDITION (too many in flight) and RESOURCE_EXHAUSTED (larger than the server
   *     takes), after which the stream goes on and the step is as it was; the stream's end
   */
  public long submit(Step step) {
    checkInFlight(inFlight.size());
    io.maskd.v1.Step message = step.takeMessage();
    try {
      return send(message);
    } catch (MaskdException error) {
      step.restore(message);
      throw error;
    }
  }

  static void checkInFlight(int steps) {
    if (steps >= MAX_IN_FLIGHT) {
      throw new MaskdException(
          Status.Code.FAILED_PRECONDITION, MAX_IN_FLIGHT + " steps are in flight: collect first");
    }
  }

  /** The request of a step with its number, which must not be larger than a server with this welcome takes. */
  static DecodeRequest request(Welcome welcome, io.maskd.v1.Step step, long number) {
    DecodeRequest request = DecodeRequest.newBuilder().setStep(step.toBuilder().setStep(number)).build();
    long limit = welcome.getLimits().getMaxStepBytes();
    if (limit != 0 && request.getSerializedSize() > limit) {
      throw new MaskdException(
          Status.Code.RESOURCE_EXHAUSTED,
          "step: limit max_step_bytes is " + limit + ", " + request.getSerializedSize() + " needed");
    }
    return request;
  }

  long send(io.maskd.v1.Step step) {
    DecodeRequest request = request(welcome, step, next);
    readEnd();
    try {
      call.sendMessage(request);
    } catch (IllegalStateException closed) {
      throw new MaskdException(Status.Code.UNAVAILABLE, "the stream is closed");
    }
    inFlight.add(next);
    return next++;
  }

  /** Throws the end where it is the next thing that was heard. */
  private void readEnd() {
    Heard first = heard.peek();
    if (end != null || first != null && first.message == null) {
      next(Duration.ZERO);
    }
  }

  /**
   * Waits for the reply to the oldest step that is in flight.
   *
   * @param timeout how long
   * @return the reply
   * @throws MaskdException FAILED_PRECONDITION (none is in flight), DEADLINE_EXCEEDED (try again), CANCELLED (the
   *     thread was interrupted; try again), INTERNAL (the server broke the protocol), the stream's end
   */
  public StepResult collect(Duration timeout) {
    Long due = inFlight.peek();
    if (due == null) {
      throw new MaskdException(Status.Code.FAILED_PRECONDITION, "no step is in flight");
    }
    DecodeResponse response = next(timeout);
    while (response.hasGoAway()) {
      goAway = response.getGoAway();
      response = next(timeout);
    }
    try {
      if (!response.hasStep() || response.getStep().getStep() != due) {
        throw MaskdException.internal(
            "the reply to step " + due + " was due, not " + response.getStep().getStep());
      }
      StepResult result = StepResult.read(response.getStep(), masks);
      inFlight.remove();
      return result;
    } catch (MaskdException error) {
      end = error;
      cancel();
      throw error;
    }
  }

  /**
   * Says goodbye and waits for the stream's end; replies in flight are dropped.
   *
   * @throws MaskdException what the server ended the stream with, unless it is nothing; DEADLINE_EXCEEDED
   */
  @Override
  public void close() {
    close(GOODBYE);
  }

  void close(Duration timeout) {
    try {
      if (end == null) {
        call.halfClose();
      }
      while (true) {
        next(timeout);
      }
    } catch (MaskdException error) {
      if (!ended) {
        throw error;
      }
    } finally {
      cancel();
    }
  }

  /** Ends the stream at once, without a goodbye. */
  public void cancel() {
    if (end == null) {
      end = new MaskdException(Status.Code.CANCELLED, "the caller has given up");
    }
    call.cancel("the caller has given up", null);
    channel.shutdownNow();
  }
}
