import { type LinkCheck, quoted } from "./check.ts";

const names = { image: "image", src: "file", include: "import" } as const;

export const missingFile: LinkCheck = {
  id: "missing-file",
  severity: "error",
  *run({ page, links }) {
    for (const { link, resolution } of links) {
      if (resolution.kind !== "missing") continue;
      if (link.kind !== "image" && link.kind !== "src" && link.kind !== "include") continue;
      const message = `The ${names[link.kind]} ${quoted(link.target)} does not exist; add the file or correct the path.`;
      yield { path: page.path, line: link.line, column: link.column, message };
    }
  },
};
