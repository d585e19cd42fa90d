import { z } from 'zod';
import type { Message } from '../../machines/domain/task.ts';
import type { JsonValue } from '../../machines/json.ts';

const text = z.string();

const metadata = z
  .object({})
  .catchall(z.custom<JsonValue>())
  .meta({ description: 'What the client added for itself.' })
  .exactOptional();

/** The schema of one piece of a message. */
export const part = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), text, metadata }),
  z.object({ kind: z.literal('data'), data: z.custom<JsonValue>(), metadata }),
  z.object({
    kind: z.literal('file'),
    metadata,
    file: z.object({
      name: text.exactOptional(),
      mimeType: text.exactOptional(),
      uri: text.exactOptional(),
      bytes: text.exactOptional(),
    }),
  }),
]);

export const message = z
  .object({
    kind: z.literal('message'),
    role: z.enum(['user', 'agent']),
    parts: z.array(part),
    messageId: text,
    metadata: z
      .object({ role: z.custom<JsonValue>().exactOptional() })
      .catchall(z.custom<JsonValue>())
      .exactOptional(),
  })
  .meta({ id: 'Message', description: 'A message of a caller or of the agent.' });

/** Formats a message. The role that its sender named is `metadata.role`. */
export function presentMessage({
  role,
  parts,
  messageId,
  metadata,
  sentAs,
}: Message): z.input<typeof message> {
  const shown = { ...metadata, ...(sentAs === undefined ? {} : { role: sentAs }) };
  const kept = metadata !== undefined || sentAs !== undefined;
  return { kind: 'message', role, parts, messageId, ...(kept ? { metadata: shown } : {}) };
}
