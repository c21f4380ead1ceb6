const manifests: readonly { path: RegExp; name: RegExp }[] = [
  { path: /(?:^|\/)(?:pyproject|Cargo)\.toml$/, name: /^name\s*=\s*["']([^"'\n]+)["']/m },
  { path: /(?:^|\/)setup\.(?:py|cfg)$/, name: /^\s*name\s*=\s*["']?([\w.-]+)["']?/m },
  { path: /(?:^|\/)go\.mod$/, name: /^module\s+(\S+)/m },
  { path: /\.gemspec$/, name: /\.name\s*=\s*["']([^"'\n]+)["']/ },
];

/** The name of the package that a manifest describes; null where the file is none. */
export function packageNameOf(path: string, bytes: Uint8Array): string | null {
  if (/(?:^|\/)(?:package|composer)\.json$/.test(path)) return nameInJson(bytes);
  const form = manifests.find((manifest) => manifest.path.test(path));
  return form === undefined ? null : (form.name.exec(Buffer.from(bytes).toString())?.[1] ?? null);
}

function nameInJson(bytes: Uint8Array): string | null {
  try {
    const { name } = JSON.parse(Buffer.from(bytes).toString());
    return typeof name === "string" ? name : null;
  } catch {
    return null;
  }
}

/** The package of `@scope/name/part`, `name/part` or `name.part`. */
export function packageOf(name: string): string {
  const parts = name.split("/");
  return name.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] ?? name);
}
