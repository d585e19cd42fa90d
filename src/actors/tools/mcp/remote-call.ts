import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { RemoteTask } from '../../../machines/domain/task.ts';
import { redactSecrets } from '../../governance/governance.ts';
import type { ToolRun } from '../../ports/tool.ts';
import { AskedPeople } from './asked-people.ts';
import { CallDeadline } from './call-deadline.ts';
import { type CallParts, limitsOf } from './call-parts.ts';
import { type FollowedCall, type FollowedResult, followTask } from './follow-task.ts';
import { handedOn } from './handed-on.ts';
import { movedCall } from './moved-call.ts';
import { quoteOf } from './server-fault.ts';
import type { ServerTask } from './server-task.ts';
import { WaitAtServer } from './wait-at-server.ts';

/** Identifies no server: a task with it is lost with the daemon. */
const unreadable = '';

/** Follows the task of a call that was made before the daemon started. Rejects with a ToolError. */
export async function followCall(
  parts: CallParts,
  remote: RemoteTask,
  run: ToolRun,
): Promise<string> {
  const { name, server, clock } = parts;
  if ((await placeOf(parts)) !== remote.place) throw movedCall(name);
  const left = Math.max(0, remote.since + limitsOf(parts).total - clock.now());
  const deadline = new CallDeadline(clock, { timeout: null, total: left });
  const wait = new WaitAtServer(server, run.onWait);
  const signal = AbortSignal.any([run.signal, deadline.signal]);
  const people = new AskedPeople(parts, run, signal);
  const onMessage = messagesOf(parts, run);
  try {
    const call = { remote, parts, run, deadline, wait, people, onMessage };
    return resultText(parts, await followTask(call, null), run);
  } finally {
    deadline.end();
    wait.end();
  }
}

/** Follows the task that continues a call, which a restart of the daemon then follows. Rejects with a ToolError. */
export async function continueCall(
  call: Omit<FollowedCall, 'remote' | 'parts' | 'run' | 'onMessage'>,
  task: ServerTask,
  parts: CallParts,
  run: ToolRun,
): Promise<FollowedResult> {
  const { id, ttl } = task;
  const since = parts.clock.now();
  const remote = { id, since, ttl, place: await placeOf(parts).catch(() => unreadable) };
  run.onDetached?.(remote);
  return followTask({ ...call, remote, parts, run, onMessage: messagesOf(parts, run) }, task);
}

/** Returns a result as text without secrets. Throws a ToolError for an error result. */
export function resultText(
  { name, secrets }: Pick<CallParts, 'name' | 'secrets'>,
  { result, session }: FollowedResult,
  run: ToolRun,
): string {
  return handedOn(name, result, [...secrets, ...session.secrets], run);
}

/** Returns the digest of what identifies the server; a task is never requested from another one. */
async function placeOf({ place }: Pick<CallParts, 'place'>): Promise<string> {
  return hash('sha256', canonicalize(await place()) ?? '', 'hex');
}

/** Passes the messages about a task on as progress. */
function messagesOf(
  { secrets }: Pick<CallParts, 'secrets'>,
  run: ToolRun,
): FollowedCall['onMessage'] {
  let progress = 0;
  return (message, session) => {
    progress += 1;
    const said = redactSecrets(message, [...secrets, ...session.secrets]);
    run.onProgress?.({ progress, message: quoteOf(said) });
  };
}
