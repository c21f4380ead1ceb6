import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { unpackChromium } from "./unpack-chromium.ts";

export interface Chromium {
  executablePath: string;
  /** On top of this process's own. */
  env: Readonly<Record<string, string>>;
}

const commands = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const applications = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/**
 * What to try, best first: the one that CHROMIUM_PATH names and no other ("none": as if this machine had none), else
 * this machine's own, else the one that npm ships.
 */
export async function* findChromium(env: NodeJS.ProcessEnv): AsyncGenerator<Chromium> {
  const named = env.CHROMIUM_PATH;
  if (named && named !== "none") {
    yield { executablePath: named, env: {} };
    return;
  }
  if (!named) {
    const onPath = (env.PATH ?? "").split(delimiter).flatMap((dir) => commands.map((name) => join(dir, name)));
    const executablePath = [...onPath, ...applications].find((path) => existsSync(path));
    if (executablePath) yield { executablePath, env: {} };
  }
  const shipped = await unpackChromium();
  if (shipped) yield shipped;
}
