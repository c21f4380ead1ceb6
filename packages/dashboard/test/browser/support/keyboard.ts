import type { Locator } from "playwright-core";
import { type Way, wayTo } from "./way-to.ts";

const stopsMax = 150;
const triesMax = 4;

/** Goes there by Tab and Shift+Tab alone, as whoever has no pointer; fails where no number of them leads. */
export async function reach(target: Locator): Promise<void> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const way = await target.evaluate(wayTo);
    if (way === "there") return;
    if (way === "no stop") await untilUsable(target);
    else await tab(target, way);
  }
  // What was foreseen is not how this page takes the key: a stop at a time.
  for (let stops = 0; stops < stopsMax; stops += 1) {
    if ((await target.evaluate(wayTo)) === "there") return;
    await tab(target, { isBack: false, stops: 1 });
  }
  throw new Error(`the keyboard does not lead to ${target}`);
}

async function untilUsable(target: Locator): Promise<void> {
  await target.waitFor();
  const element = await target.elementHandle();
  await element?.waitForElementState("enabled");
}

/** Holds the key down for so many stops: to be asked at each of them whether this is the one takes most of a journey. */
async function tab(target: Locator, { isBack, stops }: Exclude<Way, string>): Promise<void> {
  const { keyboard } = target.page();
  const strokes = Array.from({ length: stops }, () => () => keyboard.down("Tab"));
  if (isBack) strokes.unshift(() => keyboard.down("Shift"));
  strokes.push(() => keyboard.up("Tab"));
  if (isBack) strokes.push(() => keyboard.up("Shift"));
  await Promise.all(strokes.map((stroke) => stroke()));
}

export async function press(target: Locator, key = "Enter"): Promise<void> {
  await reach(target);
  await target.page().keyboard.press(key);
}

/** Types in place of what is there. */
export async function type(target: Locator, text: string): Promise<void> {
  await reach(target);
  await target.page().keyboard.press("ControlOrMeta+a");
  await target.page().keyboard.insertText(text);
}

/** Chooses an option by its first letters. */
export async function choose(target: Locator, words: string): Promise<void> {
  await reach(target);
  await target.page().keyboard.type(words);
}
