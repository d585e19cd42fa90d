import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { commandLine } from '../../actors/command-line.ts';
import { createLog } from '../../actors/telemetry/telemetry.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { AgentClient } from '../agent-client.ts';
import { makeDemoFolder } from '../demo/demo-folder.ts';
import { startOrExplain } from '../run.ts';
import type { Session } from '../session.ts';
import { type FakeSlackDemos, loadFakeSlack } from '../slack/fake-slack.ts';
import { chat } from './chat.ts';
import type { Demo } from './demo.ts';
import { findThinker } from './find-thinker.ts';
import { Prompter } from './prompter.ts';
import { playStory } from './story.ts';
import type { Thinker, Thinking } from './thinker.ts';

const instructions = `You are the refund desk of a shop, and you do its work with tools.
When a customer asks for a refund, call lookup_order with the number of the order. When the order was shipped or
delivered and is not refunded yet, call issue_refund with its number, the amount that was paid and the reason in the
customer's own words. Call it without asking the customer first: a person releases each refund before it is paid.
Say that a refund is made only once issue_refund has answered. Be brief and friendly.
`;

/** Maximum number of turns of a demo task; a model that loops would cost the user money. */
const mostTurns = 8;

/** Configures a copy of the refund agent to use a real model instead of its script. */
async function giveModel(directory: string, thinker: Thinker): Promise<void> {
  const { provider, model, keyVariable, baseUrl } = thinker;
  const path = join(directory, 'service.yaml');
  const example = await readFile(path, 'utf8');
  // The first line describes the scripted model, so it is removed.
  const service = parseDocument(example.replace(/^#.*\n/, ''));
  service.set('model', {
    provider,
    name: model,
    ...(keyVariable === null ? {} : { api_key_env: keyVariable }),
    ...(baseUrl === '' ? {} : { base_url: baseUrl }),
    max_turns: mostTurns,
  });
  service.set('instructions', instructions);
  await writeFile(path, service.toString());
}

export interface TryOptions {
  keep?: string;
  story?: boolean;
  slackDemo?: boolean;
  scripted?: boolean;
}

/**
 * `try`: runs a refund agent in a temporary folder. On a terminal it opens a chat; otherwise, or with --story, it plays
 * a refund from the request to the audit log. With --slack-demo both take place in a fake Slack on this machine with a
 * scripted model. Without it, the model is the one returned by `find`.
 */
export async function tryAgent(
  session: Session,
  options: TryOptions,
  find: typeof findThinker = findThinker,
): Promise<void> {
  const { keep, story, slackDemo } = options;
  const { output, interruption, stdin } = session;
  const signal = interruption.listen();
  const prepare = slackDemo === true ? (await loadFakeSlack()).prepareSlackDemo : null;
  const thinking = await thinkingFor(session, options, { find, signal });
  const folder = await makeDemoFolder(keep);
  const { directory } = folder;
  const isTerminal = stdin.isTTY && output.stdout.isTTY === true && !output.isJson;
  const isChat = isTerminal && story !== true;
  const trial = { directory, isChat, thinking, signal };
  try {
    if (thinking.thinker !== null) await giveModel(directory, thinking.thinker);
    if (prepare === null) await tryHere(session, trial);
    else await tryInSlack(session, trial, prepare);
    if (keep !== undefined) {
      output.note(`kept; continue with: ${commandLine(`run --dir ${shellWord(directory)}`)}`);
    }
  } finally {
    await folder.remove();
  }
}

/** The Slack demo always uses the script, so its chat has the same text each time. */
async function thinkingFor(
  { env }: Session,
  { scripted, slackDemo }: TryOptions,
  { find, signal }: { find: typeof findThinker; signal: AbortSignal },
): Promise<Thinking> {
  if (slackDemo === true) return { thinker: null, why: '--slack-demo' };
  if (scripted === true) return { thinker: null, why: '--scripted' };
  return find({ env, fetch: globalThis.fetch, signal });
}

interface Trial {
  directory: string;
  thinking: Thinking;
  /** True on an interactive terminal. */
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

async function tryInSlack(
  session: Session,
  trial: Trial,
  prepare: FakeSlackDemos['prepareSlackDemo'],
): Promise<void> {
  const slack = await prepare(session, trial);
  try {
    const env = { ...session.env, ...slack.env };
    await withDemo(session, { ...trial, env }, (demo) => slack.play(demo));
  } finally {
    await slack.close();
  }
}

async function withDemo(
  { output }: Session,
  { directory, thinking, signal, env }: Trial & { env: NodeJS.ProcessEnv },
  play: (demo: Demo) => Promise<void>,
): Promise<void> {
  const agent = await startOrExplain({
    directory,
    host: '127.0.0.1',
    port: 0,
    noAuth: false,
    inspectPort: null,
    env,
    // The daemon's log would clutter the conversation; --debug shows it.
    log: createLog({ level: output.isDebug ? 'debug' : 'silent', stream: process.stderr }),
  });
  const { url, token, auditPath } = agent;
  const client = new AgentClient({ url, token, proof: null, startHint: 'try again', flags: '' });
  try {
    signal.throwIfAborted();
    await play({ client, url, directory, auditPath, thinking, signal });
  } finally {
    await client.close();
    await agent.stop();
  }
}
