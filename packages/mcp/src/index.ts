export { answerMcpRequest } from "./answer-http.ts";
export { serveStdio } from "./serve-stdio.ts";
