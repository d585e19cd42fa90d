import { buttonOf } from '../fake/visitors.ts';
import type { FakeMessage } from '../fake/workspace.ts';
import type { FakeSlack } from '../fake-slack.ts';

/** Finds the latest message that waits for a release: it has a button to approve and one to reject. */
export function heldMessage(slack: FakeSlack): FakeMessage | undefined {
  return slack.workspace.messages.findLast(
    (message) => buttonOf(message, 'Approve') !== null && buttonOf(message, 'Reject') !== null,
  );
}
