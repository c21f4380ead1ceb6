/** What `npx @drumlin/listen` takes on its command line. */
export const options = [
  { flag: "--queue", value: "NAME", help: "the queue to listen to" },
  { flag: "--to", value: "URL", help: "where to pass deliveries on" },
  { flag: "--timeout", value: "TIME", default: "30s", help: "how long an answer may take" },
  { flag: "--retries", value: "NUMBER", default: "3", help: "how often a failed delivery is tried again" },
];
