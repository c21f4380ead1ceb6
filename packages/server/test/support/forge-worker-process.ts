// A worker with the real stages as a process of its own, told at which point to die.
import { startForgeWorker } from "./forge-worker.ts";

await startForgeWorker(JSON.parse(process.argv[2] ?? ""));
// Its parent is gone: nobody would ever stop it.
process.stdin.resume().once("end", () => process.exit(1));
