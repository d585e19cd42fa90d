import { z } from 'zod';
import type { HeldCall, TurnEnd } from '../../../machines/channels/turn.ts';

/** State of the run that a message started; `unknown` if the task does not contain the message. */
export type Standing =
  | { kind: 'unknown' }
  | { kind: 'working' }
  | { kind: 'held'; call: HeldCall }
  | { kind: 'ended'; end: TurnEnd };

const part = z.union([
  z.object({ kind: z.literal('text'), text: z.string() }),
  z.object({ kind: z.literal('data'), data: z.json() }),
  z.object({ kind: z.literal('file'), file: z.object({ name: z.string().optional() }) }),
]);

type Part = z.infer<typeof part>;

const message = z.object({ role: z.string(), messageId: z.string(), parts: z.array(part) });

const task = z.object({
  status: z.object({ state: z.string(), message: message.optional() }),
  history: z.array(message).default([]),
  artifacts: z.array(z.object({ parts: z.array(part) })).optional(),
  metadata: z
    .object({
      deferral: z
        .object({
          id: z.string(),
          tool: z.string(),
          to: z.string(),
          escalated_to: z.string().optional(),
        })
        .optional(),
    })
    .optional(),
});

/**
 * Reads the run state of one message from a task in its legacy format. The answer is found even if later messages have
 * run the task again. Set `isRunOf` if the run certainly belongs to the message: messages added while a call was held
 * then count as part of the run. Throws ZodError for a malformed task.
 */
export function standingOf(json: unknown, messageId: string, isRunOf = false): Standing {
  const { status, history, artifacts = [], metadata } = task.parse(json);
  const at = history.findIndex((said) => said.messageId === messageId);
  if (at < 0) return { kind: 'unknown' };
  const later = history.slice(at + 1);
  const answer = isRunOf ? later.find(({ role }) => role === 'agent') : later[0];
  if (answer?.role === 'agent') return ended('completed', textOf(answer.parts));
  if (answer !== undefined) return { kind: 'ended', end: { kind: 'gone' } };
  const text = textOf(artifacts[0]?.parts ?? status.message?.parts ?? []);
  switch (status.state) {
    case 'completed':
    case 'failed':
    case 'canceled':
      return ended(status.state, text);
    default:
      return status.state === 'deferred' && metadata?.deferral !== undefined
        ? { kind: 'held', call: metadata.deferral }
        : { kind: 'working' };
  }
}

function ended(kind: 'completed' | 'failed' | 'canceled', text: string): Standing {
  return { kind: 'ended', end: { kind, text } };
}

function textOf(parts: readonly Part[]): string {
  return parts.map(partText).join('\n\n');
}

function partText(said: Part): string {
  if (said.kind === 'text') return said.text;
  if (said.kind === 'file') return `(a file: ${said.file.name ?? 'without a name'})`;
  return `\`\`\`json\n${JSON.stringify(said.data, null, 2)}\n\`\`\``;
}
