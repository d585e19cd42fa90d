import { z } from 'zod';
import type { Message } from '../../machines/domain/task.ts';
import type { JsonValue } from '../../machines/json.ts';

const text = z.string();

/** The schema of one piece of a message. */
export const part = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), text }),
  z.object({ kind: z.literal('data'), data: z.custom<JsonValue>() }),
  z.object({
    kind: z.literal('file'),
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
    metadata: z.object({ role: z.literal('agent') }).exactOptional(),
  })
  .meta({ id: 'Message', description: 'A message of a caller or of the agent.' });

/** Formats a message. */
export function presentMessage({
  role,
  parts,
  messageId,
  sentAs,
}: Message): z.input<typeof message> {
  const metadata = sentAs === undefined ? {} : { metadata: { role: sentAs } };
  return { kind: 'message', role, parts, messageId, ...metadata };
}
