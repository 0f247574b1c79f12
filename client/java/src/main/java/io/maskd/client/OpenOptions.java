package io.maskd.client;

import io.maskd.v1.LogitBias;
import io.maskd.v1.OpenRow;
import io.maskd.v1.ReasoningGate;
import java.util.Map;

/** What a row may be opened with beside its grammar. */
public final class OpenOptions {
  final OpenRow fields;

  private OpenOptions(OpenRow fields) {
    this.fields = fields;
  }

  /**
   * Begins with nothing said.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Makes options. */
  public static final class Builder {
    private final OpenRow.Builder fields = OpenRow.newBuilder();

    private Builder() {}

    /**
     * Tokens the row has taken already, on another stream.
     *
     * @param tokens in order
     * @return this
     */
    public Builder tokens(int... tokens) {
      for (int token : tokens) {
        fields.addTokens(token);
      }
      return this;
    }

    /**
     * Ids that end the row's text, in place of the tokenizer's own.
     *
     * @param ids of the vocabulary
     * @return this
     */
    public Builder stopIds(int... ids) {
      for (int id : ids) {
        fields.addStopIds(id);
      }
      return this;
    }

    /**
     * Free text before the grammar begins.
     *
     * @param gate where it ends
     * @return this
     */
    public Builder reasoning(ReasoningGate gate) {
      fields.setReasoning(gate);
      return this;
    }

    /**
     * Tokens of the text before which it may not end.
     *
     * @param count of tokens
     * @return this
     */
    public Builder minTokens(int count) {
      fields.setMinTokens(count);
      return this;
    }

    /**
     * Tokens that the row may still produce; its text is complete within them.
     *
     * @param count of tokens, the end included
     * @return this
     */
    public Builder remainingTokens(int count) {
      fields.setRemainingTokens(count);
      return this;
    }

    /**
     * Temperature of the row's text. Needs {@link StreamOptions.Builder#wantTemperature}.
     *
     * @param value 0: the greatest logit is to be taken
     * @return this
     */
    public Builder temperature(float value) {
      fields.setTemperature(value);
      return this;
    }

    /**
     * Numbers to add to logits of the row's text. Needs {@link StreamOptions.Builder#wantBias}.
     *
     * @param biases by token
     * @return this
     */
    public Builder biases(Map<Integer, Float> biases) {
      biases.forEach((id, bias) -> fields.addBiases(LogitBias.newBuilder().setId(id).setBias(bias)));
      return this;
    }

    /**
     * Whether the row's replies say what its text says, as {@link Row#answer}. For grammars of kind "chat".
     *
     * @param wantAnswer whether they do
     * @return this
     */
    public Builder wantAnswer(boolean wantAnswer) {
      fields.setWantAnswer(wantAnswer);
      return this;
    }

    /**
     * Whether the row is only read: nothing is masked, any token is taken, and its replies say what its text says.
     * For grammars of kind "chat".
     *
     * @param observe whether it is
     * @return this
     */
    public Builder observe(boolean observe) {
      fields.setObserve(observe);
      return this;
    }

    /**
     * Makes the options.
     *
     * @return the options
     */
    public OpenOptions build() {
      return new OpenOptions(fields.build());
    }
  }
}
