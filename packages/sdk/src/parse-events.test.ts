import { expect, test } from "vitest";
import { parseEvents } from "./stream-events.ts";

function streamOf(...pieces: string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
}

async function read(...pieces: string[]) {
  const events: unknown[] = [];
  for await (const event of parseEvents(streamOf(...pieces))) if (event) events.push(event);
  return events;
}

test("reads events however they are cut, with each kind of line end", async () => {
  const text =
    ": hello\r\n\r\nid: 1\r\nevent: a\r\ndata: one\r\ndata: two\r\n\r\nid:2\ndata:three\n\nid: 3\rdata: four\r\r";
  const whole = [
    { id: "1", data: "one\ntwo" },
    { id: "2", data: "three" },
  ];
  // The last event ends with a carriage return, which may be half of a CRLF, so the parser waits for more.
  expect(await read(text)).toEqual(whole);
  expect(await read(...text)).toEqual(whole);
  expect(await read(`${text}:\n`)).toEqual([...whole, { id: "3", data: "four" }]);
});

test("an event that the end of the stream cut off is none", async () => {
  expect(await read("id: 1\ndata: whole\n\nid: 2\ndata: ha")).toEqual([{ id: "1", data: "whole" }]);
});
