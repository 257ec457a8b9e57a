// All limits and durations of the service, in one place: a section per area.

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** How long what was deleted is kept (A 3, A 8). */
export const RETENTION = {
  inactive_user_ms: 30 * DAY,
} as const;

/** Secrets (A 8). */
export const SECRETS = {
  scopes: 100,
  secrets_per_scope: 1000,
  name_length: 128,
  value_bytes: 128 * 1024,
} as const;
