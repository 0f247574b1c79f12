package io.maskd.client;

import java.time.Duration;
import java.util.List;

/** Between which servers a stream may move, and when. */
public final class FailoverOptions {
  final List<String> addresses;
  final StreamOptions stream;
  final boolean inOrder;
  final ConnectOptions connect;
  final Duration stepTimeout;
  final Duration giveUpAfter;
  final Duration compileTimeout;
  final Duration lookEvery;
  final Resolver resolver;

  private FailoverOptions(Builder builder) {
    addresses = builder.addresses;
    stream = builder.stream;
    inOrder = builder.inOrder;
    connect = builder.connect;
    stepTimeout = builder.stepTimeout;
    giveUpAfter = builder.giveUpAfter;
    compileTimeout = builder.compileTimeout;
    lookEvery = builder.lookEvery;
    resolver = builder.resolver;
  }

  /**
   * Begins with the defaults.
   *
   * @param addresses at least one, as of {@link MaskdClient#connect}
   * @param stream what the stream is for
   * @return a builder
   */
  public static Builder builder(List<String> addresses, StreamOptions stream) {
    return new Builder(addresses, stream);
  }

  /** Makes options. */
  public static final class Builder {
    private final List<String> addresses;
    private final StreamOptions stream;
    private boolean inOrder;
    private ConnectOptions connect = ConnectOptions.builder().build();
    private Duration stepTimeout = Duration.ofSeconds(2);
    private Duration giveUpAfter = Duration.ofSeconds(10);
    private Duration compileTimeout = Duration.ofSeconds(10);
    private Duration lookEvery = Duration.ofSeconds(4);
    private Resolver resolver = Resolver.dns();

    private Builder(List<String> addresses, StreamOptions stream) {
      this.addresses = List.copyOf(addresses);
      this.stream = stream;
    }

    /**
     * Says whether the addresses are tried as listed, and the stream stays where it is.
     *
     * @param listed by default false: it goes where there are few streams, also later on: after a restart, or when a
     *     server has come to those of a name
     * @return this
     */
    public Builder inOrder(boolean listed) {
      inOrder = listed;
      return this;
    }

    /**
     * Says how the servers are reached.
     *
     * @param how of each
     * @return this
     */
    public Builder connect(ConnectOptions how) {
      connect = how;
      return this;
    }

    /**
     * Says after what time a server that has not answered a step is given up.
     *
     * @param atMost by default 2 seconds
     * @return this
     */
    public Builder stepTimeout(Duration atMost) {
      stepTimeout = atMost;
      return this;
    }

    /**
     * Says how long a server that serves is looked for.
     *
     * @param atMost by default 10 seconds
     * @return this
     */
    public Builder giveUpAfter(Duration atMost) {
      giveUpAfter = atMost;
      return this;
    }

    /**
     * Says how long the replayed rows' grammars may compile on the new server.
     *
     * @param atMost by default 10 seconds
     * @return this
     */
    public Builder compileTimeout(Duration atMost) {
      compileTimeout = atMost;
      return this;
    }

    /**
     * Says how often the stream looks at the servers.
     *
     * @param atMost by default 4 seconds
     * @return this
     */
    public Builder lookEvery(Duration atMost) {
      lookEvery = atMost;
      return this;
    }

    /**
     * Says how the servers of an address are found.
     *
     * @param how by default {@link Resolver#dns}
     * @return this
     */
    public Builder resolver(Resolver how) {
      resolver = how;
      return this;
    }

    /**
     * Makes the options.
     *
     * @return the options
     */
    public FailoverOptions build() {
      return new FailoverOptions(this);
    }
  }
}
