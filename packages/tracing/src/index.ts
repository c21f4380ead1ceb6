export { traceAgent, traceModel } from "./trace-agent.ts";
export {
  readTracingSettings,
  startTracing,
  type Tracer,
  type TracingSettings,
  traceFetch,
  traceRequests,
  traceStages,
} from "./tracing.ts";
