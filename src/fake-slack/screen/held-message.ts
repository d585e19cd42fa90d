import type { FakeSlack } from '../fake-slack-server.ts';
import { buttonOf } from '../visitors.ts';
import type { FakeMessage } from '../workspace/workspace.ts';

/** Finds the messages that wait for a release, oldest first: each has a button to approve and one to reject. */
export function heldMessages(slack: FakeSlack): FakeMessage[] {
  return slack.workspace.messages.filter(
    (message) => buttonOf(message, 'Approve') !== null && buttonOf(message, 'Reject') !== null,
  );
}

/** Finds the latest message that waits for a release. */
export function heldMessage(slack: FakeSlack): FakeMessage | undefined {
  return heldMessages(slack).at(-1);
}
