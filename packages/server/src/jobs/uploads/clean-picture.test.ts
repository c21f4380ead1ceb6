import { crc32 } from "node:zlib";
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

describe("a photo", () => {
  /** Its metadata in either order of bytes, with a place behind it. */
  function exifWith(order: "II" | "MM", tag: number, turn: number): Buffer {
    const isLittle = order === "II";
    const view = new DataView(new ArrayBuffer(26));
    view.setUint16(0, order === "II" ? 0x4949 : 0x4d4d);
    for (const [at, value] of [
      [2, 42],
      [8, 1],
      [10, tag],
      [12, 3],
      [18, turn],
    ] as const)
      view.setUint16(at, value, isLittle);
    for (const [at, value] of [
      [4, 8],
      [14, 1],
    ] as const)
      view.setUint32(at, value, isLittle);
    return Buffer.concat([Buffer.from("Exif\0\0"), Buffer.from(view.buffer), Buffer.from(secret)]);
  }
  const photo = (exif: Buffer) => Buffer.concat([jpeg.subarray(0, 2), segment(0xffe1, exif), jpeg.subarray(2)]);

  test.each(["II", "MM"] as const)("keeps how it is turned, and its size as people see it (%s)", (order) => {
    const cleaned = cleanPicture(photo(exifWith(order, 0x0112, 6)));
    if (cleaned === null || cleaned === "too large") throw new Error("refused");
    expect(cleaned).toMatchObject({ width: 30, height: 40 });
    expect(cleaned.bytes.includes("48.137")).toBe(false);
    const kept = Buffer.from("4578696600004d4d002a00000008000101120003000000010006000000000000", "hex");
    expect(cleaned.bytes.subarray(2, 6 + kept.length)).toEqual(Buffer.concat([Buffer.from("ffe10022", "hex"), kept]));
    expect(cleanPicture(cleaned.bytes)).toEqual(cleaned);
    expect(cleanPicture(photo(exifWith(order, 0x0112, 3)))).toMatchObject({ width: 40, height: 30 });
  });

  test.each([
    ["upright", exifWith("MM", 0x0112, 1)],
    ["without the field", exifWith("MM", 0x0110, 6)],
    ["with an unknown value", exifWith("II", 0x0112, 9)],
    ["with a table behind its end", Buffer.from("Exif\0\0MM\0*\xff\xff\xff\xff", "latin1")],
  ])("keeps no metadata if it is %s", (_, exif) => {
    expect(cleanPicture(photo(exif))).toEqual(cleanPicture(jpeg));
  });
});

test("of very many empty blocks is refused", () => {
  const [png, crc] = [makePng(), Buffer.alloc(4)];
  crc.writeUInt32BE(crc32("tEXt"), 0);
  const emptyText = Buffer.concat([Buffer.alloc(4), Buffer.from("tEXt"), crc]);
  const filled = (count: number) => {
    const body = Buffer.concat([webp(0).subarray(8), ...Array(count).fill(block("NONE", Buffer.alloc(0)))]);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(body.length, 0);
    return [
      Buffer.concat([jpeg.subarray(0, 2), ...Array(count).fill(segment(0xffdb, Buffer.alloc(0))), jpeg.subarray(2)]),
      Buffer.concat([png.subarray(0, 33), ...Array(count).fill(emptyText), png.subarray(33)]),
      Buffer.concat([Buffer.from("RIFF"), length, body]),
    ];
  };
  expect(filled(100).map((bytes) => cleanPicture(bytes) === null)).toEqual([false, false, false]);
  expect(filled(30_000).map(cleanPicture)).toEqual([null, null, null]);
});
