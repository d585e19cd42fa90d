/** What stands in the place of a value that is not shown. */
export const redactedText = '[redacted]';

/** Keys whose text, number or flag is shown: identifiers, names of tools and states, counts and times. */
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
  'fourEyes',
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
]);

/** Keys whose objects are looked into, because the charts alone decide which keys they have. */
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

/** Items of a list that are shown; the rest is cut off. */
const maximumItems = 100;

/** An identifier or a name; a sentence, an address or a document is none. */
const plainName = /^[\w.:/*-]{1,160}$/;

/**
 * Copies the fields of a context, event, input or output, showing only what is known to be harmless.
 * A key that no list names is shown as `[redacted]`, so a new field stays hidden until somebody adds it.
 */
export function redactFields(fields: object): { [key: string]: unknown } {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, redactField(key, value)]),
  );
}

/** Lets a name or an identifier through and nothing else. */
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
