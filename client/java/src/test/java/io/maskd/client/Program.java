package io.maskd.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** A process of a test, and the address that it serves. */
record Program(Path path, Process process) {
  String address() {
    return "unix:" + path;
  }

  void signal(String name) throws Exception {
    assertEquals(0, new ProcessBuilder("kill", "-s", name, "" + process.pid()).start().waitFor());
  }

  /** Halts the process, and waits until each of its threads stands. */
  void stop() throws Exception {
    signal("STOP");
    for (int i = 0; i < 2000; ++i) {
      boolean stands = true;
      try (var tasks = Files.newDirectoryStream(Path.of("/proc/" + process.pid() + "/task"))) {
        for (Path task : tasks) {
          stands &= Files.readString(task.resolve("stat")).contains(") T ");
        }
      }
      if (stands) {
        return;
      }
      Thread.sleep(1);
    }
    throw new AssertionError("the server does not stand still");
  }

  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  MaskdClient connect() {
    return MaskdClient.connect(address(), ConnectOptions.builder().waitForServer(Duration.ofSeconds(20)).build());
  }

  MaskStream open() {
    try (MaskdClient client = connect()) {
      return client.openStream(StreamOptions.builder(InteropTest.WIDTH).build());
    }
  }
}
