import { expect, it } from "vitest";
import { asTyped, createJobLine, createKeyLine } from "./commands.ts";

it("types commands as they run where the server does, with its data folder where it is another", () => {
  const session = { command: "npx emend", dataDir: "/srv/my docs" };
  expect(asTyped(createKeyLine(null), session)).toBe(
    `EMEND_DATA_DIR='/srv/my docs' npx emend key create --project "$(EMEND_DATA_DIR='/srv/my docs' npx emend project add ` +
      `"My docs" --forge local --repo .)" --name CI --expires 90d`,
  );
  expect(asTyped(`EMEND_API_KEY=k \\\n  ${createJobLine("prj_1")}`, session)).toBe(
    'EMEND_API_KEY=k \\\n  npx emend job create prj_1 "Fix broken links." --wait',
  );
  expect(asTyped("emend user link", { command: "emend", dataDir: null })).toBe("emend user link");
  expect(asTyped("git push https://emend.test/git emend main", session)).toContain("emend main");
});
