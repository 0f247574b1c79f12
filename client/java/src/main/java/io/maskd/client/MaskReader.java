package io.maskd.client;

import com.google.protobuf.ByteString;
import io.maskd.v1.LogitBias;
import io.maskd.v1.MaskDelta;
import io.maskd.v1.Position;
import io.maskd.v1.Welcome;
import java.nio.ByteOrder;
import java.util.List;

/**
 * Reads the masks of a stream's replies, in every row form, and keeps the stream's dictionary.
 *
 * <p>Every reply passes through it, in order. Nothing that a server sends is trusted: ids, slots and indices are
 * checked before they are used; what is not as the protocol says is INTERNAL. Words are made by copying.
 */
final class MaskReader {
  private final int vocabSize;
  private final int wordCount;
  private final Mask[] dictionary; // null: nothing put there yet

  MaskReader(Welcome welcome) {
    vocabSize = welcome.getTokenizer().getVocabSize();
    wordCount = welcome.getMaskWords();
    dictionary = new Mask[welcome.getDictionarySize()];
  }

  Mask read(Position position) {
    Mask mask = readForm(position);
    if (position.hasDictionarySlot()) {
      put(position.getDictionarySlot(), mask);
    }
    if (!position.hasTemperature() && position.getBiasesCount() == 0) {
      return mask;
    }
    checkTuning(position);
    return mask.tuned(position.hasTemperature() ? position.getTemperature() : null, position.getBiasesList());
  }

  private Mask readForm(Position position) {
    return switch (position.getFormCase()) {
      case FULL -> Mask.without(Mask.Form.FULL, vocabSize, wordCount);
      case INVALID -> Mask.without(Mask.Form.INVALID, vocabSize, wordCount);
      case DENSE -> readDense(position.getDense());
      case SAME_AS -> find(position.getSameAs());
      case ALLOWED_IDS -> readIds(Mask.Form.ALLOWED_IDS, position.getAllowedIds().getIdsList());
      case FORBIDDEN_IDS -> readIds(Mask.Form.FORBIDDEN_IDS, position.getForbiddenIds().getIdsList());
      case DELTA -> readDelta(position.getDelta());
      default -> throw MaskdException.internal("a position of a form that was not offered to the server");
    };
  }

  private Mask readDense(ByteString bytes) {
    if (bytes.size() != 4 * wordCount) {
      throw MaskdException.internal(
          "a mask of " + bytes.size() + " bytes where " + wordCount + " words are due");
    }
    int[] words = new int[wordCount];
    bytes.asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(words);
    return Mask.dense(vocabSize, words);
  }

  private Mask readIds(Mask.Form form, List<Integer> list) {
    int[] ids = new int[list.size()];
    int before = -1;
    for (int i = 0; i < ids.length; ++i) {
      int id = list.get(i);
      if (id <= before || id >= vocabSize) {
        throw MaskdException.internal(
            "id " + id + " in a list for " + vocabSize + " tokens does not ascend or is none of them");
      }
      ids[i] = before = id;
    }
    return Mask.list(form, vocabSize, wordCount, ids);
  }

  private Mask readDelta(MaskDelta delta) {
    Mask base = find(delta.getBase());
    if (delta.getWordIndicesCount() != delta.getWordsCount()) {
      throw MaskdException.internal(
          "a delta of " + delta.getWordIndicesCount() + " indices and " + delta.getWordsCount() + " words");
    }
    int[] words = base.own().clone();
    for (int i = 0; i < delta.getWordsCount(); ++i) {
      int index = delta.getWordIndices(i);
      if (Integer.compareUnsigned(index, wordCount) >= 0) {
        throw MaskdException.internal(
            "a delta changes word " + Integer.toUnsignedString(index) + " of " + wordCount);
      }
      words[index] = delta.getWords(i);
    }
    return Mask.dense(vocabSize, words);
  }

  private Mask find(int slot) {
    Mask found = Integer.compareUnsigned(slot, dictionary.length) < 0 ? dictionary[slot] : null;
    if (found == null) {
      throw MaskdException.internal(
          "slot " + Integer.toUnsignedString(slot) + " of a dictionary of " + dictionary.length + " holds no mask");
    }
    return found;
  }

  private void put(int slot, Mask mask) {
    if (Integer.compareUnsigned(slot, dictionary.length) >= 0 || mask.isFull() || mask.isInvalid()) {
      throw MaskdException.internal(
          "slot " + Integer.toUnsignedString(slot) + " of a dictionary of " + dictionary.length
              + " cannot hold what it is told");
    }
    mask.own(); // a list that comes again and again is expanded once
    dictionary[slot] = mask;
  }

  private void checkTuning(Position position) {
    float temperature = position.getTemperature();
    if (!Float.isFinite(temperature) || temperature < 0) {
      throw MaskdException.internal("a temperature of " + temperature);
    }
    int before = -1;
    for (LogitBias bias : position.getBiasesList()) {
      if (bias.getId() <= before || bias.getId() >= vocabSize || !Float.isFinite(bias.getBias())) {
        throw MaskdException.internal(
            "a bias of " + bias.getBias() + " for token " + bias.getId() + " is not finite, or its token none of "
                + vocabSize + " in ascending order");
      }
      before = bias.getId();
    }
  }
}
