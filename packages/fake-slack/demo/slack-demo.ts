import type { Session } from '../../../src/cli/session.ts';
import type { Demo } from '../../../src/cli/try/demo.ts';
import { Prompter } from '../../../src/cli/try/prompter.ts';
import { FakeSlack, playSlack } from '../fake-slack.ts';
import { askInSlack, demoChannel } from './slack-demo-files.ts';
import { playSlackStory } from './slack-story.ts';

/** A refund agent connected to a fake Slack on this machine. */
export interface SlackDemo {
  /** The variables that connect the agent to the fake Slack. */
  env: NodeJS.ProcessEnv;
  /** Runs the demo with the running agent: interactively on a terminal, otherwise as a scripted story. */
  play(demo: Demo): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a fake Slack and configures the agent in `directory` to use it. `isChat` is true on an interactive terminal.
 */
export async function prepareSlackDemo(
  session: Session,
  { directory, isChat }: { directory: string; isChat: boolean },
): Promise<SlackDemo> {
  const slack = await FakeSlack.start();
  const env = { SLACK_BOT_TOKEN: slack.botToken, SLACK_APP_TOKEN: slack.appToken };
  try {
    await askInSlack(directory, slack.apiUrl);
  } catch (error) {
    await slack.close();
    throw error;
  }
  return {
    env,
    play: (demo) =>
      isChat ? converse(session, demo, slack) : playSlackStory(session, { demo, slack }),
    close: () => slack.close(),
  };
}

async function converse(session: Session, demo: Demo, slack: FakeSlack): Promise<void> {
  const { output, interruption, stdin } = session;
  const { dim } = output.colours;
  output.line(
    `This terminal shows #${demoChannel} of a Slack that runs on this machine alone. A refund agent`,
  );
  output.line(
    'listens there; a script plays its language model, everything else is real. You are Ann.',
  );
  output.line(
    'What you type mentions the agent, which then refunds order A-1042. Leave with leave or Ctrl-D.',
  );
  output.line(dim('  Please refund order A-1042, it arrived broken'));
  const prompter = new Prompter(stdin, output.stdout, () => interruption.interrupt());
  const { signal } = demo;
  try {
    await slack.connected(1, signal);
    await playSlack({
      terminal: output,
      slack,
      prompter,
      channel: demoChannel,
      user: 'ann',
      signal,
    });
  } finally {
    prompter.close();
  }
}
