import type { Form } from "./form.ts";
import { contentForms } from "./forms/contents.ts";
import { navigationForms } from "./forms/navigation.ts";
import { pageForms } from "./forms/pages.ts";
import { termForms } from "./forms/terms.ts";

/** Every form of an instruction that the rules know. */
export const forms: readonly Form[] = [
  ...termForms,
  ...pageForms,
  ...contentForms,
  ...navigationForms,
  {
    example: "do the following:",
    patterns: [
      "do (the following|this|these|these things|the following things|the following changes) [:]",
      "make (these|the following) changes [:]",
      "(here is what to do|the following|instructions|tasks|todo|changes) :",
      "(go ahead|after that|after this|in addition|on top of that)",
      "thank you [very much|so much]",
      "(hi|hello|hey) [there|emend|team]",
      // For "find and replace …".
      "(find|search)",
    ],
    read: () => ({ kind: "nothing" }),
  },
];
