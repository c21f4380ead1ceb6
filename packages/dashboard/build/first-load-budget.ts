import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** Fails the build if the first page would load more compressed script and style than this. */
export function firstLoadBudget({ bytesMax }: { bytesMax: number }): Plugin {
  return {
    name: "first-load-budget",
    generateBundle(_options, bundle) {
      const names = new Set(
        Object.values(bundle).flatMap((file) => (file.type === "chunk" && file.isEntry ? [file.fileName] : [])),
      );
      // A set also iterates over elements that are added meanwhile.
      for (const name of names) {
        const chunk = bundle[name];
        if (chunk?.type !== "chunk") continue;
        for (const needed of [...chunk.imports, ...(chunk.viteMetadata?.importedCss ?? [])]) names.add(needed);
      }
      const sizes = [...names].map((name) => {
        const file = bundle[name];
        return { name, bytes: file ? gzipSync(file.type === "chunk" ? file.code : file.source).length : 0 };
      });
      const bytes = sizes.reduce((sum, each) => sum + each.bytes, 0);
      if (bytes > bytesMax) {
        const parts = sizes.map((each) => `${each.name}: ${each.bytes}`).join(", ");
        this.error(
          `the first load is ${bytes} bytes of script and style, compressed; at most ${bytesMax} are allowed (${parts})`,
        );
      }
      this.info(`first load: ${bytes} bytes of script and style, compressed`);
    },
  };
}
