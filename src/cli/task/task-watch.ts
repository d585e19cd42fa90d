import { setTimeout as pause } from 'node:timers/promises';
import { AgentClient } from '../agent-client.ts';
import { CliError } from '../cli-error.ts';
import { agentFlags, findAgent } from '../find-agent.ts';
import type { Session } from '../session.ts';
import { type AgentOptions, deadline } from './agent-session.ts';
import { answerOf, progressLine, statusLine, throwIfUnfinished } from './print-task.ts';
import type { TaskJson } from './read-answer.ts';
import { readTaskStream, streamBroken } from './read-task-stream.ts';

/** Maximum number of consecutive connection failures. */
const patience = 8;

/** Milliseconds before the first retry; the delay doubles with each further retry. */
const firstPause = 100;

/** `task watch ID`: prints each change of a task until it ends; reconnects a broken stream. */
export async function taskWatch(
  session: Session,
  id: string,
  options: AgentOptions,
): Promise<void> {
  const { output, interruption } = session;
  const limit = deadline(options.timeout ?? null);
  const signal = AbortSignal.any([interruption.listen(), limit.signal]);
  try {
    const task = await watchUntilEnd(session, { id, options, signal });
    throwIfUnfinished(task);
    output.line(answerOf(task));
  } finally {
    limit.clear();
  }
}

interface Watch {
  id: string;
  options: AgentOptions;
  signal: AbortSignal;
}

async function watchUntilEnd(session: Session, watch: Watch): Promise<TaskJson> {
  const { output } = session;
  let lastEventId: string | undefined;
  let failures = 0;
  for (;;) {
    try {
      const task = await joinOnce(session, watch, lastEventId, (eventId) => {
        lastEventId = eventId;
        failures = 0;
      });
      if (task !== null) return task;
      if (failures >= patience) throw streamBroken(watch.id, { flags: agentFlags(watch.options) });
    } catch (error) {
      const isFirst = lastEventId === undefined && failures === 0;
      if (!canRetry(error) || isFirst || failures >= patience) throw error;
    }
    failures += 1;
    if (failures === 1) output.note('the stream broke; joining it again');
    await pause(firstPause * 2 ** (failures - 1), undefined, { signal: watch.signal }).catch(() => {
      throw watch.signal.reason;
    });
  }
}

/** Locates the agent again for each attempt, because a restarted agent may use another port. */
async function joinOnce(
  { output, env }: Session,
  { id, options, signal }: Watch,
  lastEventId: string | undefined,
  onSeen: (eventId: string) => void,
): Promise<TaskJson | null> {
  const isFirst = lastEventId === undefined;
  const tell = (line: string): void => void (isFirst && output.note(line));
  const agent = new AgentClient(findAgent(options, env, tell));
  const path = `/tasks/${encodeURIComponent(id)}/events`;
  const call = { method: 'GET', path, taskId: id, signal } as const;
  try {
    return await readTaskStream(
      agent.events({ ...call, ...(lastEventId ? { lastEventId } : {}) }),
      {
        onEvent: (event) => {
          onSeen(event.id);
          output.json(event);
        },
        onStatus: (task) => output.line(statusLine(output, task)),
        onProgress: (progress) => {
          const line = progressLine(progress);
          if (line !== null) output.line(line);
        },
      },
    );
  } finally {
    await agent.close();
  }
}

function canRetry(error: unknown): boolean {
  return (
    error instanceof CliError &&
    ['connection_lost', 'not_running', 'unavailable'].includes(error.code)
  );
}
