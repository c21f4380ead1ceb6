// Costly: it is about the browsers that a machine has or lacks.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { chromiumSources, type Machine } from "./browser/support/find-chromium.ts";
import { findChromium } from "./browser/support/launch-chromium.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const mac = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";
const debian = ["/usr/bin/apt-get", "/etc/debian_version"];
const npm = "npm's @sparticuz/chromium";
const playwright = "playwright-core install chromium-headless-shell";
const apt = "apt-get install chromium-headless-shell, or chromium";

function machine(having: Partial<Machine> & { files?: string[] }): Machine {
  const { files = [], ...rest } = having;
  return {
    env: { PATH: "/usr/local/bin:/usr/bin" },
    platform: "linux",
    arch: "x64",
    isRoot: false,
    exists: (path) => files.includes(path),
    run: async () => {},
    unpackFromNpm: async () => ({ executablePath: "/cache/chromium" }),
    ...rest,
  };
}

afterEach(() => {
  vi.restoreAllMocks();
});

it.each<[string, Partial<Machine> & { files?: string[] }, string[]]>([
  ["one that is named, alone", { env: { CHROMIUM_PATH: "/x" }, files: ["/usr/bin/chromium"] }, ["CHROMIUM_PATH=/x"]],
  ["Linux x64 with Chromium", { files: ["/usr/bin/chromium"] }, ["/usr/bin/chromium", npm, playwright]],
  [
    "Linux with both kinds",
    { files: ["/usr/bin/chromium", "/usr/bin/chromium-headless-shell"], arch: "arm64" },
    ["/usr/bin/chromium-headless-shell", playwright],
  ],
  ["Linux with Chrome", { files: ["/opt/google/chrome/chrome"] }, ["/opt/google/chrome/chrome", npm, playwright]],
  ["Linux with Edge", { files: ["/usr/bin/microsoft-edge"] }, ["/usr/bin/microsoft-edge", npm, playwright]],
  ["bare Linux x64", { files: debian }, [npm, playwright]],
  ["bare Debian x64 as root", { files: debian, isRoot: true }, [npm, playwright, apt]],
  ["bare Debian arm64 as root", { files: debian, isRoot: true, arch: "arm64" }, [playwright, apt]],
  ["another Linux as root", { isRoot: true, arch: "arm64" }, [playwright]],
  ["a Mac with Chrome", { platform: "darwin", arch: "arm64", files: [mac] }, [mac, playwright]],
  ["a bare Mac", { platform: "darwin", arch: "x64", isRoot: true }, [playwright]],
  [
    "a machine told to ignore its own",
    { env: { CHROMIUM_PATH: "none", PATH: "/usr/bin" }, files: ["/usr/bin/chromium"] },
    [npm, playwright],
  ],
])("knows where to get a browser: %s", (_name, having, expected) => {
  expect(chromiumSources(machine(having)).map(({ name }) => name)).toEqual(expected);
});

it.each([["chromium-headless-shell"], ["chromium"]])("uses what apt-get installed: %s", async (available) => {
  const ran: string[] = [];
  const files = [...debian];
  const bare = machine({ isRoot: true, arch: "arm64", exists: (path) => files.includes(path) });
  bare.run = async (program, args) => {
    ran.push(`${program} ${args.filter((arg) => !arg.startsWith("-")).join(" ")}`);
    if (!args.includes("install")) return;
    if (!args.includes(available)) throw new Error("Unable to locate package");
    files.push(`/usr/bin/${available}`);
  };
  const source = chromiumSources(bare).at(-1);
  expect(await source?.prepare()).toEqual({ executablePath: `/usr/bin/${available}` });
  expect(ran[0]).toBe("apt-get update");
  expect(ran.at(-1)).toBe(`apt-get install ${available}`);
});

it("says what it tries, and why each did not serve", async () => {
  const lines = vi.spyOn(console, "log").mockReturnValue();
  const sources = [
    { name: "/opt/broken", prepare: async () => ({ executablePath: "/opt/broken" }) },
    {
      name: "a download",
      prepare: () => Promise.reject(new Error("getaddrinfo ENOTFOUND\nError: no network\n  at …")),
    },
  ];
  const failure = await findChromium(sources).catch((error: Error) => error.message);
  expect(lines.mock.calls.flat()).toEqual(["Browser suite: trying /opt/broken", "Browser suite: trying a download"]);
  expect(failure).toMatch(/Install Chromium.*or set CHROMIUM_PATH/);
  expect(failure).toMatch(/^- \/opt\/broken: .*doesn't exist/m);
  expect(failure).toMatch(/^- a download: Error: no network$/m);
});

it("runs every other test where no browser can be had, and fails the browser suite", async () => {
  const cache = join(root, "node_modules", ".cache");
  await mkdir(cache, { recursive: true });
  const dir = await mkdtemp(join(cache, "no-browser-"));
  try {
    await writeFile(join(dir, "other.test.ts"), 'import { it } from "vitest";\nit("still runs", () => {});\n');
    const browserSuite = {
      name: "browser",
      root,
      include: ["packages/dashboard/test/browser/keys.test.ts"],
      globalSetup: ["packages/dashboard/test/browser/support/global-setup.ts"],
      experimental: { viteModuleRunner: false, nodeLoader: false },
    };
    const projects = [{ test: browserSuite }, { test: { name: "other", root: dir, include: ["other.test.ts"] } }];
    await writeFile(join(dir, "vitest.config.ts"), `export default ${JSON.stringify({ test: { projects } })};\n`);
    const args = [join(root, "node_modules/vitest/vitest.mjs"), "run", "--config", join(dir, "vitest.config.ts")];
    const env = { ...process.env, CHROMIUM_PATH: "/nowhere/chromium", NO_COLOR: "1" };
    const { code, output } = await new Promise<{ code: unknown; output: string }>((resolve) => {
      execFile(process.execPath, args, { cwd: root, env }, (error, stdout, stderr) => {
        resolve({ code: error?.code ?? 0, output: stdout + stderr });
      });
    });
    expect(output).toMatch(/✓.*other\.test\.ts/);
    expect(output).toContain("The browser suite needs a browser, and none started. Install Chromium");
    expect(output).toMatch(/Test Files\s+1 failed \| 1 passed/);
    expect(code).toBe(1);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
