/** A variable in our name that nothing reads, and the one that was probably meant. */
export interface UnknownSetting {
  readonly variable: string;
  readonly nearest: string | null;
}

/** Read by the command line and by the Action, whose environment a server may share. */
const otherNames = [
  "EMEND_URL",
  "EMEND_API_KEY",
  "EMEND_PROFILE",
  "EMEND_PROJECT",
  "EMEND_DEBUG",
  "EMEND_CA_FILE",
  "EMEND_CRASH_AT",
];

/** Finds misspelt variables: each would be a setting that somebody believes in and nobody heeds. */
export function findUnknownSettings(env: NodeJS.ProcessEnv, names: readonly string[]): readonly UnknownSetting[] {
  const known = [...names, ...otherNames].filter((name) => name.startsWith("EMEND_"));
  const isKnown = (name: string) =>
    known.includes(name) || (name.endsWith("_FILE") && known.includes(name.slice(0, -5)));
  return Object.keys(env)
    .filter((name) => name.startsWith("EMEND_") && !name.startsWith("EMEND_TEST_") && !isKnown(name))
    .sort()
    .map((variable) => ({ variable, nearest: nearestOf(variable, known) }));
}

function nearestOf(name: string, known: readonly string[]): string | null {
  const ranked = (name.endsWith("_FILE") ? [...known, ...known.map((one) => `${one}_FILE`)] : known)
    .map((one) => ({ one, distance: distanceOf(name, one) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best && best.distance <= Math.ceil((name.length - "EMEND_".length) / 3) ? best.one : null;
}

/** How many letters must be added, dropped or changed. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const changed = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
