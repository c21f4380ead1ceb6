// Apart from the schemas, which a browser need not load.

/** The most that a prompt or a message can name. */
export const uploadsPerPromptMax = 10;
export const uploadBytesMax = 5 * 2 ** 20;
/** What can be attached. Of a PDF, the agent gets the text. */
export const uploadTypes = ["image/png", "image/jpeg", "image/webp", "application/pdf"] as const;
