// Which servers there are behind an address.

import {lookup} from "node:dns/promises";
import {isIP} from "node:net";

/** Gives the servers of an address. */
export type Resolve = (address: string) => Promise<readonly string[]>;

/** How long an answer of DNS is waited for. */
const ANSWER_MS = 2_000;

/** Host and port of an address by which DNS may know more servers than one; else undefined. */
export function nameOf(address: string): {host: string; port: string} | undefined {
  const rest = address.replace(/^dns:(\/\/\/)?/, "");
  const [, host = "", port = ""] = /^([^:/@[]+):([^:/@]+)$/.exec(rest) ?? [];
  return host === "" || host === "unix" || isIP(host) !== 0 ? undefined : {host, port};
}

/** Each server with the name that it was found by, to which TLS holds it: "10.0.0.7:7411@maskd". */
export const resolveByDns: Resolve = async (address) => {
  const name = nameOf(address);
  if (name === undefined) return [address];
  const found = await lookup(name.host, {all: true});
  return found.map(({address: server, family}) =>
      `${family === 6 ? `[${server}]` : server}:${name.port}@${name.host}`);
};

/** The servers of all addresses, ascending; one that cannot be resolved stands for itself. */
export async function serversOf(addresses: readonly string[], resolve: Resolve): Promise<string[]> {
  const found = await Promise.all(addresses.map(async (address) => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<readonly string[]>((done) => {
      timer = setTimeout(done, ANSWER_MS, [address]);
    });
    try {
      return await Promise.race([resolve(address), late]);
    } catch {
      return [address];
    } finally {
      clearTimeout(timer);
    }
  }));
  return [...new Set(found.flat())].sort();
}
