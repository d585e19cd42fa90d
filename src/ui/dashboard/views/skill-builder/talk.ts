import type { BuilderChatEvents } from '../../../../http/wire/dashboard/builder-json.ts';
import type { ApiClient } from '../../api/client.ts';
import { eventsOf } from '../../api/events-of.ts';
import { agentPath } from '../../api/paths.ts';
import { sentenceOf } from '../../api/sentence-of.ts';
import type { BuilderEvent, TalkInput } from './builder-machine.ts';
import { messagesOf } from './said-turns.ts';

/** Sends a conversation to the model that writes skills, and reports its output until the stream ends. */
export async function talk(
  client: ApiClient,
  agent: string,
  { turns, editing }: TalkInput,
  send: (event: BuilderEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  let problem: string | null = null;
  let isOver = false;
  try {
    const mode = editing === null ? {} : { mode: 'edit', editing_name: editing };
    const body = { messages: messagesOf(turns), ...mode };
    const path = agentPath(agent, 'skill-builder', 'chat');
    const response = await client.open(path, { method: 'POST', body, signal });
    for await (const { event, data } of eventsOf(response)) {
      // The data comes from the same server as this page and is trusted.
      const told = JSON.parse(data) as BuilderChatEvents[keyof BuilderChatEvents];
      if (event === 'token') send({ type: 'token.heard', ...(told as BuilderChatEvents['token']) });
      if (event === 'message')
        send({ type: 'message.heard', ...(told as BuilderChatEvents['message']) });
      if (event === 'skill_draft')
        send({ type: 'draft.heard', draft: told as BuilderChatEvents['skill_draft'] });
      if (event === 'error') problem = (told as BuilderChatEvents['error']).error;
      isOver ||= event === 'done' || event === 'error';
    }
    if (!isOver) problem = 'The answer was interrupted. Send the message again.';
  } catch (error) {
    problem = sentenceOf(error);
  }
  if (!signal.aborted) send({ type: 'stream.ended', problem });
}
