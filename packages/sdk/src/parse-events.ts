/** One event of a stream; fields that nobody here needs are left out. */
export interface StreamEvent {
  id: string | null;
  data: string;
}

/**
 * Reads server-sent events from a body, as the HTML standard has them. Yields null for each piece that held no whole
 * event, so that the reader sees signs of life.
 */
export async function* parseEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<StreamEvent | null, void, undefined> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = "";
  let id: string | null = null;
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      yield null;
      for (const line of lines) {
        const [, name = "", text = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
        if (name === "id") id = text;
        else if (name === "data") data.push(text);
        else if (line === "") {
          if (data.length > 0) yield { id, data: data.join("\n") };
          data = [];
        }
      }
    }
  } finally {
    // Whoever stops early closes the connection; one that is broken already has nothing left to close.
    reader.cancel().catch(() => {});
  }
}
