// The clock of the day jumps during a call; its time goes on.

import assert from "node:assert/strict";
import {mock, test} from "node:test";

import {Server, ServerCredentials, type ServiceError, status, type UntypedHandleCall} from "@grpc/grpc-js";

import {GetTokenizerResponse, TokenizerServiceService} from "../src/gen/maskd/v1/tokenizer_service.js";
import {Client, Code, MaskdError} from "../src/index.js";

const HOUR_MS = 3_600_000;
const CALL_TIMEOUT_MS = 3_000;
/** Far above the time of a call, far below an hour. */
const PATIENCE_MS = 60_000;

/** With a tokenizer of which nothing is known. */
const ANSWER = GetTokenizerResponse.decode(Buffer.from([0x0a, 0]));

type Answer = (error: Partial<ServiceError> | null, response?: unknown) => void;

/** The address of a server that answers its n-th call by the n-th of these, later ones by the last. */
async function serve(answers: readonly ((answer: Answer) => void)[]): Promise<{server: Server; address: string}> {
  let calls = 0;
  const next = (_: unknown, answer: Answer): void => answers[Math.min(calls++, answers.length - 1)]!(answer);
  const unused: UntypedHandleCall = () => {};
  const server = new Server();
  server.addService(TokenizerServiceService, {getTokenizer: next, listTokenizers: unused, listTokens: unused});
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(),
        (error, bound) => error ? reject(error) : resolve(bound));
  });
  return {server, address: `127.0.0.1:${port}`};
}

for (const [name, jumpMs] of [["on", HOUR_MS], ["back", -HOUR_MS]] as const) {
  for (const isSilent of [false, true]) {
    test(`the clock jumps an hour ${name}, and then the server ${isSilent ? "is silent" : "answers"}`, async () => {
      const now = Date.now.bind(Date);
      let movedMs = 0;
      const clock = mock.method(Date, "now", () => now() + movedMs);
      const {server, address} = await serve([
        (answer) => {
          movedMs = jumpMs;
          answer({code: status.UNAVAILABLE, details: "once more"});
        },
        (answer) => isSilent || answer(null, ANSWER),
      ]);
      let timer: NodeJS.Timeout | undefined;
      try {
        const connected = Client.connect(address, {callTimeoutMs: CALL_TIMEOUT_MS}).then((client) => {
          client.close();
          return "answered";
        }, (error: MaskdError) => Code[error.code]);
        const late = new Promise((resolve) => {
          timer = setTimeout(resolve, PATIENCE_MS, "late");
        });
        assert.equal(await Promise.race([connected, late]), isSilent ? "DEADLINE_EXCEEDED" : "answered");
      } finally {
        clearTimeout(timer);
        clock.mock.restore();
        server.forceShutdown();
      }
    });
  }
}
