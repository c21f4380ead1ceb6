import { randomBytes } from "node:crypto";

const digits = "0123456789abcdefghijkmnpqrstuvwxyz"; // no l, o: read aloud without doubt
const timeLength = 9;
const randomLength = 14;

/** An opaque, URL-safe id that sorts by creation: `<prefix>_<milliseconds><random>`. */
export function newId(prefix: "prj" | "job" | "whk" | "ctx" | "usr" | "cmt" | "gat" | "isr", now = Date.now()): string {
  let time = "";
  for (let rest = now; time.length < timeLength; rest = Math.floor(rest / digits.length)) {
    time = digits[rest % digits.length] + time;
  }
  return `${prefix}_${time}${randomDigits(randomLength)}`;
}

function randomDigits(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      // Larger bytes would favor the first digits.
      if (byte < 238 && text.length < length) text += digits[byte % digits.length];
    }
  }
  return text;
}
