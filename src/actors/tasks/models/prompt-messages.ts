import { createHash } from 'node:crypto';
import type { ModelMessage } from 'ai';
import type { Exchange, Message } from '../../../machines/task/task.ts';
import type { Conversation } from '../../ports.ts';
import { messageContent, messageText } from './message-content.ts';
import type { WireNames } from './wire-names.ts';

/**
 * Writes a conversation as a provider is told it: the earlier messages, the request, and each call of the run right before
 * its result, with what was said meanwhile in its place.
 */
export function promptMessages(conversation: Conversation, names: WireNames): ModelMessage[] {
  const { history, request, exchanges, followUps } = conversation;
  const saidAfter = (count: number) =>
    followUps.filter(({ after }) => after === count).map(({ message }) => message);
  return [
    ...[...history, request, ...saidAfter(0)].flatMap(said),
    ...exchanges.flatMap((exchange, index) => [
      ...called(exchange, names),
      ...saidAfter(index + 1).flatMap(said),
    ]),
  ];
}

function said(message: Message): ModelMessage[] {
  if (message.role === 'agent') {
    const text = messageText(message);
    return text === '' ? [] : [{ role: 'assistant', content: text }];
  }
  const content = messageContent(message);
  return content.length === 0 ? [] : [{ role: 'user', content }];
}

function called({ call, result }: Exchange, names: WireNames): ModelMessage[] {
  const toolCallId = wireId(call.id);
  const toolName = names.toWire(call.tool);
  const output = { type: 'text', value: result.toWellFormed() } as const;
  return [
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId, toolName, input: call.args }],
    },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] },
  ];
}

/** Some servers take nine letters and digits as the id of a call, and nothing else. */
function wireId(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 9);
}
