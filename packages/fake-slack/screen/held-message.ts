import type { FakeSlack } from '../fake-slack-server.ts';
import { buttonOf } from '../visitors.ts';
import type { FakeMessage } from '../workspace/workspace.ts';

/** Finds the messages waiting for a release, oldest first. Each has an approve button and a reject button. */
export function heldMessages(slack: FakeSlack): FakeMessage[] {
  return slack.workspace.messages.filter(
    (message) => buttonOf(message, 'Approve') !== null && buttonOf(message, 'Reject') !== null,
  );
}

/** Finds the latest message waiting for a release. */
export function heldMessage(slack: FakeSlack): FakeMessage | undefined {
  return heldMessages(slack).at(-1);
}
