import { makePng } from "@emend/testkit/pictures.ts";
import { describe, expect, test } from "vitest";
import { cleanPicture } from "./clean-picture.ts";

const secret = "48.137 N 11.575 E";
const segment = (marker: number, data: Buffer) => {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(marker, 0);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
};
const frame = Buffer.from([8, 0, 30, 0, 40, 1, 1, 0x11, 0]);
const jpeg = Buffer.concat([
  Buffer.from([0xff, 0xd8]),
  segment(0xffe1, Buffer.from(`Exif\0\0${secret}`)),
  segment(0xfffe, Buffer.from(secret)),
  segment(0xffdb, Buffer.alloc(65)),
  segment(0xffc0, frame),
  segment(0xffda, Buffer.from([1, 1, 0, 0, 63, 0])),
  Buffer.from([1, 2, 0xff, 0, 3, 0xff, 0xd0, 4]),
  Buffer.from([0xff, 0xd9]),
]);

const block = (name: string, data: Buffer) => {
  const head = Buffer.alloc(8);
  head.write(name, "latin1");
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
};
function webp(flags: number): Buffer {
  const extended = Buffer.from([flags, 0, 0, 0, 39, 0, 0, 29, 0, 0]);
  const body = Buffer.concat([
    block("VP8X", extended),
    block("VP8 ", Buffer.alloc(20)),
    block("EXIF", Buffer.from(secret)),
  ]);
  const head = Buffer.from("RIFF\0\0\0\0WEBP", "latin1");
  head.writeUInt32LE(body.length + 4, 4);
  return Buffer.concat([head, body]);
}

const pictures = [
  { type: "image/png", width: 4, height: 3, bytes: makePng({ words: secret }) },
  { type: "image/jpeg", width: 40, height: 30, bytes: jpeg },
  { type: "image/webp", width: 40, height: 30, bytes: webp(0x18) },
];

describe.each(pictures)("$type", ({ bytes, ...shape }) => {
  test("keeps what shows it, and nothing of where it was taken or of what is behind it", () => {
    expect(bytes.includes(secret)).toBe(true);
    const cleaned = cleanPicture(Buffer.concat([bytes, Buffer.from(secret)]));
    if (cleaned === null || cleaned === "too large") throw new Error("refused");
    expect(cleaned).toMatchObject(shape);
    expect(cleaned.bytes.includes("48.137")).toBe(false);
    expect(cleanPicture(cleaned.bytes)).toEqual(cleaned);
  });

  test("is refused where it ends early, at any byte", () => {
    const whole = cleanPicture(bytes);
    for (let end = 0; end < bytes.length; end += 1) {
      const cut = cleanPicture(bytes.subarray(0, end));
      // Metadata at the end may be cut off.
      if (cut !== null) expect(cut).toEqual(whole);
    }
    expect(cleanPicture(bytes.subarray(0, 30))).toBeNull();
  });
});

test("what is no picture, moves, or has more pixels than anybody looks at is refused", () => {
  expect(cleanPicture(Buffer.from("<svg onload='alert(1)'/>"))).toBeNull();
  expect(cleanPicture(Buffer.alloc(0))).toBeNull();
  expect(cleanPicture(webp(0x02))).toBeNull();
  expect(cleanPicture(makePng({ width: 30_000, height: 2 }))).toBe("too large");
  expect(cleanPicture(makePng({ width: 10_000, height: 10_000 }))).toBe("too large");
  const wrong = makePng();
  wrong.writeUInt32BE(9, 16);
  expect(cleanPicture(wrong)).toBeNull();
});
