import { commandLine } from '../../actors/command-line.ts';
import { createLog } from '../../actors/telemetry/telemetry.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { AgentClient } from '../agent-client.ts';
import { startOrExplain } from '../run.ts';
import type { Session } from '../session.ts';
import { chat } from './chat.ts';
import type { Demo } from './demo.ts';
import { makeDemoFolder } from './demo-folder.ts';
import { Prompter } from './prompter.ts';
import { playStory } from './story.ts';

export interface TryOptions {
  keep?: string;
  story?: boolean;
  slackDemo?: boolean;
}

/**
 * `try`: a refund agent in a temporary folder; a chat on a terminal, else, or with --story, a refund
 * from the request to the audit log. With --slack-demo both happen in a Slack that runs on this machine.
 */
export async function tryAgent(session: Session, options: TryOptions): Promise<void> {
  const { keep, story, slackDemo } = options;
  const { output, interruption, stdin } = session;
  const signal = interruption.listen();
  const folder = await makeDemoFolder(keep);
  const { directory } = folder;
  const isTerminal = stdin.isTTY && output.stdout.isTTY === true && !output.isJson;
  const isChat = isTerminal && story !== true;
  try {
    if (slackDemo === true) await tryInSlack(session, { directory, isChat, signal });
    else await tryHere(session, { directory, isChat, signal });
    if (keep !== undefined) {
      output.note(`kept; go on with: ${commandLine(`run --dir ${shellWord(directory)}`)}`);
    }
  } finally {
    await folder.remove();
  }
}

interface Trial {
  directory: string;
  /** True for an interactive terminal. */
  isChat: boolean;
  signal: AbortSignal;
}

async function tryHere(session: Session, trial: Trial): Promise<void> {
  const { output, interruption, stdin, env } = session;
  await withDemo(session, { ...trial, env }, async (demo) => {
    if (!trial.isChat) return playStory(session, demo);
    const prompter = new Prompter(stdin, output.stdout, () => interruption.interrupt());
    try {
      await chat(session, demo, prompter);
    } finally {
      prompter.close();
    }
  });
}

async function tryInSlack(session: Session, trial: Trial): Promise<void> {
  const { prepareSlackDemo } = await import('./slack-demo.ts');
  const slack = await prepareSlackDemo(session, trial);
  try {
    const env = { ...session.env, ...slack.env };
    await withDemo(session, { ...trial, env }, (demo) => slack.play(demo));
  } finally {
    await slack.close();
  }
}

async function withDemo(
  { output }: Session,
  { directory, signal, env }: Trial & { env: NodeJS.ProcessEnv },
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
  const client = new AgentClient({ url, token, proof: null, startHint: 'try again', flags: '' });
  try {
    signal.throwIfAborted();
    await play({ client, url, directory, auditPath, signal });
  } finally {
    await client.close();
    await agent.stop();
  }
}
