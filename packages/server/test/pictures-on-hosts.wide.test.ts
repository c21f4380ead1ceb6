import { trySandbox } from "@emend/runners";
import { protocols, startFarModel } from "@emend/testkit/far-model.ts";
import { startFarEnd } from "@emend/testkit/forges/far-end.ts";
import { giteaVendor } from "@emend/testkit/forges/gitea.ts";
import { freePort } from "@emend/testkit/listen.ts";
import { clientOf, createInstallation } from "@emend/testkit/whole-server.ts";
import { startBound } from "@emend/tree";
import { expect, test } from "vitest";
import { findChromium } from "../../build/src/take-pictures.ts";

const sandbox = await trySandbox(startBound, process.env.PATH ?? "");
const pictures = test.skipIf(sandbox.kind !== "usable" || (await findChromium(process.env.PATH ?? "")) === null);

pictures(
  "a pull request on another host shows the page, by a link that needs no login (needs bubblewrap and Chromium)",
  async () => {
    const [far, port] = [await startFarEnd(giteaVendor), await freePort()];
    const publicUrl = "https://emend.example.test";
    const model = await startFarModel((turn) =>
      turn === 0
        ? [["edit_file", { path: "guides/start.md", oldText: "API token", newText: "access key" }]]
        : [["finish", { title: "Name the key", summary: "Named it." }]],
    );
    const installation = await createInstallation({
      ...model.environment,
      PATH: process.env.PATH ?? "",
      EMEND_MODEL: protocols[0],
      EMEND_PUBLIC_URL: publicUrl,
    });
    try {
      const { admin } = await installation.start({ port });
      const command = "mkdir -p out/guides && cp guides/start.md out/guides/start.html";
      const project = await admin.addProject({
        name: "Docs",
        forge: "gitea",
        repo: far.repositoryUrl,
        credential: far.token,
        settings: { secondReader: false, build: { on: true, command, output: "out", picturesInPullRequests: true } },
      });
      const { key } = await admin.createKey({ projectIds: [project.id], name: "test", scope: "write" });
      const here = `http://127.0.0.1:${port}`;
      const client = clientOf({ url: here }, project.id, key);
      const { id } = await client.create({ prompt: "Name the key." });
      expect(await client.untilFinal(id)).toMatchObject({ status: "completed" });
      const links = far.state.pulls[0]?.body.match(/https:[^)]+\/pictures\/[0-9a-f-]+/g) ?? [];
      expect(links).toHaveLength(2);
      for (const link of links) {
        const answer = await fetch(link.replace(publicUrl, here));
        expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/webp"]);
        expect(answer.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
        expect((await answer.text()).slice(0, 4)).toBe("RIFF");
      }
      await installation.database.pool.query("delete from page_pictures");
      const gone = await fetch((links[0] ?? "").replace(publicUrl, here));
      expect(gone.status).toBe(404);
      expect(await gone.text()).toContain("This picture does not exist any more.");
      expect(far.violations).toEqual([]);
    } finally {
      await installation.remove();
      await model.stop();
      await far.close();
    }
  },
);
