import { EmendError } from "@emend/sdk";
import { expect, it } from "vitest";
import { describeError } from "./run-cli.ts";

it("what a server says is one line, and moves no cursor", () => {
  const said = "gone\u001b[2J\r::error::forged\n  and \u202emore";
  const { message, exitCode } = describeError(new EmendError("conflict", said, { status: 409 }), {});
  expect(message).toBe("gone\ufffd[2J; ::error::forged; and \ufffdmore");
  expect(exitCode).toBe(4);
});
