package io.maskd.client;

import io.maskd.v1.Document;
import io.maskd.v1.Grammar;
import io.maskd.v1.GrammarOptions;
import java.util.List;

/** Which grammar: one compiled before, by its id, or one by its text. */
public final class Target {
  private final String id;
  private final Grammar grammar;

  private Target(String id, Grammar grammar) {
    this.id = id;
    this.grammar = grammar;
  }

  /**
   * Names a grammar compiled before.
   *
   * @param grammarId 64 lower-case hexadecimal digits
   * @return the target
   */
  public static Target id(String grammarId) {
    return new Target(grammarId, null);
  }

  /**
   * Names a grammar by its text, of any kind that the server has.
   *
   * @param kind the front end that reads the source, such as "json_schema"
   * @param source the text
   * @return the target
   */
  public static Target text(String kind, String source) {
    return new Target(null, Grammar.newBuilder().setKind(kind).setSource(source).build());
  }

  /**
   * The JSON texts that a schema takes.
   *
   * @param schema the schema
   * @return the target
   */
  public static Target jsonSchema(String schema) {
    return text("json_schema", schema);
  }

  /**
   * All JSON objects.
   *
   * @return the target
   */
  public static Target jsonObject() {
    return text("json_object", "");
  }

  /**
   * The texts that a regular expression matches as a whole.
   *
   * @param pattern the regular expression
   * @return the target
   */
  public static Target regex(String pattern) {
    return text("regex", pattern);
  }

  /**
   * One of the strings of a JSON array.
   *
   * @param jsonArray the array
   * @return the target
   */
  public static Target choice(String jsonArray) {
    return text("choice", jsonArray);
  }

  /**
   * The same grammar with options, which are a part of its meaning.
   *
   * @param options of the grammar
   * @return the target
   * @throws IllegalStateException if the target is an id
   */
  public Target withOptions(GrammarOptions options) {
    return new Target(null, own().toBuilder().setOptions(options).build());
  }

  /**
   * The same schema with what its references may lead to.
   *
   * @param documents each under its address
   * @return the target
   * @throws IllegalStateException if the target is an id
   */
  public Target withDocuments(List<Document> documents) {
    return new Target(null, own().toBuilder().addAllDocuments(documents).build());
  }

  private Grammar own() {
    if (grammar == null) {
      throw new IllegalStateException("an id has its options already");
    }
    return grammar;
  }

  boolean isId() {
    return id != null;
  }

  String id() {
    return id;
  }

  Grammar grammar() {
    return own();
  }
}
