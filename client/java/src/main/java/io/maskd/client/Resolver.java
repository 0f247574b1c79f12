package io.maskd.client;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Gives the servers of an address. */
@FunctionalInterface
public interface Resolver {
  /**
   * Gives the servers.
   *
   * @param address one of a stream's options
   * @return their addresses
   * @throws IOException if they cannot be found: the address then stands for itself
   */
  List<String> servers(String address) throws IOException;

  /**
   * Asks DNS for the servers of a name. Each has the name that it was found by, to which TLS holds it:
   * "10.0.0.7:7411@maskd".
   *
   * @return the default
   */
  static Resolver dns() {
    return address -> {
      Matcher name = Names.match(address);
      if (name == null) {
        return List.of(address);
      }
      List<String> found = new ArrayList<>();
      for (InetAddress each : InetAddress.getAllByName(name.group(1))) {
        String host = each.getHostAddress();
        found.add((host.contains(":") ? "[" + host + "]" : host) + ":" + name.group(2) + "@" + name.group(1));
      }
      return found;
    };
  }
}

/** Which addresses are names. */
final class Names {
  private static final Pattern NAME = Pattern.compile("(?:dns:(?:///)?)?([^:/@\\[]+):([^:/@]+)");
  private static final Pattern NUMBER = Pattern.compile("\\d+(\\.\\d+){3}");

  private Names() {}

  /** Host and port of an address by which DNS may know more servers than one; else null. */
  static Matcher match(String address) {
    Matcher name = NAME.matcher(address);
    boolean isName =
        name.matches() && !name.group(1).equals("unix") && !NUMBER.matcher(name.group(1)).matches();
    return isName ? name : null;
  }

  /** The servers of all addresses, ascending; one that cannot be resolved stands for itself. */
  static List<String> serversOf(List<String> addresses, Resolver resolver) {
    TreeSet<String> servers = new TreeSet<>();
    for (String address : addresses) {
      try {
        servers.addAll(resolver.servers(address));
      } catch (IOException error) {
        servers.add(address);
      }
    }
    return List.copyOf(servers);
  }
}
