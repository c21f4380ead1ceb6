/** `*` matches within a segment, `**` any number of segments. Time is bounded by pattern × path. */
export function matchesGlob(pattern: string, path: string): boolean {
  // `**/**` equals `**`.
  const parts = pattern.split("/").filter((part, at, all) => part !== "**" || all[at - 1] !== "**");
  const segments = path.split("/");
  // reach[s]: the parts so far can match the first s segments.
  let reach = segments.map(() => false);
  reach = [true, ...reach];
  for (const part of parts) {
    const next = reach.map(() => false);
    for (let taken = 0; taken <= segments.length; taken += 1) {
      const segment = segments[taken - 1];
      if (part === "**") next[taken] = Boolean(reach[taken]) || Boolean(next[taken - 1]);
      else if (segment !== undefined && reach[taken - 1]) next[taken] = matchesSegment(part, segment);
    }
    reach = next;
  }
  return reach[segments.length] === true;
}

function matchesSegment(part: string, segment: string): boolean {
  const [first = "", ...others] = part.split("*");
  const last = others.pop();
  if (last === undefined) return part === segment;
  if (!segment.startsWith(first) || segment.length < first.length + last.length || !segment.endsWith(last))
    return false;
  let at = first.length;
  for (const piece of others) {
    const found = segment.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return at <= segment.length - last.length;
}
