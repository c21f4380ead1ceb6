import { Type } from "typebox";

/** The URL of a page on the forge. People click it, so only http and https are accepted. */
export const PageUrl = Type.String({ maxLength: 2000, pattern: '^https?://[^\\s\\u0000-\\u0020"<>\\\\\\u007f]+$' });

/** The database's limit. No forge comes near it. */
export const PullNumber = Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 });
