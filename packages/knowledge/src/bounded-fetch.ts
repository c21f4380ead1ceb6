type Fetch = typeof globalThis.fetch;

/** The reason why a server cannot be asked, in words that continue "the server". */
export class KnowledgeFault extends Error {
  constructor(words: string, options?: ErrorOptions) {
    super(words, options);
    this.name = "KnowledgeFault";
  }
}

const answerBytesMax = 4 * 2 ** 20;

/** A fetch for a server that nobody vouches for. It follows no redirect, and reads no more than a limit of each answer. */
export function boundedFetch(
  fetch: Fetch,
  /** A client may swallow the fault of a stream. */
  onFault: (fault: KnowledgeFault) => void,
  bytesMax = answerBytesMax,
): Fetch {
  const fail = (words: string): never => {
    const fault = new KnowledgeFault(words);
    onFault(fault);
    throw fault;
  };
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: "manual" });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      fail("redirects to another address, which Emend does not follow");
    }
    if (response.body === null) return response;
    let bytes = 0;
    const bounded = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.length;
          if (bytes > bytesMax) fail(`sent more than ${bytesMax / 2 ** 20} MiB`);
          controller.enqueue(chunk);
        },
      }),
    );
    const { status, statusText, headers } = response;
    return new Response(bounded, { status, statusText, headers });
  };
}
