import {
  type ApprovalNotice,
  isComplete,
  newsOf,
  splitTarget,
} from '../../machines/channels/approval-notice.ts';
import { type AskedRecord, noticeOf } from '../../machines/channels/notice-of.ts';
import type { Task } from '../../machines/domain/task.ts';
import type { Log } from '../ports/log.ts';
import type { ChannelAdapter } from './channel-adapter.ts';

export interface LocalNoticesOptions {
  /** Adapters whose messages do not outlive the daemon. */
  adapters: readonly ChannelAdapter[];
  log: Log;
}

/** The notices of a waiting task, with the record they were created from. */
interface Announcement {
  asked: AskedRecord;
  notices: ApprovalNotice[];
}

/**
 * Announces held calls on the daemon itself and stores nothing: console output ends with the daemon, and the next
 * daemon announces calls that still wait.
 */
export class LocalNotices {
  readonly #adapters: ReadonlyMap<string, ChannelAdapter>;
  readonly #log: Log;
  readonly #announced = new Map<string, Announcement>();
  /** Notices of approved calls whose outcome is not known yet, by task. */
  readonly #approved = new Map<string, ApprovalNotice[]>();
  /** Tasks that changed during the initial read; `null` when no read is running. */
  #heard: Set<string> | null = null;
  #isStopped = false;

  constructor({ adapters, log }: LocalNoticesOptions) {
    this.#adapters = new Map(adapters.map((adapter) => [adapter.name, adapter]));
    this.#log = log;
  }

  /** Starts the adapters, then announces the tasks that already wait. Never rejects. */
  async start(waiting: () => Promise<Task[]>): Promise<void> {
    for (const adapter of this.#adapters.values()) adapter.start(() => undefined);
    const heard = new Set<string>();
    this.#heard = heard;
    try {
      // Skips tasks that changed during the read; the result for them may be stale.
      const tasks = (await waiting()).filter(({ id }) => !heard.has(id));
      for (const task of this.#isStopped ? [] : tasks) this.changed(task);
    } catch (error) {
      this.#log.error(
        { error },
        'approvals: no local approver was notified of calls that are already waiting',
      );
    } finally {
      this.#heard = null;
    }
  }

  /** Announces a change of a committed task; cheap for a task that never waited. */
  changed(task: Task): void {
    this.#heard?.add(task.id);
    const announced = this.#announced.get(task.id);
    const isSame = announced !== undefined && announced.asked.deferral.id === task.deferral?.id;
    if (announced !== undefined && !isSame) this.#end(announced, task);
    if (this.#approved.has(task.id)) this.#finish(task);
    const asked = askedOf(task);
    if (asked === null) return;
    const notices = this.#noticesOf(asked);
    if (notices.length > 0) this.#announced.set(task.id, { asked, notices });
    for (const notice of notices) {
      const { target } = notice.request;
      const before = isSame
        ? announced.notices.find(({ request }) => request.target === target)
        : null;
      this.#tell(notice, before ?? null);
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.allSettled([...this.#adapters.values()].map((adapter) => adapter.stop()));
  }

  #end({ asked, notices }: Announcement, now: Task): void {
    this.#announced.delete(asked.taskId);
    const ended = notices.map((notice) => noticeOf(notice.request.target, asked, now));
    for (const [index, notice] of ended.entries()) this.#tell(notice, notices[index] ?? null);
    if (ended.some((notice) => !isComplete(notice))) this.#approved.set(asked.taskId, ended);
  }

  #finish({ id, decided = [] }: Task): void {
    const notices = this.#approved.get(id) ?? [];
    const call = decided.find((one) => one.id === notices[0]?.request.deferralId);
    if (call?.outcome === undefined) return;
    this.#approved.delete(id);
    for (const notice of notices) {
      if (notice.outcome?.kind !== 'approved') continue;
      this.#tell({ ...notice, outcome: { ...notice.outcome, outcome: call.outcome } }, notice);
    }
  }

  #noticesOf(asked: AskedRecord): ApprovalNotice[] {
    const { targets, escalateTo } = asked.deferral;
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
    const delivered =
      news === null
        ? adapter.deliver(notice, signal)
        : adapter.update({}, notice, news, signal).then(() => ({}));
    delivered.catch((error: unknown) => {
      this.#log.warn(
        { error, task_id: taskId },
        'approvals: no local approver could be notified of a call',
      );
    });
  }
}

/** Returns the record of a waiting task without the arguments of the held call, which may be large. */
function askedOf({ id: taskId, deferral, requester, stage }: Task): AskedRecord | null {
  if (deferral === null || stage === null) return null;
  const { args: _, ...rest } = deferral;
  return { taskId, deferral: rest, requester, stage };
}
