import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createProgress } from "./progress.ts";

let written: string[] = [];
beforeEach(() => {
  written = [];
  vi.useFakeTimers({ toFake: ["performance"] });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => written.push(String(text)) > 0);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  Reflect.deleteProperty(process.stderr, "isTTY");
});

function onTerminal(isTTY: boolean): void {
  Object.defineProperty(process.stderr, "isTTY", { value: isTTY, configurable: true });
}

it("says on a terminal how far long work is, and leaves nothing behind", () => {
  onTerminal(true);
  const progress = createProgress();
  progress.update(1, 900);
  expect(written).toEqual([]);
  vi.advanceTimersByTime(501);
  progress.update(450, 900);
  progress.end();
  expect(written).toEqual(["\r\u001b[Kreading 450 of 900 pages", "\r\u001b[K"]);
});

it("is silent elsewhere", () => {
  onTerminal(false);
  const progress = createProgress();
  vi.advanceTimersByTime(501);
  progress.update(450, 900);
  progress.end();
  expect(written).toEqual([]);
});
