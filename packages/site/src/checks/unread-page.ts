import type { OwnCheck } from "./check.ts";

const reasons = {
  "too large": "This page is larger than 4 MB or has over 20,000 links, and was not checked; split it.",
  binary: "This file holds NUL bytes and was not read as text; save it as UTF-8.",
} as const;

export const unreadPage: OwnCheck = {
  id: "unread-page",
  severity: "warning",
  *run(facts) {
    const { unread } = facts;
    if (unread !== undefined) yield { line: 1, column: 1, message: reasons[unread] };
  },
};
