import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Chromium {
  /** Absent: the one that Playwright downloaded. */
  executablePath?: string;
  /** Added to this process's environment. */
  env?: Readonly<Record<string, string>>;
}

/** One source of a browser. `prepare` throws if it has none. */
export interface ChromiumSource {
  name: string;
  prepare(): Promise<Chromium>;
}

/** What differs between machines that run the suite. */
export interface Machine {
  env: NodeJS.ProcessEnv;
  platform: string;
  arch: string;
  isRoot: boolean;
  exists(path: string): boolean;
  run(program: string, args: readonly string[]): Promise<void>;
  unpackFromNpm(): Promise<Chromium>;
}

/** The one without windows first: it needs a quarter less processor time for the same pages. */
const commands = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "microsoft-edge",
  "microsoft-edge-stable",
];
const fixedPlaces: Record<string, readonly string[]> = {
  linux: ["/opt/google/chrome/chrome", "/opt/microsoft/msedge/msedge", "/snap/bin/chromium"],
  darwin: ["Google Chrome", "Chromium", "Microsoft Edge"].map(
    (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
  ),
};
const playwrightCli = fileURLToPath(new URL("./cli.js", import.meta.resolve("playwright-core")));

/** The sources of a browser on this machine, in the order to try. */
export function chromiumSources(machine: Machine): ChromiumSource[] {
  const { CHROMIUM_PATH: named } = machine.env;
  if (named && named !== "none") {
    return [{ name: `CHROMIUM_PATH=${named}`, prepare: async () => ({ executablePath: named }) }];
  }
  const sources: ChromiumSource[] = [];
  const installed = named ? undefined : findInstalled(machine);
  if (installed) sources.push({ name: installed, prepare: async () => ({ executablePath: installed }) });
  if (machine.platform === "linux" && machine.arch === "x64") {
    sources.push({ name: "npm's @sparticuz/chromium", prepare: machine.unpackFromNpm });
  }
  sources.push({
    name: "playwright-core install chromium-headless-shell",
    async prepare() {
      await machine.run(process.execPath, [playwrightCli, "install", "chromium-headless-shell"]);
      return {};
    },
  });
  // Debian and Ubuntu have both. Other distributions with apt-get have other packages.
  if (machine.isRoot && ["/usr/bin/apt-get", "/etc/debian_version"].every(machine.exists)) {
    const install = (name: string) =>
      machine.run("apt-get", ["install", "--yes", "--quiet", "--no-install-recommends", name]);
    sources.push({
      name: "apt-get install chromium-headless-shell, or chromium",
      async prepare() {
        await machine.run("apt-get", ["update", "--quiet"]);
        // Ubuntu has only the second.
        await install("chromium-headless-shell").catch(() => install("chromium"));
        const executablePath = findInstalled(machine);
        if (!executablePath) throw new Error("the package brought no browser");
        return { executablePath };
      },
    });
  }
  return sources;
}

function findInstalled({ env, platform, exists }: Machine): string | undefined {
  const folders = (env.PATH ?? "").split(delimiter).filter(Boolean);
  const onPath = folders.flatMap((folder) => commands.map((name) => join(folder, name)));
  return [...onPath, ...(fixedPlaces[platform] ?? [])].find(exists);
}
