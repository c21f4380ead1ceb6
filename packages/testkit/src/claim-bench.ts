import type { Claim } from "@emend/contract";
import { createPageHistory } from "@emend/tree";
import { addClaim, listClaims } from "../../server/src/claims/claim-store.ts";
import { type ClaimPollDeps, pollClaims } from "../../server/src/claims/poll-claims.ts";
import { createTestDatabase } from "./database.ts";
import type { TestRepository } from "./make-repository.ts";
import { openMirrorBench } from "./mirrors.ts";
import { seedProject } from "./seed-jobs.ts";

/** The page of the docs, and the code that it is about. */
export const page = "# Timeouts\n\nA call ends after 30 seconds.\n\nOther words.\n";
export const net = `export function connect(options: Options) {
  const timeoutMs = options.timeoutMs ?? 30_000;
  return open({ timeoutMs });
}
`;

export const remote = ({ url }: TestRepository) => ({ url, authorization: null });

/** A project with docs and their source `api`, new for each test, and what polls its claims. */
export async function openClaimBench() {
  const { pool, drop } = await createTestDatabase();
  const mirrors = openMirrorBench();
  let count = 0;

  /** A new project. */
  async function begin() {
    await pool.query("truncate projects cascade");
    const projectId = await seedProject(pool);
    count += 1;
    const docs = mirrors.repository(`docs-${count}`);
    const code = mirrors.repository(`code-${count}`);
    docs.commit({ "docs/timeouts.md": page });
    code.commit({ "src/net.ts": net });
    await pool.query(
      `insert into context_repositories (id, project_id, name, forge, repository_url)
       values ($2, $1, 'api', 'github', 'https://github.test/acme/api')`,
      [projectId, `ctx_api${count}`],
    );
    const deps = (more: Partial<ClaimPollDeps> = {}): ClaimPollDeps => ({
      pool,
      mirrors: mirrors.mirrors,
      ownRemote: async () => remote(docs),
      contextRemote: async () => remote(code),
      pageHistory: createPageHistory({ git: mirrors.git, dir: mirrors.mirrorsDir }),
      onMoved: async () => {},
      ...more,
    });
    const claims = async () =>
      (await listClaims(pool, projectId, { page: null, state: null, limit: 100, after: null })).claims;
    return {
      projectId,
      docs,
      code,
      deps,
      claims,
      look: (more: Partial<ClaimPollDeps> = {}) => pollClaims(deps(more), projectId, mirrors.signal),
      add: (place = "docs/timeouts.md:3", source = "@api/src/net.ts:2") =>
        addClaim(pool, { projectId, page: place, source, createdBy: "test" }),
      async only(): Promise<Claim> {
        const [claim, ...others] = await claims();
        if (!claim || others.length > 0) throw new Error(`${claim ? others.length + 1 : 0} claims, not 1`);
        return claim;
      },
    };
  }

  return {
    pool,
    mirrors,
    begin,
    async close(): Promise<void> {
      await drop();
      await mirrors.close();
    },
  };
}

export type ClaimBench = Awaited<ReturnType<typeof openClaimBench>>;
export type ClaimProject = Awaited<ReturnType<ClaimBench["begin"]>>;
