import type { ServerResponse } from "node:http";
import { type Readable, Transform } from "node:stream";

/** What strangers may have this process hold, all together, before it knows who they are. */
export interface ByteBudget {
  /**
   * The body as it comes. It ends in an error where all bodies together pass the bound, or where it takes too long to arrive;
   * `refusal` makes that error. What it took is given back when the response is over.
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
      // A request from within this process knows no close.
      response.once("finish", giveBack).once("close", giveBack);
      body.once("error", (error) => passed.destroy(error));
      return body.pipe(passed);
    },
  };
}
