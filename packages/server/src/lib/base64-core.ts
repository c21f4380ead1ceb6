/** The characters that stand in base64 for these bytes alone, with so many bytes before them in their group of three. */
export function base64Core(bytes: Buffer, lead: number): string {
  const encoded = Buffer.concat([Buffer.alloc(lead), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  const isPartial = (lead + bytes.length) % 3 !== 0;
  return encoded.slice(lead === 0 ? 0 : lead + 1, isPartial ? -1 : undefined);
}
