package io.maskd.client;

import io.maskd.v1.Hello;
import io.maskd.v1.RowForm;
import io.maskd.v1.Welcome;
import java.time.Duration;
import java.util.List;

/** What a stream is for. */
public final class StreamOptions {
  private static final int PROTOCOL_VERSION = 1;

  private final Hello hello;
  final long firstStep;
  final Duration openTimeout;

  private StreamOptions(Hello hello, long firstStep, Duration openTimeout) {
    this.hello = hello;
    this.firstStep = firstStep;
    this.openTimeout = openTimeout;
  }

  /**
   * Begins with the defaults.
   *
   * @param logitsWidth tokens in a row of logits, at least the tokenizer's size
   * @return a builder
   */
  public static Builder builder(int logitsWidth) {
    return new Builder(logitsWidth);
  }

  Hello hello() {
    return hello;
  }

  /** Another stream for the same. */
  StreamOptions from(long step, Duration timeout) {
    return new StreamOptions(hello, step, timeout.compareTo(openTimeout) < 0 ? timeout : openTimeout);
  }

  /** Holds the welcome to the hello: masks are made as large as it says. */
  static void checkWelcome(Hello hello, Welcome welcome) {
    int width = hello.getLogitsWidth();
    int size = welcome.getTokenizer().getVocabSize();
    if (size >= 0 && size <= width && welcome.getMaskWords() == (width + 31L) / 32
        && Integer.compareUnsigned(welcome.getDictionarySize(), hello.getDictionarySize()) <= 0) {
      return;
    }
    throw MaskdException.internal(
        "the server's welcome is not for " + width + " logits and " + hello.getDictionarySize() + " masks: " + size
            + " tokens, " + welcome.getMaskWords() + " words, " + welcome.getDictionarySize() + " masks");
  }

  /** Makes options. */
  public static final class Builder {
    private final Hello.Builder hello = Hello.newBuilder().setProtocolVersion(PROTOCOL_VERSION);
    private boolean shortForms = true;
    private int dictionarySize = 256;
    private Duration openTimeout = Duration.ofSeconds(10);

    private Builder(int logitsWidth) {
      hello.setLogitsWidth(logitsWidth);
    }

    /**
     * Asks for a tokenizer.
     *
     * @param name by default the server's own default
     * @return this
     */
    public Builder tokenizer(String name) {
      hello.setTokenizer(name);
      return this;
    }

    /**
     * Says which hash the tokenizer must have.
     *
     * @param hash FAILED_PRECONDITION where it differs
     * @return this
     */
    public Builder tokenizerHash(String hash) {
      hello.setTokenizerHash(hash);
      return this;
    }

    /**
     * Says whether masks may come in the short row forms.
     *
     * @param may by default true; else every mask is dense
     * @return this
     */
    public Builder shortForms(boolean may) {
      shortForms = may;
      return this;
    }

    /**
     * Says how many masks are kept for the forms that refer to others.
     *
     * @param masks by default 256; 0: neither form is used
     * @return this
     */
    public Builder dictionarySize(int masks) {
      dictionarySize = masks;
      return this;
    }

    /**
     * Says whether positions may carry temperatures.
     *
     * @param may by default false
     * @return this
     */
    public Builder wantTemperature(boolean may) {
      hello.setWantTemperature(may);
      return this;
    }

    /**
     * Says whether positions may carry biases.
     *
     * @param may by default false
     * @return this
     */
    public Builder wantBias(boolean may) {
      hello.setWantBias(may);
      return this;
    }

    /**
     * Says how long the server may take to say welcome.
     *
     * @param atMost by default 10 seconds
     * @return this
     */
    public Builder openTimeout(Duration atMost) {
      openTimeout = atMost;
      return this;
    }

    /**
     * Makes the options.
     *
     * @return the options
     */
    public StreamOptions build() {
      Hello.Builder said = hello.clone();
      if (shortForms) {
        said.setDictionarySize(dictionarySize)
            .addAllRowForms(
                List.of(
                    RowForm.ROW_FORM_SAME_AS,
                    RowForm.ROW_FORM_ALLOWED_IDS,
                    RowForm.ROW_FORM_FORBIDDEN_IDS,
                    RowForm.ROW_FORM_DELTA));
      }
      return new StreamOptions(said.build(), 1, openTimeout);
    }
  }
}
