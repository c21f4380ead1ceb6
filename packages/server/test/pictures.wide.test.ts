import { useModelProject } from "@emend/testkit/model-project.ts";
import { makePdf, makePng } from "@emend/testkit/pictures.ts";
import { expect, test } from "vitest";
import { cleanPicture } from "../src/jobs/uploads/clean-picture.ts";

const models = useModelProject();
const docs = {
  "docs.json": JSON.stringify({ navigation: [{ group: "Guides", pages: ["index", "login"] }] }),
  "index.mdx": "---\ntitle: Home\n---\n\nSee [the login](/login).\n",
  "login.mdx": "---\ntitle: Login\n---\n\nOpen the login page.\n",
};

test("an attached picture is seen, and is on a page of the pull request; of a document the text is read", async () => {
  const { client, project, key, server, far } = await models.install(
    (turn, { messages }) => {
      const [picture = ""] = JSON.stringify(messages).match(/upl_\w+(?=: login\.png)/) ?? [];
      if (turn === 0) return [["add_picture", { id: picture, path: "images/login.svg" }]];
      if (turn === 1) return [["add_picture", { id: picture, path: "images/login.png" }]];
      const newText = "Open the login page.\n\n![The login form with its two fields](/images/login.png)\n";
      if (turn === 2) return [["edit_file", { path: "login.mdx", oldText: "Open the login page.\n", newText }]];
      return [["finish", { title: "Show the login form", summary: "Added the picture.", reply: "Seen." }]];
    },
    { docs, settings: { secondReader: false } },
  );
  const upload = async (bytes: Buffer, name: string, type: string) => {
    const url = `${server.url}/v2/agent/${project.id}/upload?name=${name}`;
    const headers = { authorization: `Bearer ${key}`, "content-type": type };
    const response = await fetch(url, { method: "POST", headers, body: new Uint8Array(bytes) });
    return ((await response.json()) as { id: string }).id;
  };
  const png = makePng();
  const files = [
    await upload(png, "login.png", "image/png"),
    await upload(makePdf("Port 4610"), "spec.pdf", "application/pdf"),
  ];
  const { json } = await client.send("/job", { prompt: "Show the login form on its page.", files });
  const { id } = json as { id: string };
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed", prLink: expect.any(String) });
  // The mock keeps the words of a request only: what a picture looks like on the wire is tested with each vendor's protocol.
  const sent = JSON.stringify(far.requests[0]);
  expect(sent).toContain("Port 4610");
  expect(sent).toContain("add_picture");
  expect(JSON.stringify(far.requests[1])).toContain("give the path the ending of that type");
  expect(await models.git(project.id, "show", `emend/${id}:login.mdx`)).toContain("/images/login.png");
  const stored = await models.git(project.id, "rev-parse", `emend/${id}:images/login.png`);
  const cleaned = cleanPicture(png);
  if (cleaned === null || cleaned === "too large") throw new Error("refused");
  expect(Number(await models.git(project.id, "cat-file", "-s", stored))).toBe(cleaned.bytes.length);
  expect((await client.run(id)).pullRequest).toMatchObject({ draft: false });
  const again = await upload(makePng({ width: 7 }), "menu.png", "image/png");
  expect((await client.send(`/job/${id}/message`, { prompt: "Look at this too.", files: [again] })).status).toBe(200);
  await client.untilFinal(id);
  expect(JSON.stringify(far.requests.at(-1))).toContain(`${again}: menu.png (picture, 7 × 3)`);
});
