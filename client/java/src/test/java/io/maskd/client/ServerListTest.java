package io.maskd.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ServerListTest {
  private final AtomicLong now = new AtomicLong();
  private final ServerList servers = new ServerList(List.of("a", "b", "c"), now::get);

  private void refuse(String address, int seconds) {
    Duration after = Duration.ofSeconds(seconds);
    servers.note(address, new MaskdException(Status.Code.RESOURCE_EXHAUSTED, "full", "", "", after, null));
  }

  @Test
  void serversThatRefuseForLoadAreLeftAloneForAsLongAsTheySay() {
    servers.goOn();
    refuse("b", 3);
    servers.note("c", new MaskdException(Status.Code.UNAVAILABLE, "gone"));
    assertEquals(List.of("c", "a"), servers.toAsk());
    assertNull(servers.first(), "a and c have said nothing");
    refuse("a", 2);
    refuse("c", 4);
    assertEquals(TimeUnit.SECONDS.toNanos(2), servers.first().untilNanos());
    now.set(TimeUnit.SECONDS.toNanos(2));
    assertEquals(List.of("a"), servers.toAsk());
  }
}
