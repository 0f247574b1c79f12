package io.maskd.client;

import io.grpc.ClientInterceptor;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.grpc.stub.MetadataUtils;
import java.io.File;
import java.time.Duration;
import javax.net.ssl.SSLException;

/** How a server is reached. The defaults are right for a server on the same machine. */
public final class ConnectOptions {
  private static final int MAX_MESSAGE_BYTES = 64 << 20;

  /** One for the process: its threads end with it. */
  private static final class UnixLoop {
    static final EventLoopGroup GROUP =
        new EpollEventLoopGroup(
            2,
            task -> {
              Thread thread = new Thread(task, "maskd-unix");
              thread.setDaemon(true);
              return thread;
            });
  }

  private final File trusted;
  private final boolean tls;
  private final String token;
  final Duration waitForServer;
  final Duration callTimeout;

  private ConnectOptions(Builder builder) {
    trusted = builder.trusted;
    tls = builder.tls;
    token = builder.token;
    waitForServer = builder.waitForServer;
    callTimeout = builder.callTimeout;
  }

  /**
   * Begins with the defaults.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Makes options. */
  public static final class Builder {
    private File trusted;
    private boolean tls;
    private String token;
    private Duration waitForServer = Duration.ZERO;
    private Duration callTimeout = Duration.ofSeconds(30);

    private Builder() {}

    /**
     * Encrypts the connection.
     *
     * @param certificates of the authorities that are trusted; null: the system's
     * @return this
     */
    public Builder tls(File certificates) {
      tls = true;
      trusted = certificates;
      return this;
    }

    /**
     * Sends a token with every call, as "authorization: Bearer TOKEN".
     *
     * @param bearer the token
     * @return this
     */
    public Builder token(String bearer) {
      token = bearer;
      return this;
    }

    /**
     * Says how long {@link MaskdClient#connect} goes on where nobody is there yet.
     *
     * @param atMost zero, the default: what the first try says is the answer
     * @return this
     */
    public Builder waitForServer(Duration atMost) {
      waitForServer = atMost;
      return this;
    }

    /**
     * Bounds the time of one unary call, retries included.
     *
     * @param atMost by default 30 seconds
     * @return this
     */
    public Builder callTimeout(Duration atMost) {
      callTimeout = atMost;
      return this;
    }

    /**
     * Makes the options.
     *
     * @return the options
     */
    public ConnectOptions build() {
      return new ConnectOptions(this);
    }
  }

  /** A connection of its own. */
  ManagedChannel dial(String address) {
    if (address.isEmpty()) {
      throw new MaskdException(Status.Code.INVALID_ARGUMENT, "address: is empty");
    }
    NettyChannelBuilder channel = address.startsWith("unix:") ? unix(address) : tcp(address);
    channel.maxInboundMessageSize(MAX_MESSAGE_BYTES).disableRetry();
    if (!tls) {
      channel.usePlaintext();
    } else if (trusted != null) {
      try {
        channel.sslContext(GrpcSslContexts.forClient().trustManager(trusted).build());
      } catch (SSLException | IllegalArgumentException error) {
        throw new MaskdException(Status.Code.INVALID_ARGUMENT, trusted + ": " + error.getMessage());
      }
    }
    if (token != null) {
      channel.intercept(bearer());
    }
    return channel.build();
  }

  private static NettyChannelBuilder tcp(String address) {
    int name = address.indexOf('@');
    if (name < 0) {
      return NettyChannelBuilder.forTarget(address);
    }
    // A server that was found by a name ("10.0.0.7:7411@maskd") is held to that.
    String server = address.substring(0, name);
    return NettyChannelBuilder.forTarget(server)
        .overrideAuthority(address.substring(name + 1) + server.substring(server.lastIndexOf(':')));
  }

  private static NettyChannelBuilder unix(String address) {
    String path = address.substring("unix:".length()).replaceFirst("^//", "");
    return NettyChannelBuilder.forAddress(new DomainSocketAddress(path))
        .channelType(EpollDomainSocketChannel.class)
        .eventLoopGroup(UnixLoop.GROUP)
        .withOption(ChannelOption.SO_KEEPALIVE, null) // a Unix socket has none, and netty warns
        .overrideAuthority("localhost");
  }

  private ClientInterceptor bearer() {
    Metadata headers = new Metadata();
    headers.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + token);
    return MetadataUtils.newAttachHeadersInterceptor(headers);
  }
}
