import { runAction } from "./run-action.ts";

process.exitCode = await runAction(process.env, (line) => console.log(line));
