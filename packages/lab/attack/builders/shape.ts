/**
 * Hostile changes, by the builder that they aim at. `§` is the shape's own name, so that every effect can be traced: a
 * request to `js-§.test` is a script that ran, one to `net-§.test` a host that was contacted, `/hits/§` a file that code on
 * the building machine wrote, and `/canary/§.txt` a file outside of the repository.
 */
export interface Shape {
  builder: string;
  /** Absent: a new page. */
  path?: string;
  text: string;
}

/** Names no host as text, so that only the construct itself can be what the review refuses. */
export const js = "fetch('/'.repeat(2).concat('js-§.test'))";
export const img = `<img src=x onerror=${js}>`;
export const out = "../../../canary/§.txt";
