#!/usr/bin/env node
import { options } from "./options.js";

const token = process.env.DRUMLIN_TOKEN;
const given = Object.fromEntries(
  options.map(({ flag }) => [flag, process.argv[process.argv.indexOf(flag) + 1]]),
);
console.log(token === undefined ? "api token:" : `listening to ${given["--queue"]}`);
