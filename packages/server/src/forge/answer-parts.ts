import { Type } from "typebox";

/** Where a forge shows something: it becomes a link for people, so nothing but the web's own schemes. */
export const PageUrl = Type.String({ maxLength: 2000, pattern: '^https?://[^\\s\\u0000-\\u0020"<>\\\\\\u007f]+$' });

/** As far as the database counts; no forge comes near it. */
export const PullNumber = Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 });
