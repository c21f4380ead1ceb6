/**
 * NOTIFY channels, each sent in the writing transaction. A notice is only a hint; the tables are the source of truth.
 */
export const channels = {
  /** A job's visible state changed; payload: job id. */
  jobChanged: "emend_job_changed",
  /** A job may be due; payload: project id. */
  jobDue: "emend_job_due",
  /** An active job was asked to stop; payload: job id. */
  stopAsked: "emend_stop_asked",
  /** A key was revoked or changed; payload: key id. */
  keyChanged: "emend_key_changed",
  /** A project was changed (sent by a trigger); payload: project id. */
  projectChanged: "emend_project_changed",
  /** A webhook delivery is due (sent by a trigger). */
  deliveryDue: "emend_delivery_due",
  /** A pull request must be polled now. */
  lookDue: "emend_look_due",
  /** A task was requested. */
  taskDue: "emend_task_due",
} as const;
export type Channel = (typeof channels)[keyof typeof channels];
