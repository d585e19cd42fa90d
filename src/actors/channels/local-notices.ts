import {
  type ApprovalNotice,
  newsOf,
  splitTarget,
} from '../../machines/channels/approval-notice.ts';
import { type AskedRecord, noticeOf } from '../../machines/channels/notice-of.ts';
import type { Task } from '../../machines/task/task.ts';
import type { Log } from '../ports.ts';
import type { ChannelAdapter } from './channel-adapter.ts';

/** What tells people at the daemon itself. */
export interface LocalNoticesOptions {
  /** Adapters whose messages live no longer than the daemon. */
  adapters: readonly ChannelAdapter[];
  log: Log;
}

/** What was said of a task that waits, with what it was made from. */
interface Told {
  asked: AskedRecord;
  notices: ApprovalNotice[];
}

/**
 * Has people at the daemon itself told of what waits. Nothing of it is kept: what is said on a console is gone with the
 * daemon, and what still waits is said again by the next one.
 */
export class LocalNotices {
  readonly #adapters: ReadonlyMap<string, ChannelAdapter>;
  readonly #log: Log;
  readonly #told = new Map<string, Told>();

  constructor({ adapters, log }: LocalNoticesOptions) {
    this.#adapters = new Map(adapters.map((adapter) => [adapter.name, adapter]));
    this.#log = log;
  }

  /** Starts the adapters, and tells of the tasks that wait already. */
  start(waiting: readonly Task[]): void {
    for (const adapter of this.#adapters.values()) adapter.start(() => undefined);
    for (const task of waiting) this.changed(task);
  }

  /** Tells of a change of a task that is on disk; costs next to nothing for one that never waited. */
  changed(task: Task): void {
    const told = this.#told.get(task.id);
    const isSame = told !== undefined && told.asked.deferral.id === task.deferral?.id;
    if (told !== undefined && !isSame) this.#end(told, task);
    const asked = askedOf(task);
    if (asked === null) return;
    const notices = this.#noticesOf(asked);
    if (notices.length > 0) this.#told.set(task.id, { asked, notices });
    for (const notice of notices) {
      const { target } = notice.request;
      const before = isSame ? told.notices.find(({ request }) => request.target === target) : null;
      this.#tell(notice, before ?? null);
    }
  }

  /** Lets go of the adapters. */
  async stop(): Promise<void> {
    await Promise.allSettled([...this.#adapters.values()].map((adapter) => adapter.stop()));
  }

  #end({ asked, notices }: Told, now: Task): void {
    this.#told.delete(asked.taskId);
    for (const notice of notices) this.#tell(noticeOf(notice.request.target, asked, now), notice);
  }

  #noticesOf(asked: AskedRecord): ApprovalNotice[] {
    const { to, targets = [to], escalateTo } = asked.deferral;
    const other = asked.stage === 'escalated' && escalateTo !== null ? [escalateTo] : [];
    return [...new Set([...targets, ...other])]
      .filter((target) => this.#adapters.has(splitTarget(target).adapter))
      .map((target) => noticeOf(target, asked, null));
  }

  #tell(notice: ApprovalNotice, before: ApprovalNotice | null): void {
    const { target, taskId } = notice.request;
    const adapter = this.#adapters.get(splitTarget(target).adapter);
    if (adapter === undefined) return;
    const news = before === null ? null : newsOf(before, notice);
    if (before !== null && news === null) return;
    const { signal } = new AbortController();
    const told =
      news === null
        ? adapter.deliver(notice, signal)
        : adapter.update({}, notice, news, signal).then(() => ({}));
    told.catch((error: unknown) => {
      this.#log.warn({ error, task_id: taskId }, 'approvals: nobody here could be told of a call');
    });
  }
}

/** What a task that waits is remembered by; the arguments of the held call may be large. */
function askedOf({ id: taskId, deferral, requester, stage }: Task): AskedRecord | null {
  if (deferral === null || stage === null) return null;
  const { args: _, ...rest } = deferral;
  return { taskId, deferral: rest, requester, stage };
}
