const manifests: readonly { path: RegExp; name: RegExp }[] = [
  { path: /(?:^|\/)(?:pyproject|Cargo)\.toml$/, name: /^name\s*=\s*["']([^"'\n]+)["']/m },
  { path: /(?:^|\/)setup\.(?:py|cfg)$/, name: /^\s*name\s*=\s*["']?([\w.-]+)["']?/m },
  { path: /(?:^|\/)go\.mod$/, name: /^module\s+(\S+)/m },
  { path: /\.gemspec$/, name: /\.name\s*=\s*["']([^"'\n]+)["']/ },
];

/** A package that is built from the sources. `manifest`: its package.json. */
export interface Package {
  name: string;
  manifest: unknown;
}

/** The package that a manifest describes. Null if the file is not a manifest. */
export function packageAt(path: string, bytes: Uint8Array): Package | null {
  if (/(?:^|\/)(?:package|composer)\.json$/.test(path)) return packageInJson(bytes);
  const form = manifests.find((manifest) => manifest.path.test(path));
  const name = form?.name.exec(Buffer.from(bytes).toString())?.[1];
  return name === undefined ? null : { name, manifest: null };
}

function packageInJson(bytes: Uint8Array): Package | null {
  try {
    const manifest = JSON.parse(Buffer.from(bytes).toString());
    return typeof manifest?.name === "string" ? { name: manifest.name, manifest } : null;
  } catch {
    return null;
  }
}

/** The package of `@scope/name/part`, `name/part` or `name.part`. */
export function packageOf(name: string): string {
  const parts = name.split("/");
  return name.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] ?? name);
}

/** Whether a JavaScript package exports `name/part`. Null if its manifest does not say. */
export function exportsPart(manifest: unknown, part: string): boolean | null {
  const given = (manifest as { exports?: unknown } | null)?.exports;
  if (typeof given !== "object" || given === null || Array.isArray(given)) return null;
  const paths = Object.keys(given).filter((key) => key.startsWith("."));
  if (paths.length === 0) return null;
  return paths.some((key) => {
    const [start = "", end] = key.split("*");
    return end === undefined ? key === part : part.startsWith(start) && part.endsWith(end);
  });
}
