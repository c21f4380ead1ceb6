import { Type } from "typebox";
import { defineTool } from "./tool.ts";

const endings: Readonly<Record<string, RegExp>> = {
  "image/png": /\.png$/i,
  "image/jpeg": /\.jpe?g$/i,
  "image/webp": /\.webp$/i,
};

export const addPictureTool = defineTool({
  name: "add_picture",
  description:
    "Adds an attached picture to the docs. Beside others of the site; then show it on a page, with an alt text.",
  input: Type.Object(
    { id: Type.String({ minLength: 1 }), path: Type.String({ minLength: 1 }) },
    { additionalProperties: false },
  ),
  writes: true,
  async run({ attachments, overlay, refusePath }, { id, path }) {
    const pictures = attachments.filter(({ picture }) => picture !== null);
    const found = pictures.find((one) => one.id === id);
    if (!found?.picture) {
      const ids = pictures.map((one) => one.id).join(", ");
      return { kind: "refused", reason: `there is no attached picture ${JSON.stringify(id)}; there are: ${ids}` };
    }
    if (!endings[found.type]?.test(path)) {
      return { kind: "refused", reason: `${id} is ${found.type}: give the path the ending of that type` };
    }
    const refusal = refusePath(path);
    if (refusal !== null) return { kind: "refused", reason: refusal };
    const before = await overlay.read(path);
    await overlay.set(path, found.picture);
    return { kind: "answer", text: `${before === null ? "added" : "replaced"} ${path}` };
  },
});
