// A message there and back; the service's client is there.
import { CheckRequest } from "./maskd/v1/compile_service.js";
import { MaskServiceClient } from "./maskd/v1/mask_service.js";

const sent = CheckRequest.fromPartial({ rawText: Buffer.from([255]) });
const read = CheckRequest.decode(CheckRequest.encode(sent).finish());
if (read.rawText?.[0] !== 255 || typeof MaskServiceClient !== "function") {
  throw new Error("the message is not what was sent");
}
