import type { Locator } from "playwright-core";

const stopsMax = 150;

/** Goes there by Tab alone, as whoever has no pointer; fails where no number of Tabs leads. */
export async function reach(target: Locator): Promise<void> {
  const page = target.page();
  await target.waitFor();
  for (let stops = 0; stops < stopsMax; stops += 1) {
    if (await target.evaluate((element) => element.matches(":focus"))) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`the keyboard does not lead to ${target}`);
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
