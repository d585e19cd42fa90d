/** The face for tests and benchmarks: a fake Slack on loopback, and a terminal interface for it. */
export type { FakeSlackOptions } from './assemble-slack.ts';
export { FakeSlack } from './fake-slack-server.ts';
export { heldMessage } from './screen/held-message.ts';
export { messageLines } from './screen/paint-message.ts';
export { playSlack } from './screen/play-slack.ts';
export { SlackScreen } from './screen/slack-screen.ts';
export type { FakeMessage } from './workspace/workspace.ts';
