import { expect, it } from "vitest";
import { AppError } from "../../server/src/errors.ts";
import { createLogger } from "./logger.ts";

function serialized(error: unknown): Record<string, unknown> {
  let text = "";
  const stream = {
    write(line: string) {
      text += line;
    },
  };
  createLogger({ level: "info", stream }).warn({ err: error }, "failed");
  return (JSON.parse(text) as { err: Record<string, unknown> }).err;
}

it("logs an error's words and place, not the objects that hang on it", () => {
  const error = Object.assign(new Error("lost"), { code: "57P01", client: { secretKey: 42 } });
  expect(serialized(error)).toEqual({ type: "Error", code: "57P01", message: "lost", stack: error.stack });
});

it("does not log what a person wrote", () => {
  const error = new AppError("instruction_not_understood", { publicMessage: "not understood: «my secret plan»" });
  expect(JSON.stringify(serialized(error))).not.toContain("secret plan");
});
