import type { OwnCheck } from "./check.ts";

export const unclosedFence: OwnCheck = {
  id: "unclosed-fence",
  severity: "warning",
  *run({ openFence }) {
    if (openFence === undefined) return;
    const message = "Nothing closes this code block, so the rest of the page is code; add the closing fence.";
    yield { ...openFence, message };
  },
};
