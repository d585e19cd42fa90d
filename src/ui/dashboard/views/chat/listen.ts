import { createParser } from 'eventsource-parser';
import type { ApiClient } from '../../api/client.ts';
import { agentPath } from '../../api/paths.ts';
import { sentenceOf } from '../../api/sentence-of.ts';
import type { ConversationEvent, Listening } from './conversation-machine.ts';
import { readToldTask, type ToldProgress } from './turn.ts';

/** Sends a message or joins a task, and reports the agent's output until the stream ends. */
export async function listen(
  client: ApiClient,
  agent: string,
  { message, session, task }: Listening,
  send: (event: ConversationEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  let problem: string | null = null;
  const parser = createParser({
    onEvent: ({ event, data }) => {
      // The data comes from the same server as this page and is trusted.
      const json = JSON.parse(data) as unknown;
      if (event === 'status' || event === 'result') {
        const told = readToldTask(json);
        if (told !== null) send({ type: 'task.told', task: told });
      } else if (event === 'progress') {
        send({ type: 'progress.told', progress: json as ToldProgress });
      } else if (event === 'error') {
        problem = (json as { error: string }).error;
      }
    },
  });
  try {
    const body = { message, ...(session === null ? {} : { session_id: session }) };
    const response =
      task === null
        ? await client.open(agentPath(agent, 'chat'), { method: 'POST', body, signal })
        : await client.open(agentPath(agent, 'tasks', task, 'events'), { signal });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const chunk = await reader?.read();
      if (chunk === undefined || chunk.done) break;
      parser.feed(chunk.value);
    }
  } catch (error) {
    problem = sentenceOf(error);
  }
  if (!signal.aborted) send({ type: 'stream.ended', problem });
}
