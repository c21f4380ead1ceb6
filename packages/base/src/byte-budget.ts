import type { ServerResponse } from "node:http";
import { type Readable, Transform } from "node:stream";

/** Limits the memory for request bodies of unauthenticated senders, for all of them together. */
export interface ByteBudget {
  /**
   * The body as a stream. It fails if all bodies together exceed the limit, or if it arrives too slowly; `refusal`
   * makes the error. The memory is released when the response ends.
   */
  spend(body: Readable, response: ServerResponse, refusal: () => Error): Readable;
}

export function createByteBudget({ bytesMax, bodyMsMax }: { bytesMax: number; bodyMsMax: number }): ByteBudget {
  let held = 0;
  return {
    spend(body, response, refusal) {
      let taken = 0;
      const passed = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          taken += chunk.length;
          held += chunk.length;
          if (held > bytesMax) done(refusal());
          else done(null, chunk);
        },
      });
      const late = setTimeout(() => passed.destroy(refusal()), bodyMsMax);
      const giveBack = () => {
        clearTimeout(late);
        held -= taken;
        taken = 0;
      };
      passed.once("end", () => clearTimeout(late));
      // An injected request has no close event.
      response.once("finish", giveBack).once("close", giveBack);
      body.once("error", (error) => passed.destroy(error));
      return body.pipe(passed);
    },
  };
}
