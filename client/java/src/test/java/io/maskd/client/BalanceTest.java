package io.maskd.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.maskd.v1.CompileRequest;
import io.maskd.v1.RowState;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Holds the client to what all clients that spread agree on: tests/interop/spread.json. */
class BalanceTest {
  private static final class Spread {
    List<Places> places;
    List<OldFigures> oldFigures;
    List<Pace> pace;
    List<String> names;
    List<String> servers;
  }

  private static final class Places {
    int[] streams;
    List<List<Integer>> moves;
  }

  private static final class OldFigures {
    int[] streams;
    int own;
    int rank;
    Integer place;
  }

  private static final class Pace {
    String event;
    boolean soon;
  }

  private final Spread spread = Cases.load("spread.json", Spread.class);

  @Test
  void streamsGoWhereAllClientsSay() {
    assertTrue(spread.places.size() > 10);
    for (Places each : spread.places) {
      List<List<Integer>> said = new ArrayList<>();
      for (int own = 0; own < each.streams.length; ++own) {
        for (int rank = 1; rank <= each.streams[own]; ++rank) {
          int place = Balance.placeToGo(each.streams, own, rank);
          if (place != Balance.STAYS) {
            said.add(List.of(own, rank, place));
          }
        }
      }
      assertEquals(each.moves, said, Arrays.toString(each.streams));
    }
    for (OldFigures each : spread.oldFigures) {
      int place = each.place == null ? Balance.STAYS : each.place;
      assertEquals(place, Balance.placeToGo(each.streams, each.own, each.rank), Arrays.toString(each.streams));
    }
  }

  @Test
  void looksComeSoonerWhereSomethingHasHappened() {
    Balance.LookPace pace = new Balance.LookPace(4000);
    for (Pace each : spread.pace) {
      if (each.event.equals("came")) {
        pace.came();
      } else if (!each.event.equals("start")) {
        pace.looked(each.event.equals("uneven"));
      }
      long most = each.soon ? 500 : 4000;
      long next = pace.nextMs();
      assertTrue(next >= most / 2 && next <= most, each.event + " " + next);
    }
  }

  @Test
  void namesAreToldFromServers() {
    spread.names.forEach(name -> assertNotNull(Names.match(name), name));
    spread.servers.forEach(server -> assertNull(Names.match(server), server));
  }

  @Test
  void aServerThatSaysNothingComesLast() {
    Balance.Loads loads = new Balance.Loads(List.of("a", "c"), new int[] {3, 1}, 3);
    assertEquals(List.of("c", "a", "b"), loads.leastFirst(List.of("a", "b", "c")));
    assertTrue(loads.isUneven());
    assertEquals("c", loads.placeFor("a"));
    assertNull(loads.placeFor("b"));
  }

  @Test
  void anAddressThatCannotBeResolvedStandsForItself() {
    Resolver resolver =
        address -> {
          if (address.equals("none")) {
            throw new IOException("no such name");
          }
          return List.of("b", "a");
        };
    assertEquals(List.of("a", "b", "none"), Names.serversOf(List.of("some", "none"), resolver));
  }

  private static Row compiling(long id, String grammarId) {
    return new Row(
        id, RowState.ROW_STATE_COMPILING, List.of(), null, null, 0, false, grammarId, null, ByteString.EMPTY,
        List.of(), List.of(), null);
  }

  @Test
  void aMoveCompilesEachGrammarOnce() {
    RowLedger ledger = new RowLedger();
    Step step = new Step().open(1, Target.regex("a")).open(2, Target.regex("a")).open(3, Target.id("id"));
    ledger.apply(step.takeMessage(), List.of(compiling(1, "g1"), compiling(2, "g1"), compiling(3, "id")));
    assertFalse(ledger.isSettled());
    ledger.grammars.put("id", Target.regex("b").grammar());
    List<CompileRequest> requests = ledger.compileRequests("llama");
    assertEquals(List.of("a", "b"), requests.stream().map(each -> each.getGrammar().getSource()).toList());
    assertEquals("llama", requests.get(0).getTokenizer());
  }
}
