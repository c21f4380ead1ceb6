import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { liveNarrator, plainNarrator } from "./narrator.ts";

function fakeTerminal(): { stream: NodeJS.WriteStream; text(): string } {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 40 }) as unknown as NodeJS.WriteStream;
  return { stream, text: () => String((stream as unknown as PassThrough).read() ?? "") };
}

test("on a terminal a begun thing is in sight until its last word takes its place", () => {
  const { stream, text } = fakeTerminal();
  const narrator = liveNarrator(stream);

  narrator.begin("importing");
  expect(text()).toContain("importing");
  narrator.done("import", "24 pages");
  const last = text();
  expect(last.startsWith("\r\u001b[2K")).toBe(true);
  expect(last).toContain("24 pages");
  narrator.end();
  expect(text()).toBe("");
});

test("a live line never grows beyond the terminal, where it could not be taken away", () => {
  const { stream, text } = fakeTerminal();
  const narrator = liveNarrator(stream);
  narrator.begin("x".repeat(200));
  narrator.end();
  expect(text()).not.toContain("x".repeat(36));
  // Some pseudo terminals report no size.
  stream.columns = 0;
  narrator.begin("starting Emend");
  narrator.end();
  expect(text()).toContain("starting Emend");
});

test("in a pipe only last words are written, and no control characters of others", () => {
  const { stream, text } = fakeTerminal();
  const narrator = plainNarrator(stream);
  narrator.begin("importing");
  narrator.done("import", "a\u001b[2Jb");
  expect(stripVTControlCharacters(text())).toBe("  ✓ import       a\ufffd[2Jb\n");
});
