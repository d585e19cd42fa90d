/** The fields that identify a call in an event, and digests; they differ from run to run. */
const callFields = [
  'call_id',
  'deferral_id',
  'args_sha256',
  'runs_sha256',
  'policy_sha256',
  'result_sha256',
] as const;

/** Returns the fields of an event without those that identify its call (test/conformance/evidence.test.ts). */
export function withoutCall(fields: unknown): Record<string, unknown> {
  const kept = Object.entries(fields ?? {}).filter(
    ([name]) => !callFields.some((one) => one === name),
  );
  return Object.fromEntries(kept);
}
