import { createLog } from '../../actors/telemetry/log.ts';
import { AgentClient } from '../agent-client.ts';
import { startOrExplain } from '../run.ts';
import type { Session } from '../session.ts';
import { shellWord } from '../shell-word.ts';
import { chat } from './chat.ts';
import type { Demo } from './demo.ts';
import { makeDemoFolder } from './demo-folder.ts';
import { Prompter } from './prompter.ts';
import { playStory } from './story.ts';

export interface TryOptions {
  keep?: string;
  story?: boolean;
}

/**
 * `try`: a refund agent in a temporary folder; a chat on a terminal, else, or with --story, a refund
 * from the request to the audit log.
 */
export async function tryAgent(session: Session, { keep, story }: TryOptions): Promise<void> {
  const { output, interruption, stdin } = session;
  const signal = interruption.listen();
  const folder = await makeDemoFolder(keep);
  try {
    await withDemo(session, folder.directory, signal, async (demo) => {
      const isChat = stdin.isTTY && output.stdout.isTTY === true && !output.isJson;
      if (story === true || !isChat) return playStory(session, demo);
      const prompter = new Prompter(stdin, output.stdout, () => interruption.interrupt());
      try {
        await chat(session, demo, prompter);
      } finally {
        prompter.close();
      }
    });
    if (keep !== undefined) {
      output.note(`kept; go on with: holdpoint run --dir ${shellWord(folder.directory)}`);
    }
  } finally {
    await folder.remove();
  }
}

async function withDemo(
  { output, env }: Session,
  directory: string,
  signal: AbortSignal,
  play: (demo: Demo) => Promise<void>,
): Promise<void> {
  const agent = await startOrExplain({
    directory,
    host: '127.0.0.1',
    port: 0,
    noAuth: false,
    inspectPort: null,
    env,
    // What a daemon logs would drown the conversation; --debug shows it.
    log: createLog({ level: output.isDebug ? 'debug' : 'silent', stream: process.stderr }),
  });
  const { url, token, auditPath } = agent;
  const client = new AgentClient({ url, token, startHint: 'try again' });
  try {
    signal.throwIfAborted();
    await play({ client, url, directory, auditPath, signal });
  } finally {
    await client.close();
    await agent.stop();
  }
}
