import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Answers, Work } from './runs.ts';
import type { Start } from './serve-runs.ts';

/** What is asked of a program, with the answer to it. */
type AnswerTo<Asked extends Work> = Answers[Asked['kind']];

/** A program of this folder in a process of its own. */
export interface PeerProgram {
  pid: number;
  /** Rejects when the program fails, ends, or does not answer within the seconds given. */
  ask<Asked extends Work>(asked: Asked, seconds: number): Promise<AnswerTo<Asked>>;
  /** Ends it without a word. */
  kill(): Promise<void>;
}

/** The server of a peer, in processes of its own. */
export interface PeerServer {
  /** Of the server itself, not of what started it. */
  pid: number;
  server: Record<string, string>;
  stop(): Promise<void>;
}

/** How long a program may take to be ready. */
const secondsToStart = 60;

/** Starts a program and waits until its runs are open. */
export async function startPeer(file: string, start: Start): Promise<PeerProgram> {
  const child = startChild(file, start);
  const kill = () => end(child, 'SIGKILL');
  await answerOf(child, secondsToStart).catch(async (error: unknown) => {
    await kill();
    throw error;
  });
  return {
    pid: child.pid ?? 0,
    ask: async (asked, seconds) => {
      child.send(asked);
      try {
        return await answerOf(child, seconds);
      } catch (error) {
        // An answer that came late would be taken for that of the next question.
        await kill();
        throw error;
      }
    },
    kill,
  };
}

/** Starts the server of a peer and waits until it says where it listens. */
export async function startServer(file: string, start: Start): Promise<PeerServer> {
  const child = startChild(file, start);
  try {
    const { pid, server } = await answerOf<Omit<PeerServer, 'stop'>>(child, secondsToStart);
    return { pid, server, stop: () => leave(child) };
  } catch (error) {
    await end(child, 'SIGTERM');
    throw error;
  }
}

/** The last error that a program wrote before it ended. */
const lastErrors = new WeakMap<ChildProcess, string>();

function startChild(file: string, start: Start): ChildProcess {
  const child = fork(file, [JSON.stringify(start)], {
    execArgv: [
      '--expose-gc',
      '--disable-warning=ExperimentalWarning',
      '--disable-warning=DeprecationWarning',
    ],
    env: { ...process.env, NODE_ENV: 'production', LANGSMITH_TRACING: 'false' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    process.stderr.write(chunk);
    const error = /^\w*Error\b.*$/m.exec(String(chunk))?.[0];
    if (error !== undefined) lastErrors.set(child, error);
  });
  return child;
}

async function answerOf<Answer>(child: ChildProcess, seconds: number): Promise<Answer> {
  const signal = AbortSignal.timeout(seconds * 1_000);
  const ended = once(child, 'close', { signal }).then(([code, name]) => {
    throw new Error(`it ended by itself (${code ?? name}). ${lastErrors.get(child) ?? ''}`);
  });
  const answered = once(child, 'message', { signal }).then(([message]) => {
    const { answer, failed } = message as { answer: Answer; failed?: string };
    if (failed !== undefined) throw new Error(failed);
    return answer;
  });
  try {
    return await Promise.race([answered, ended]);
  } catch (error) {
    if (signal.aborted) throw new Error(`no answer within ${seconds} s`, { cause: error });
    throw error;
  } finally {
    ended.catch(() => undefined);
  }
}

/** Lets go of a program, which then ends what it has started and itself. */
async function leave(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  if (child.connected) child.disconnect();
  await ended;
}

async function end(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}
