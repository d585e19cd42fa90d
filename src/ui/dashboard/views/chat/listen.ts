import { eventsOf } from '../../api/events-of.ts';
import { agentPath } from '../../api/paths.ts';
import { sentenceOf } from '../../api/sentence-of.ts';
import type { ConversationEvent, Listening } from './conversation-machine.ts';
import { readToldTask, type ToldProgress } from './turn.ts';

/** The requests of a client that open a stream. */
interface Opener {
  open(
    path: string,
    options: { method?: 'POST'; body?: unknown; signal: AbortSignal },
  ): Promise<Response>;
}

/** Sends a message or joins a task, and reports the agent's output until the stream ends. */
export async function listen(
  client: Opener,
  agent: string,
  { message, session, task }: Listening,
  send: (event: ConversationEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  let problem: string | null = null;
  try {
    const body = { message, ...(session === null ? {} : { session_id: session }) };
    const response =
      task === null
        ? await client.open(agentPath(agent, 'chat'), { method: 'POST', body, signal })
        : await client.open(agentPath(agent, 'tasks', task, 'events'), { signal });
    for await (const { event, data } of eventsOf(response)) {
      const json = Object(JSON.parse(data)) as object;
      if (event === 'status' || event === 'result') {
        const told = readToldTask(json);
        if (told !== null) send({ type: 'task.told', task: told });
      } else if (event === 'progress') {
        send({ type: 'progress.told', progress: json as ToldProgress });
      } else if (event === 'error') {
        problem = (json as { error: string }).error;
      }
    }
  } catch (error) {
    // The server passes on what the agent sends, which can be no JSON.
    problem =
      error instanceof SyntaxError ? 'the answer of the agent broke off' : sentenceOf(error);
  }
  if (!signal.aborted) send({ type: 'stream.ended', problem });
}
