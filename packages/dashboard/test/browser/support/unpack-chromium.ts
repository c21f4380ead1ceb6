import { execFile } from "node:child_process";
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createBrotliDecompress } from "node:zlib";
import type { Chromium } from "./find-chromium.ts";

const run = promisify(execFile);
const cache = fileURLToPath(new URL("../../../../../node_modules/.cache/", import.meta.url));
// Not a dependency: 67 MB that most machines do not need, and for Linux x64 only.
const pinned = {
  spec: "@sparticuz/chromium@153.0.0",
  integrity: "sha512-jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==",
};

/** The npm package of Chromium for Linux x64, downloaded and unpacked once. */
export async function unpackChromium(): Promise<Chromium> {
  const home = join(cache, pinned.spec.replaceAll(/\W+/g, "-"));
  if (!existsSync(home)) await unpackInto(home);
  const fonts = join(home, "fonts.conf");
  await writeFile(fonts, fontsOf(home));
  return {
    executablePath: join(home, "chromium"),
    env: {
      FONTCONFIG_FILE: fonts,
      // It contains the libraries that a machine without a desktop lacks.
      LD_LIBRARY_PATH: [join(home, "lib"), process.env.LD_LIBRARY_PATH].filter(Boolean).join(":"),
    },
  };
}

/** Unpacks under a temporary name, then renames: two suites may run at once, and either may be killed. */
async function unpackInto(home: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const dir = await mkdtemp(join(cache, "chromium-unpacking-"));
  try {
    const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", dir, pinned.spec], { cwd: dir });
    const [{ filename, integrity }] = JSON.parse(stdout);
    if (integrity !== pinned.integrity) throw new Error(`the package's hash is ${integrity}, not the pinned one`);
    await run("tar", ["-xzf", filename], { cwd: dir });
    const whole = join(dir, "whole");
    await mkdir(whole);
    for (const name of ["chromium", "al2023.tar", "fonts.tar"]) {
      const packed = createReadStream(join(dir, "package", "bin", `${name}.br`));
      await pipeline(packed, createBrotliDecompress(), createWriteStream(join(whole, name), { mode: 0o755 }));
      if (name.endsWith(".tar")) await run("tar", ["-xf", name], { cwd: whole });
    }
    await rename(whole, home).catch((error) => {
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
  <dir>${home}/fonts</dir>
  <cachedir>${home}/fonts-cache</cachedir>
</fontconfig>
`;
}
