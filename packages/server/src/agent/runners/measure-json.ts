export interface JsonSize {
  /** What a parser makes of it: lists, objects and what stands in them. */
  nodes: number;
  depth: number;
}

const [quote, backslash, comma, openList, closeList, openObject, closeObject] = Buffer.from('"\\,[]{}');

/** How much a text of JSON becomes once it is parsed: a few bytes of it can be a hundred of memory. Parses nothing. */
export function measureJson(bytes: Uint8Array): JsonSize {
  let nodes = 0;
  let depth = 0;
  let deepest = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (isText) {
      if (byte === backslash) at += 1;
      else if (byte === quote) isText = false;
    } else if (byte === quote) isText = true;
    else if (byte === comma) nodes += 1;
    else if (byte === openList || byte === openObject) {
      nodes += 1;
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (byte === closeList || byte === closeObject) depth -= 1;
  }
  return { nodes, depth: deepest };
}
