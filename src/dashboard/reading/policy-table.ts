import { load, YAMLException } from 'js-yaml';
import * as z from 'zod';
import { argsDigest } from '../../actors/governance/governance.ts';
import { duration } from '../../actors/schema-value.ts';
import { yamlLimits } from '../../actors/yaml-limits.ts';
import type { Caller, RanCall } from '../../machines/domain/task.ts';
import { decimalOf } from '../../machines/exact-decimal.ts';
import type { JsonObject } from '../../machines/json.ts';

const object = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  { error: 'this must be a map of keys and values' },
);

const caller = z.strictObject({
  user_id: z.string(),
  email: z.string().exactOptional(),
  org_id: z.string().exactOptional(),
  acr: z.string().exactOptional(),
  groups: z.array(z.string()).exactOptional(),
  claims: object.exactOptional(),
});

const earlier = z.strictObject({
  tool: z.string(),
  args: object.default({}),
  outcome: z.enum(['succeeded', 'failed', 'withheld', 'unknown', 'not_run']).default('succeeded'),
});

const amount = z.union([z.number(), z.string()]).transform((written, context) => {
  const exact = decimalOf(written);
  if (exact !== null) return exact;
  context.addIssue({ code: 'custom', message: 'this is no amount; write 4900 or "4900.50"' });
  return z.NEVER;
});

/** Who decides on a held call, in the words of a rule. */
const deciders = {
  /** One list, or the lists of several rules, each of which the approver must be on; null for anyone. */
  approvers: z
    .union([z.string(), z.array(z.string()), z.array(z.array(z.string()))])
    .nullable()
    .exactOptional(),
  quorum: z.union([z.int(), z.record(z.string(), z.int())]).exactOptional(),
  timeout: duration.exactOptional(),
  four_eyes: z.boolean().exactOptional(),
  require_reason: z.literal([false, 'approve', 'reject', 'both']).exactOptional(),
  require_passkey: z.boolean().exactOptional(),
  edit: z.boolean().exactOptional(),
};

const row = z.strictObject({
  name: z.string(),
  tool: z.string(),
  args: object.default({}),
  caller: caller.exactOptional(),
  /** The time of the call, in RFC 3339; now if absent. */
  now: z.iso
    .datetime({ offset: true, error: 'write a time such as 2026-07-01T09:00:00Z' })
    .transform((text) => Date.parse(text))
    .exactOptional(),
  /** The folder in which the call works, and the coding agent whose hook asks. */
  cwd: z.string().exactOptional(),
  client: z.string().exactOptional(),
  /** What is known besides the call: the used amounts of limits, by name. */
  given: z.strictObject({ limits: z.record(z.string(), amount).default({}) }).prefault({}),
  /** Earlier calls of the session, oldest first. */
  history: z.array(earlier).default([]),
  expect: z.strictObject({
    decision: z.enum(['allow', 'deny', 'modify', 'step_up', 'defer']),
    rule: z.string().exactOptional(),
    to: z.union([z.string(), z.array(z.string())]).exactOptional(),
    ...deciders,
  }),
});

const circumstances = row.pick({ caller: true, history: true });

/**
 * Reads the caller and the earlier calls of a hypothetical call, in the form of a row. Throws PolicyTableError, whose
 * problems begin with `caller` or `history`.
 */
export function readCircumstances(given: unknown): z.output<typeof circumstances> {
  const read = circumstances.safeParse(given);
  if (read.success) return read.data;
  throw new PolicyTableError(
    read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`),
  );
}

/** A row of a table of policy tests. */
export type TestRow = z.output<typeof row> & { place: string };

/** A table of policy tests cannot be used; each problem names its place. */
export class PolicyTableError extends Error {
  readonly code = 'invalid_table';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('; '));
    this.problems = problems;
  }
}

/** Parses a table of policy tests. Throws PolicyTableError; nothing has been evaluated then. */
export function tableIn(text: string, file: string): TestRow[] {
  const read = z.array(row).safeParse(parsed(file, text));
  if (!read.success) {
    throw new PolicyTableError(
      read.error.issues.map(({ path: [number, ...path], message }) => {
        const place = typeof number === 'number' ? ` row ${number + 1}` : '';
        const key = path.length === 0 ? '' : `${path.join('.')}: `;
        return `${file}${place}: ${key}${message}`;
      }),
    );
  }
  return read.data.map((each, index) => ({ ...each, place: `${file} row ${index + 1}` }));
}

function parsed(file: string, text: string): unknown {
  try {
    return load(text, yamlLimits);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { mark, reason } = error;
    throw new PolicyTableError([
      `${file}:${(mark?.line ?? 0) + 1}:${(mark?.column ?? 0) + 1}: ${reason}`,
    ]);
  }
}

/** Returns the caller of a row; `null` for a row without one. */
export function callerOf({ caller: given }: Pick<TestRow, 'caller'>): Caller | null {
  if (given === undefined) return null;
  const { user_id: userId, email, org_id: orgId, acr, groups, claims } = given;
  return {
    ...{ provider: 'test', userId },
    ...(email === undefined ? {} : { email }),
    ...(orgId === undefined ? {} : { orgId }),
    ...(acr === undefined ? {} : { acr }),
    ...(groups === undefined ? {} : { groups }),
    ...(claims === undefined ? {} : { claims }),
  };
}

/** Returns the earlier calls of a row. */
export function ranBefore({ history }: Pick<TestRow, 'history'>): RanCall[] {
  return history.map(({ tool, args, outcome }, index) => ({
    tool,
    callId: `earlier-${index}`,
    argsSha256: argsDigest(tool, args),
    args: JSON.stringify(args),
    outcome,
    at: index,
  }));
}
