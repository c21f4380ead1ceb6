/** NOTIFY channels, each sent in the writing transaction. A notice is a hint; the tables are the truth. */
export const channels = {
  /** A job's visible state changed; payload: job id. */
  jobChanged: "emend_job_changed",
  /** A job may be due; payload: project id. */
  jobDue: "emend_job_due",
  /** An active job was asked to stop; payload: job id. */
  stopAsked: "emend_stop_asked",
  /** A key was revoked or changed; payload: key id. */
  keyChanged: "emend_key_changed",
  /** A project was changed (by a trigger, so by whoever changes it); payload: project id. */
  projectChanged: "emend_project_changed",
  /** A message to a webhook is due (by a trigger). */
  deliveryDue: "emend_delivery_due",
  /** A pull request is to be looked at now, for somebody did or said something on it. */
  lookDue: "emend_look_due",
  /** A task was asked for. */
  taskDue: "emend_task_due",
} as const;
export type Channel = (typeof channels)[keyof typeof channels];
