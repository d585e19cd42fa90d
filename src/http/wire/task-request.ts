import { z } from 'zod';
import { isBase64 } from '../../machines/base64.ts';
import type { Message, Part } from '../../machines/domain/task.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../machines/json.ts';
import { newTaskIdForm } from '../../machines/task/task-id.ts';
import { Problem } from './problem.ts';

const identifier = z.string({ error: 'must be a string' }).regex(newTaskIdForm, {
  error: 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : -, the first a letter or a digit',
});

/** References chosen by callers. */
const reference = z
  .string({ error: 'must be a string' })
  .min(1, { error: 'must not be empty' })
  .max(256, { error: 'must be at most 256 characters' });

const text = z.string({ error: 'must be a string' });

// A parsed value can only be JSON or absent.
const data = z.custom<JsonValue>((value) => value !== undefined, { error: 'must be JSON' });

const file = z
  .object(
    {
      name: text.optional(),
      mimeType: text.optional(),
      uri: text.optional(),
      bytes: text.refine(isBase64, { error: 'must be base64' }).optional(),
    },
    { error: 'must be an object with uri or bytes' },
  )
  .refine(({ uri, bytes }) => (uri === undefined) !== (bytes === undefined), {
    error: 'must have exactly one of uri and bytes',
  });

const metadata = z
  .custom<JsonObject>((value) => isJsonObject(value as JsonValue), { error: 'must be an object' })
  .optional();

// Older orchestrators use `type` for the kind of a part.
const part = z.preprocess(
  (value) =>
    isJsonObject(value) && !('kind' in value) ? { ...value, kind: value['type'] } : value,
  z.discriminatedUnion(
    'kind',
    [
      z.object({ kind: z.literal('text'), text, metadata }),
      z.object({ kind: z.literal('data'), data, metadata }),
      z.object({ kind: z.literal('file'), file, metadata }),
    ],
    { error: 'must be text, data or file' },
  ),
);

const message = z.object(
  {
    role: z.literal('user', { error: 'must be "user"' }).default('user'),
    parts: z
      .array(part, { error: 'must be a list of parts' })
      .min(1, { error: 'must hold at least one part' })
      .max(1_000, { error: 'must hold at most 1000 parts' }),
    messageId: reference.optional(),
    contextId: reference.optional(),
    metadata,
  },
  { error: 'must be an object with parts' },
);

/** The body of a legacy send without its optional `task` wrapper. */
const submission = z.object({
  id: identifier.optional(),
  contextId: reference.optional(),
  message,
});

export const send = z.union([z.object({ task: submission }), submission]).meta({ id: 'Send' });

/** A legacy send (docs/contract/transports.md). */
export interface Submission {
  id?: string;
  contextId?: string;
  message: Message;
}

/**
 * Reads the body of a legacy send, `{task: {id?, message}}` or `{id?, message}`. `newMessageId` supplies a missing
 * message ID. Throws a 400 Problem that names the fault.
 */
export function readSubmission(body: unknown, newMessageId: () => string): Submission {
  const isWrapped = isJsonObject(body) && isJsonObject(body['task']);
  const result = submission.safeParse(isWrapped ? body['task'] : body);
  if (!result.success) throw new Problem('invalid_body', describe(result.error, isWrapped));
  const { id, message: sent } = result.data;
  const contextId = result.data.contextId ?? sent.contextId;
  return {
    ...(id === undefined ? {} : { id }),
    ...(contextId === undefined ? {} : { contextId }),
    message: {
      role: 'user',
      parts: sent.parts.map(keepPresent),
      messageId: sent.messageId ?? newMessageId(),
      ...annotated(sent),
    },
  };
}

/** Returns true if a string is a valid ID for a new task. */
export function isNewTaskId(text: unknown): text is string {
  return typeof text === 'string' && newTaskIdForm.test(text);
}

function describe({ issues: [issue] }: z.ZodError, isWrapped: boolean): string {
  const path = [...(isWrapped ? ['task'] : []), ...(issue?.path ?? [])].join('.');
  if (path === '') return 'the body must be {"task": {"id", "message"}} or {"id", "message"}';
  return `${path} ${issue?.message ?? 'is not valid'}`;
}

function keepPresent(sent: z.infer<typeof part>): Part {
  const kept = annotated(sent);
  if (sent.kind === 'text') return { kind: 'text', text: sent.text, ...kept };
  if (sent.kind === 'data') return { kind: 'data', data: sent.data, ...kept };
  const present = Object.entries(sent.file).filter(([, value]) => value !== undefined);
  return { kind: 'file', file: Object.fromEntries(present), ...kept };
}

function annotated({ metadata: own }: { metadata?: JsonObject | undefined }): {
  metadata?: JsonObject;
} {
  return own === undefined ? {} : { metadata: own };
}
