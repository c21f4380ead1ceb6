export type { Construct, ConstructKind } from "./construct.ts";
export { hostsIn } from "./hosts/hosts-in.ts";
export { createPageReader, type PageReader } from "./page-reader.ts";
export { isAllowed, refusedBy } from "./policy.ts";
export { type Policy, truthChecks, type Verdict, type Violation } from "./review.ts";
export { reviewChange } from "./review-change.ts";
export { createContentJudge } from "./vet-content.ts";
