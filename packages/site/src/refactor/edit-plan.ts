import type { FileEdit } from "../frameworks/framework.ts";
import { resolveTarget } from "../links/resolve.ts";
import { baseOf, stripExtension } from "../links/target.ts";
import { lookAgain } from "../second-resolver/read-states.ts";
import type { Site } from "../site.ts";
import { applySplices, encodePiece, fromByteString, type Splice, toByteString } from "../text/bytes.ts";
import { createTimeSlice } from "../text/time-slice.ts";
import type { Edits, Refactoring, SiteTree, Skipped } from "../types.ts";

/** Collects a refactoring's changes in offsets of the original files. `finish` turns them into edits. */
export interface EditPlan {
  splice(path: string, splice: Splice): void;
  move(from: string, to: string): void;
  /** The text is a byte string. */
  create(path: string, text: string): void;
  apply(edit: FileEdit): void;
  skip(skipped: Skipped): void;
  count(what: string, by?: number): void;
  finish(): Promise<Refactoring>;
}

const readsAtOnce = 32;

export function createPlan(site: Site): EditPlan {
  const splices = new Map<string, Splice[]>();
  const moves = new Map<string, string>();
  const created = new Map<string, string>();
  const deleted = new Set<string>();
  const skipped: Skipped[] = [];
  const counts: Record<string, number> = {};

  function splice(path: string, one: Splice): void {
    const list = splices.get(path);
    if (list === undefined) splices.set(path, [one]);
    else list.push(one);
  }

  async function finish(): Promise<Refactoring> {
    const edits = new Map<string, Uint8Array | null>();
    const breathe = createTimeSlice();
    for (const path of moves.keys()) edits.set(path, null);
    const paths = [...new Set([...splices.keys(), ...moves.keys()])];
    for (let from = 0; from < paths.length; from += readsAtOnce) {
      await breathe();
      const some = paths.slice(from, from + readsAtOnce);
      const contents = await Promise.all(some.map((path) => site.tree.read(path)));
      for (const [i, path] of some.entries()) {
        const bytes = contents[i] ?? null;
        if (bytes === null) return { kind: "refused", reason: `${path} is gone; nothing was changed` };
        const list = splices.get(path) ?? [];
        const after = list.length === 0 ? bytes : fromByteString(applySplices(toByteString(bytes), list));
        const target = moves.get(path) ?? path;
        if (target !== path || Buffer.compare(bytes, after) !== 0) edits.set(target, after);
      }
    }
    for (const path of deleted) edits.set(path, null);
    for (const [path, text] of created) edits.set(path, fromByteString(text));
    const look = await lookAgain(
      {
        tree: site.tree,
        pages: site.index.nodes.keys(),
        believed(path, target) {
          const found = resolveTarget(site.index, path, target, "link");
          return found.kind === "page" || found.kind === "file" ? found.path : null;
        },
      },
      edits satisfies Edits,
      moves,
    );
    if ("reason" in look) return { kind: "refused", reason: look.reason };
    return { kind: "done", edits, counts, skipped: [...skipped, ...computedEntriesOf(site, edits), ...look.skipped] };
  }

  return {
    splice,
    move: (from, to) => void moves.set(from, to),
    create: (path, text) => void created.set(path, text),
    apply(edit) {
      if ("created" in edit) created.set(edit.file, edit.created);
      else if ("deleted" in edit) deleted.add(edit.file);
      else for (const one of edit.splices) splice(edit.file, one);
    },
    skip: (one) => void skipped.push(one),
    count(what, by = 1) {
      counts[what] = (counts[what] ?? 0) + by;
    },
    finish,
  };
}

/** Entries of computed lists that may name a page that is no longer there. */
function computedEntriesOf({ model }: Site, edits: Edits): Skipped[] {
  const nameOf = (path: string): string => baseOf(stripExtension(path).replace(/\/(?:index|readme)?$/i, ""));
  const gone = new Map([...edits].flatMap(([path, bytes]) => (bytes === null ? [[nameOf(path), path] as const] : [])));
  return (model.computedEntries ?? []).flatMap(({ file, line, text }) => {
    const path = gone.get(nameOf(text));
    const reason = `${text} may mean ${path}, but code changes this list; check it by hand`;
    return path === undefined ? [] : [{ path: file, line, reason }];
  });
}

export function refuse(reason: string): Refactoring {
  return { kind: "refused", reason };
}

/** A replacement with ordinary text. */
export function replaceRange(start: number, end: number, text: string): Splice {
  return { start, end, text: encodePiece(text) };
}

/** The same site with cached reads: a refactoring reads a page's links, and later its bytes. */
export function rememberReads(site: Site): Site {
  const { tree } = site;
  const known = new Map<string, Promise<Uint8Array | null>>();
  const remembering: SiteTree = {
    ...tree,
    list: () => tree.list(),
    read(path) {
      const bytes = known.get(path) ?? tree.read(path);
      known.set(path, bytes);
      return bytes;
    },
  };
  return { ...site, tree: remembering };
}
