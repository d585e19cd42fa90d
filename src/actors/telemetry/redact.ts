import { ruleOptions } from '../../machines/domain/rule-options.ts';

/** Placeholder for a redacted value. */
export const redactedText = '[redacted]';

/** Keys whose strings, numbers or booleans are shown: identifiers, tool and state names, counts and times. */
const shownKeys = new Set([
  'acr',
  'actorId',
  'after',
  'at',
  'bindApprover',
  'callId',
  'changedAt',
  'contextId',
  'correlationId',
  'createdAt',
  'decidedAt',
  'decision',
  'distinctCallers',
  'duration',
  'checking',
  'credential',
  'escalateAt',
  'expiresAt',
  'id',
  'idempotent',
  'inputTokens',
  'kind',
  'layer',
  'messageId',
  'model',
  'now',
  'outputTokens',
  'presentedAcr',
  'provider',
  'onReject',
  'onTimeout',
  'quorum',
  'remindAt',
  'requestedAt',
  'requiredAcr',
  'revision',
  'role',
  'score',
  'stage',
  'standing',
  'startedAt',
  'state',
  'status',
  'taskId',
  'timeout',
  'ttl',
  'tool',
  'turns',
  'type',
  'verb',
  'wakeAt',
  ...Object.keys(ruleOptions),
]);

/** Keys whose objects are descended into, because only the charts define their keys. */
const openedKeys = new Set([
  'approvals',
  'attempt',
  'call',
  'calls',
  'deferral',
  'exchanges',
  'failure',
  'followUps',
  'history',
  'input',
  'message',
  'outcome',
  'output',
  'pending',
  'records',
  'request',
  'ruling',
  'run',
  'said',
  'settled',
]);

/** Maximum list items shown; the rest is omitted. */
const maximumItems = 100;

/** Matches an identifier or a name, but no sentence, address or document. */
const plainName = /^[\w.:/*-]{1,160}$/;

/**
 * Copies the fields of a context, event, input or output, and shows only values known to be harmless. Keys that no list
 * contains are shown as `[redacted]`, so a new field stays hidden until it is added.
 */
export function redactFields(fields: object): { [key: string]: unknown } {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, redactField(key, value)]),
  );
}

/** Returns a name or identifier as is, and redacts anything else. */
export function redactName(text: string): string {
  return plainName.test(text) ? text : redactedText;
}

function redactField(key: string, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  if (openedKeys.has(key)) return redactInside(value);
  if (!shownKeys.has(key)) return redactedText;
  if (typeof value === 'string') return redactName(value);
  return typeof value === 'number' || typeof value === 'boolean' ? value : redactedText;
}

function redactInside(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, maximumItems).map(redactItem);
  return redactItem(value);
}

function redactItem(value: unknown): unknown {
  if (value === null) return null;
  return typeof value === 'object' && !Array.isArray(value) ? redactFields(value) : redactedText;
}
