// 10,000 claims looked at again after a commit that changes none of the files they cite: `npm run bench -- truth`. Aim: ≤ 300 ms.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@emend/base/logger.ts";
import { makeRepository } from "@emend/testkit/make-repository.ts";
import { createGit, createMirrors } from "@emend/tree";
import { findClaimsInSource } from "../../server/src/claims/find-claims-again.ts";
import { writeFigure } from "../../site/bench/results.ts";
import { seedProjects, startBenchDatabase } from "./database.ts";
import { median } from "./measure.ts";

const files = 2_000;
const claims = 10_000;
const rounds = 5;
const msMax = 300;
const dir = mkdtempSync(join(tmpdir(), "emend-bench-claims-"));
const database = await startBenchDatabase("silent");
const mirrors = createMirrors({
  dir: join(dir, "mirrors"),
  git: createGit({ allowedProtocols: ["file"] }),
  log: createLogger({ level: "silent" }),
});
const { signal } = new AbortController();

try {
  const { projectIds } = await seedProjects(database.pool, 1);
  const projectId = projectIds[0] ?? "";
  const repository = makeRepository(join(dir, "code.git"));
  const pathOf = (n: number) => `src/module-${n % 40}/file-${n}.ts`;
  repository.commit(
    Object.fromEntries(
      Array.from({ length: files }, (_, n) => [pathOf(n), `export const limit${n} = ${n};\n`.repeat(20)]),
    ),
  );
  const mirror = await mirrors.open(projectId);
  const remote = { url: repository.url, authorization: null };
  const treeNow = async () => {
    const { commit } = await mirror.fetchBase({ remote, jobId: "claims_bench", baseRef: null }, signal);
    return { repositoryId: null, commit, tree: mirror.treeAt(commit), causeOf: async () => null };
  };
  const first = await treeNow();
  const { entries } = await first.tree.index();
  const blobs = [...entries.values()];
  await database.pool.query(
    `insert into claims (project_id, page, page_line, page_line_end, page_text, path, line, line_end, text, hash, blob, state,
       created_by)
     select $1, 'docs/page-' || n % 500 || '.md', n, n, 'A limit.', ($2::text[])[1 + n % $4], 1, 1, 'limit', sha256('limit'),
       ($3::text[])[1 + n % $4], 'same', 'bench'
     from generate_series(1, $5::int) n`,
    [projectId, blobs.map(({ path }) => path), blobs.map(({ oid }) => oid), blobs.length, claims],
  );
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    repository.commit({ "README.md": `round ${round}` });
    const at = await treeNow();
    const startedAt = performance.now();
    const { looked } = await findClaimsInSource(database.pool, projectId, at, signal);
    times.push(performance.now() - startedAt);
    if (looked !== 0) throw new Error(`${looked} claims were read although their files did not change`);
  }
  const ms = median(times);
  console.log(`${claims} claims on ${files} unchanged files: ${ms.toFixed(0)} ms (aim: ${msMax} ms)`);
  await writeFigure("claims", "npm run bench -- truth --write", {
    what: `${claims} claims looked at again after a commit, their files unchanged`,
    figure: `${ms.toFixed(0)} ms`,
    aim: `≤ ${msMax} ms`,
  });
  process.exitCode = ms <= msMax ? 0 : 1;
} finally {
  await mirrors.close();
  await database.close();
  rmSync(dir, { recursive: true, force: true });
}
