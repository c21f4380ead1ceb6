// Runs inside the sandbox, and imports nothing of ours. Opens a page in Chromium, does what a reader would do, and takes
// its picture.
import { after, type Browser, type Page } from "./browser.ts";

export interface Shot {
  width: number;
  height: number;
  /** A hash of each row of pixels. */
  rows: number[];
  bytes: Buffer;
}

export type Step = { click: string } | { fill: string; text: string } | { wait: string } | { scroll: string };

export interface View {
  width: number;
  height: number;
  theme?: "light" | "dark";
  steps?: readonly Step[];
  /** The window, or the element with this selector. Absent: the whole page. */
  part?: "window" | { crop: string };
  type?: "image/png" | "image/jpeg" | "image/webp";
}

const heightMax = 4000;
const pageMs = 15_000;
const quietMs = 3_000;
const stepMs = 10_000;

/** What could not be done, for people. */
export class StepFailed extends Error {}

/** Decodes a picture, hashes its rows, and encodes it. Runs in a page of its own. */
const measure = `async (picture, type) => {
  const blob = await (await fetch(picture)).blob();
  const bitmap = await createImageBitmap(blob);
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(bitmap, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer);
  const rows = [];
  for (let y = 0; y < bitmap.height; y++) {
    let hash = 2166136261;
    for (let x = y * bitmap.width; x < (y + 1) * bitmap.width; x++) hash = Math.imul(hash ^ pixels[x], 16777619);
    rows.push(hash >>> 0);
  }
  const size = { width: bitmap.width, height: bitmap.height, rows };
  if (type === null) return JSON.stringify({ ...size, bytes: "" });
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type, quality: 0.75 })).arrayBuffer());
  return JSON.stringify({ ...size, bytes: bytes.toBase64?.() ?? btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")) });
}`;

const still = `(() => { const style = document.createElement("style");
  style.textContent = "*,*::before,*::after{animation:none!important;transition:none!important;caret-color:transparent!important}";
  document.head?.append(style); return document.fonts.ready.then(() => 1); })()`;

/** `type`: what it is encoded as. Null: it is only measured. */
export async function measurePicture(browser: Browser, picture: string, type: string | null): Promise<Shot> {
  const meter = await browser.open();
  try {
    const expression = `(${measure})(${JSON.stringify(picture)}, ${JSON.stringify(type)})`;
    const { result, exceptionDetails } = (await meter.send("Runtime.evaluate", { expression, awaitPromise: true })) as {
      result: { value: string };
      exceptionDetails?: object;
    };
    if (exceptionDetails) throw new Error("the picture cannot be read");
    const measured = JSON.parse(result.value) as { width: number; height: number; rows: number[]; bytes: string };
    return { ...measured, bytes: Buffer.from(measured.bytes, "base64") };
  } finally {
    await meter.close();
  }
}

/** `also`: what else is done with the page while it is open. */
export async function shoot(
  browser: Browser,
  url: string,
  view: View,
  also?: (page: Page) => Promise<void>,
): Promise<Shot> {
  const page = await browser.open();
  let data: string;
  try {
    await show(page, url, view);
    data = await capture(page, view);
    await also?.(page);
  } finally {
    await page.close();
  }
  return measurePicture(browser, `data:image/png;base64,${data}`, view.type ?? "image/webp");
}

async function show(page: Page, url: string, view: View): Promise<void> {
  const { send, once } = page;
  await send("Page.enable");
  await send("Page.setLifecycleEventsEnabled", { enabled: true });
  const { width, height, theme = "light", steps = [] } = view;
  await send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 });
  const features = [
    { name: "prefers-reduced-motion", value: "reduce" },
    { name: "prefers-color-scheme", value: theme },
  ];
  await send("Emulation.setEmulatedMedia", { features });
  const loaded = once("Page.loadEventFired");
  const isQuiet = once("Page.lifecycleEvent", ({ name }) => name === "networkIdle");
  await send("Page.navigate", { url });
  await Promise.race([loaded, after(pageMs)]);
  await Promise.race([isQuiet, after(quietMs)]);
  for (const step of steps) await take(page, step);
  await Promise.race([send("Runtime.evaluate", { expression: still, awaitPromise: true }), after(quietMs)]);
}

async function capture(page: Page, view: View): Promise<string> {
  const clip = await clipOf(page, view);
  const captureBeyondViewport = view.part !== "window";
  const { data } = await page.send("Page.captureScreenshot", { format: "png", captureBeyondViewport, clip });
  return data as string;
}

async function clipOf(page: Page, { width, height, part }: View) {
  if (part === undefined) {
    const { cssContentSize } = (await page.send("Page.getLayoutMetrics")) as { cssContentSize: { height: number } };
    return { x: 0, y: 0, width, height: bounded(cssContentSize.height), scale: 1 };
  }
  const box =
    part === "window"
      ? await evaluate(page, `({ x: scrollX, y: scrollY, width: ${width}, height: ${height} })`)
      : await find(
          page,
          part.crop,
          "({ x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: box.height })",
        );
  const { x, y, width: wide, height: high } = box as Record<"x" | "y" | "width" | "height", number>;
  return { x: Math.floor(x), y: Math.floor(y), width: bounded(wide), height: bounded(high), scale: 1 };
}

const bounded = (side: number) => Math.max(1, Math.min(heightMax, Math.ceil(side)));

async function take(page: Page, step: Step): Promise<void> {
  if ("wait" in step) {
    const shows = `document.body?.innerText.includes(${JSON.stringify(step.wait)}) || null`;
    if ((await until(page, shows)) === null)
      throw new StepFailed(`the page does not show ${JSON.stringify(step.wait)} within ${stepMs / 1000} s`);
    return;
  }
  if ("scroll" in step) {
    await find(page, step.scroll, "(one.scrollIntoView({ block: 'start', behavior: 'instant' }), 1)");
    return;
  }
  const selector = "click" in step ? step.click : step.fill;
  const middle = "({ x: box.x + box.width / 2, y: box.y + box.height / 2 })";
  const { x, y } = (await find(page, selector, middle)) as { x: number; y: number };
  const mouse = (type: string) => page.send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
  await mouse("mousePressed");
  await mouse("mouseReleased");
  if ("click" in step) return;
  await evaluate(page, "(document.activeElement?.select?.(), 1)");
  await page.send("Input.insertText", { text: step.text });
}

/** Waits for a visible element, and reads something of it. */
async function find(page: Page, selector: string, read: string): Promise<unknown> {
  const look = `(() => { const one = document.querySelector(${JSON.stringify(selector)});
    if (!one) return null;
    one.scrollIntoView({ block: "nearest", behavior: "instant" });
    const box = one.getBoundingClientRect();
    return box.width > 0 && box.height > 0 ? ${read} : null; })()`;
  const found = await until(page, look);
  if (found === null)
    throw new StepFailed(`the page has no visible element ${JSON.stringify(selector)} within ${stepMs / 1000} s`);
  return found;
}

async function until(page: Page, expression: string): Promise<unknown> {
  for (const end = Date.now() + stepMs; Date.now() < end; await after(50)) {
    // A page that is being left has no answer.
    const value = await Promise.race([evaluate(page, expression).catch(() => null), after(stepMs).then(() => null)]);
    if (value !== null && value !== undefined) return value;
  }
  return null;
}

async function evaluate(page: Page, expression: string): Promise<unknown> {
  const { result } = (await page.send("Runtime.evaluate", { expression, returnByValue: true })) as {
    result: { value?: unknown };
  };
  return result.value;
}
