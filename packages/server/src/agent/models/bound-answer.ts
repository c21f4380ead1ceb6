import { AnswerTooLong } from "./read-answer.ts";

/** Far more than the longest answer with all that its protocol says around every few characters. */
const answerBytesMax = 64 * 2 ** 20;
/** Parsers hold a line until it ends; a whole page may stand in one, as an argument of a tool. */
const lineBytesMax = 8 * 2 ** 20;

/**
 * A fetch whose answers end in an error once they pass the bounds: below the stream's parser, whatever the protocol, since
 * that one would gather what never ends until the process has no memory left.
 */
export function boundAnswers(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    let bytes = 0;
    let line = 0;
    const bounded = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.length;
          const broken = chunk.lastIndexOf(10);
          line = broken === -1 ? line + chunk.length : chunk.length - broken - 1;
          if (bytes > answerBytesMax) throw new AnswerTooLong(answerBytesMax, "bytes");
          if (line > lineBytesMax) throw new AnswerTooLong(lineBytesMax, "bytes without a line break");
          controller.enqueue(chunk);
        },
      }),
    );
    const { status, statusText, headers } = response;
    return new Response(bounded, { status, statusText, headers });
  };
}
