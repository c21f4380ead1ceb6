const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const { dirname, join } = require("node:path");

const root = join(__dirname, "..");
const pointer = join(root, "node_modules/.cache/programs/emend.json");

/**
 * The bundle of the checkout's `emend`, which loads in a quarter of the time. It is made again when a source is newer. Where it
 * cannot be made, as in a folder that is read-only, the source runs.
 */
function bundleOf(source) {
  try {
    const stamp = stampOf();
    if (readPointer().stamp !== stamp) {
      const program = join(root, "scripts/bundle.ts");
      // Throws where this user may not write: to bundle in vain takes seconds.
      fs.mkdirSync(dirname(pointer), { recursive: true });
      fs.accessSync(dirname(pointer), fs.constants.W_OK);
      spawnSync(process.execPath, ["--disable-warning=ExperimentalWarning", program, stamp], { stdio: "ignore" });
    }
    const made = readPointer();
    return made.stamp === stamp && fs.existsSync(made.program) ? made.program : source;
  } catch {
    return source;
  }
}

function readPointer() {
  return fs.existsSync(pointer) ? JSON.parse(fs.readFileSync(pointer, "utf8")) : {};
}

/** Changes when a source is added, removed or edited, and with another Node. */
function stampOf() {
  let newestMs = fs.statSync(join(root, "package-lock.json")).mtimeMs;
  let count = 0;
  for (const name of fs.readdirSync(join(root, "packages"))) {
    const folder = join(root, "packages", name, "src");
    if (!fs.existsSync(folder)) continue;
    for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/\.(?:ts|json)$/.test(entry.name) || entry.name.endsWith(".test.ts")) continue;
      count += 1;
      newestMs = Math.max(newestMs, fs.statSync(join(entry.parentPath, entry.name)).mtimeMs);
    }
  }
  return `${process.version} ${count} ${newestMs}`;
}

module.exports = { bundleOf };
