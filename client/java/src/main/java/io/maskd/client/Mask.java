package io.maskd.client;

import io.grpc.Status;
import io.maskd.v1.LogitBias;
import java.util.Arrays;
import java.util.List;

/**
 * The set of tokens that may come next at one position.
 *
 * <p>Bit t % 32, least significant first, of word t / 32 is token t, 1 means allowed; bits past the vocabulary are
 * 0. A plain value: it stays as it is for as long as it is kept.
 */
public final class Mask {
  /** How a mask came, the two forms that speak of the dictionary being read as what it holds. */
  public enum Form {
    /** Masks nothing: the row has finished, or is free. */
    FULL,
    /** No mask: a draft on the way to this position was refused. */
    INVALID,
    /** Words only. */
    DENSE,
    /** Exactly the ids are allowed. */
    ALLOWED_IDS,
    /** All of the vocabulary but the ids are allowed. */
    FORBIDDEN_IDS
  }

  private static final int[] NO_IDS = {};

  private final Form form;
  private final int vocabSize;
  private final int wordCount;
  private final int[] ids;
  private volatile int[] words; // null: to be made of the ids
  private final Float temperature;
  private final List<LogitBias> biases;

  private Mask(
      Form form, int vocabSize, int wordCount, int[] ids, int[] words, Float temperature, List<LogitBias> biases) {
    this.form = form;
    this.vocabSize = vocabSize;
    this.wordCount = wordCount;
    this.ids = ids;
    this.words = words;
    this.temperature = temperature;
    this.biases = biases;
  }

  static Mask without(Form form, int vocabSize, int wordCount) {
    return new Mask(form, vocabSize, wordCount, NO_IDS, null, null, List.of());
  }

  static Mask list(Form form, int vocabSize, int wordCount, int[] ids) {
    return new Mask(form, vocabSize, wordCount, ids, null, null, List.of());
  }

  static Mask dense(int vocabSize, int[] words) {
    return new Mask(Form.DENSE, vocabSize, words.length, NO_IDS, words, null, List.of());
  }

  Mask tuned(Float newTemperature, List<LogitBias> newBiases) {
    return new Mask(form, vocabSize, wordCount, ids, words, newTemperature, newBiases);
  }

  /**
   * Says how the mask came.
   *
   * @return the form
   */
  public Form form() {
    return form;
  }

  /**
   * Says whether there is nothing to mask.
   *
   * @return true where the row has finished, or is free
   */
  public boolean isFull() {
    return form == Form.FULL;
  }

  /**
   * Says whether there is no mask.
   *
   * @return true where a draft on the way here was refused
   */
  public boolean isInvalid() {
    return form == Form.INVALID;
  }

  /**
   * Lists the tokens of the two forms that are lists.
   *
   * @return a copy, ascending; empty for the other forms
   */
  public int[] ids() {
    return ids.clone();
  }

  /**
   * Says what the allowed logits are to be divided by.
   *
   * @return 0: the greatest is to be taken; null: the engine's own
   */
  public Float temperature() {
    return temperature;
  }

  /**
   * Says what is to be added to logits before that.
   *
   * @return ids ascending, all of them allowed
   */
  public List<LogitBias> biases() {
    return biases;
  }

  /**
   * Gives the packed words, whatever the form.
   *
   * @return a copy; null where the mask is full or invalid
   */
  public int[] words() {
    if (isFull() || isInvalid()) {
      return null;
    }
    return own().clone();
  }

  /** The words, made once. */
  int[] own() {
    int[] made = words;
    if (made == null) {
      made = new int[wordCount];
      expand(made, 0);
      words = made;
    }
    return made;
  }

