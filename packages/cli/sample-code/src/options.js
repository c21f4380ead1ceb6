/** What `npx @drumlin/listen` takes on its command line. */
export const options = [
  { flag: "--queue", value: "NAME", help: "the queue to listen to" },
  { flag: "--to", value: "URL", help: "where to pass deliveries on" },
];
