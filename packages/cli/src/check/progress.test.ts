import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createProgress } from "./inspect-folder.ts";

function terminal(isTTY: boolean): { stream: NodeJS.WriteStream; written: string[] } {
  const written: string[] = [];
  const stream = { isTTY, write: (text: string) => written.push(text) };
  return { stream: stream as unknown as NodeJS.WriteStream, written };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

it("shows progress on a terminal, and clears it", () => {
  const { stream, written } = terminal(true);
  const progress = createProgress(stream);
  progress.update("reading", 1, 900);
  expect(written).toEqual([]);
  vi.advanceTimersByTime(501);
  progress.update("reading", 450, 900);
  progress.update("reading", 451, 900);
  vi.advanceTimersByTime(101);
  progress.update("judging", 2, 900);
  progress.end();
  expect(written).toEqual(["\r\u001b[Kreading 450 of 900 pages", "\r\u001b[Kjudging 2 of 900 pages", "\r\u001b[K"]);
});

it("is silent elsewhere", () => {
  const { stream, written } = terminal(false);
  const progress = createProgress(stream);
  vi.advanceTimersByTime(501);
  progress.update("reading", 450, 900);
  progress.end();
  expect(written).toEqual([]);
});
