import { crc32, deflateSync } from "node:zlib";

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** A grey PNG with a text in its metadata. */
export function makePng({ width = 4, height = 3, words = "taken at home" } = {}): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.writeUInt8(8, 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", head),
    chunk("tEXt", Buffer.from(`Comment\0${words}`)),
    chunk("IDAT", deflateSync(Buffer.alloc(Math.min((width + 1) * height, 10 ** 6)))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** A PDF of one page with this line. */
export function makePdf(line: string, blanks = 0): Buffer {
  const shown = `BT /F1 8 Tf 72 700 Td (${line}) Tj ET`;
  // Packed twice: blanks alone shrink to a thousandth each time.
  const packed = blanks > 0 ? deflateSync(deflateSync(Buffer.from(" ".repeat(blanks) + shown))) : null;
  const content = packed ? `${packed.toString("hex")}>` : shown;
  const filter = packed ? "/Filter [/ASCIIHexDecode /FlateDecode /FlateDecode] " : "";
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< ${filter}/Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  let text = "%PDF-1.4\n";
  const places = objects.map((object, index) => {
    const place = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return place;
  });
  const table = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
  const start = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`;
  return Buffer.from(`${text}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`);
}