  /**
   * Writes the words to a row of an engine's own bitmask: words past the mask become 0, and all bits 1 where the
   * mask is full.
   *
   * @param bitmask the engine's memory
   * @param first index of the row's first word
   * @param rowWords words of the row
   * @throws MaskdException INVALID_ARGUMENT (the row is too short), FAILED_PRECONDITION (the mask is invalid), nothing
   *     being written
   */
  public void copyTo(int[] bitmask, int first, int rowWords) {
    checkRoom(rowWords);
    if (first < 0 || rowWords > bitmask.length - first) {
      throw new MaskdException(
          Status.Code.INVALID_ARGUMENT, rowWords + " words from " + first + " on are more than " + bitmask.length);
    }
    if (isFull()) {
      Arrays.fill(bitmask, first, first + rowWords, -1);
      return;
    }
    int[] made = words;
    if (made == null) {
      expand(bitmask, first);
    } else {
      System.arraycopy(made, 0, bitmask, first, wordCount);
    }
    Arrays.fill(bitmask, first + wordCount, first + rowWords, 0);
  }

  void checkRoom(int rowWords) {
    if (isInvalid()) {
      throw noMask();
    }
    if (!isFull() && rowWords < wordCount) {
      throw new MaskdException(
          Status.Code.INVALID_ARGUMENT,
          "a row of " + rowWords + " words is too short for a mask of " + wordCount);
    }
  }

  /**
   * Masks one row of logits in place: those of tokens that are not allowed, and those past the vocabulary, become
   * minus infinity; biases are added and temperatures divided by first, where the mask carries them. Full does
   * nothing.
   *
   * @param logits the row
   * @throws MaskdException INVALID_ARGUMENT (fewer logits than the vocabulary has tokens), FAILED_PRECONDITION (the
   *     mask is invalid), nothing being written
   */
  public void apply(float[] logits) {
    if (isFull()) {
      return;
    }
    if (isInvalid()) {
      throw noMask();
    }
    if (logits.length < vocabSize) {
      throw new MaskdException(
          Status.Code.INVALID_ARGUMENT,
          logits.length + " logits are fewer than the vocabulary's " + vocabSize + " tokens");
    }
    tune(logits);
    Arrays.fill(logits, vocabSize, logits.length, Float.NEGATIVE_INFINITY);
    if (form == Form.FORBIDDEN_IDS) {
      for (int id : ids) {
        logits[id] = Float.NEGATIVE_INFINITY;
      }
    } else {
      applyWords(own(), logits, vocabSize);
    }
  }

  private void tune(float[] logits) {
    for (LogitBias bias : biases) {
      logits[bias.getId()] += bias.getBias();
    }
    if (temperature != null && temperature != 0 && temperature != 1) {
      for (int i = 0; i < vocabSize; ++i) {
        logits[i] /= temperature;
      }
    }
  }

  /** Writes the words of a list. */
  private void expand(int[] into, int first) {
    if (form == Form.ALLOWED_IDS) {
      Arrays.fill(into, first, first + wordCount, 0);
      for (int id : ids) {
        into[first + (id >>> 5)] |= 1 << (id & 31);
      }
      return;
    }
    int whole = vocabSize >>> 5;
    Arrays.fill(into, first, first + whole, -1);
    Arrays.fill(into, first + whole, first + wordCount, 0);
    if ((vocabSize & 31) != 0) {
      into[first + whole] = (1 << (vocabSize & 31)) - 1;
    }
    for (int id : ids) {
      into[first + (id >>> 5)] &= ~(1 << (id & 31));
    }
  }

  /** Walks over the forbidden tokens of each word; most words are all or nothing. */
  private static void applyWords(int[] words, float[] logits, int vocabSize) {
    for (int first = 0; first < vocabSize; first += 32) {
      int word = words[first >>> 5];
      if (word == 0) {
        Arrays.fill(logits, first, Math.min(first + 32, vocabSize), Float.NEGATIVE_INFINITY);
        continue;
      }
      for (int forbidden = ~word; forbidden != 0; forbidden &= forbidden - 1) {
        int token = first + Integer.numberOfTrailingZeros(forbidden);
        if (token >= vocabSize) {
          break;
        }
        logits[token] = Float.NEGATIVE_INFINITY;
      }
    }
  }

  private static MaskdException noMask() {
    return new MaskdException(
        Status.Code.FAILED_PRECONDITION, "there is no mask: a draft before it was refused");
  }
}
