import type { Locator } from "playwright-core";

const stopsMax = 150;
const triesMax = 4;

/** Moves the focus there with Tab and Shift+Tab only. Fails if the element cannot be reached. */
export async function reach(target: Locator): Promise<void> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const way = await target.evaluate(wayTo);
    if (way === "there") return;
    if (way === "no stop") await untilUsable(target);
    else await tab(target, way);
  }
  // The prediction was wrong for this page: one stop at a time.
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

/** Presses the key this many times without a check at each stop, because the checks take most of the time. */
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

/** Replaces the text. */
export async function type(target: Locator, text: string): Promise<void> {
  await reach(target);
  await target.page().keyboard.press("ControlOrMeta+a");
  await target.page().keyboard.insertText(text);
}

/** Chooses an option by its first letters, in the open list: some Chromiums ignore letters while it is closed. */
export async function choose(target: Locator, letters: string): Promise<void> {
  await press(target, "Space");
  const { keyboard } = target.page();
  await keyboard.type(letters);
  await keyboard.press("Enter");
}

/** The number of Tab stops to an element, predicted from the page. */
type Way = "there" | "no stop" | { isBack: boolean; stops: number };

/** The part of the DOM types that this needs. */
interface Stop {
  readonly ownerDocument: { readonly activeElement: Stop | null; readonly body: Stop };
  querySelectorAll(selector: string): Iterable<Stop>;
  matches(selector: string): boolean;
  checkVisibility(options: { visibilityProperty: boolean }): boolean;
  compareDocumentPosition(other: Stop): number;
}

/** Runs in the page, so it can use nothing from this module. */
function wayTo(target: Stop): Way {
  const { activeElement: here, body } = target.ownerDocument;
  if (target === here) return "there";
  const dialog = [...body.querySelectorAll("dialog:modal")].at(-1);
  const focusable = 'a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex="-1"])';
  const stops = [...(dialog ?? body).querySelectorAll(focusable)].filter(
    (element) =>
      !element.matches(":disabled, [tabindex='-1']") && element.checkVisibility({ visibilityProperty: true }),
  );
  const there = stops.indexOf(target);
  if (there === -1) return "no stop";
  // The focused element may itself be no Tab stop, as after a navigation.
  const isPast = (element: Stop) => ((here ?? body).compareDocumentPosition(element) & 2) !== 0;
  const from = here ? stops.indexOf(here) : -1;
  const past = stops.filter(isPast).length;
  if (there >= past) return { isBack: false, stops: there - (from === -1 ? past - 1 : from) };
  return { isBack: true, stops: past - there };
}
