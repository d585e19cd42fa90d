import {
  heardHistory,
  previewOf,
  sessionBound,
  sessionMessages,
} from '../../machines/conversation/session.ts';
import type { Caller, Message, RanCall, Task } from '../../machines/domain/task.ts';
import { boundHistory, historyBound } from '../../machines/task/bound-history.ts';
import { allRan, ranBefore } from '../../machines/task/ran-calls.ts';
import { asOwner, ownerOf } from '../../machines/task/task-access.ts';
import type { SessionRows } from '../records/records.ts';
import { Turns } from './turns.ts';

/** A session as listed; times are in epoch milliseconds. */
export interface SessionBrief {
  id: string;
  /** Start of the first message. */
  preview: string;
  createdAt: number;
  updatedAt: number;
}

/** A page of sessions; `cursor` requests the next one. */
export interface SessionPage {
  sessions: SessionBrief[];
  cursor: string | null;
}

/** A session with its stored messages, oldest first. */
export interface Session extends SessionBrief {
  messages: Message[];
}

/** The part of a session's earlier tasks that a new task receives, oldest first. */
export interface HeardSession {
  messages: Message[];
  ran: RanCall[];
}

/** For the first task of a session. */
export const nothingHeard: HeardSession = { messages: [], ran: [] };

type SessionOf = Pick<Task, 'contextId' | 'owner' | 'requester' | 'hold'>;

/** Maximum number of tasks of a session in which conditions can read its calls. */
const longestHistory = 1_000;

/** Sessions of callers: the tasks of one `contextId` owned by one caller. No caller sees another caller's sessions. */
export class Sessions {
  readonly #rows: SessionRows;
  readonly #turns = new Turns();

  constructor(rows: SessionRows) {
    this.#rows = rows;
  }

  /** Returns the earlier messages and calls of a session for a new task. */
  async heard(contextId: string, caller: Caller | null): Promise<HeardSession> {
    const owner = caller && asOwner(caller);
    const tasks = await Array.fromAsync(this.#rows.newestOf(contextId, owner, sessionBound.tasks));
    return { messages: sessionMessages(tasks, owner), ran: ranBefore(tasks) };
  }

  /** Returns the latest calls that started in the session of a task, oldest first. */
  async ran(task: SessionOf): Promise<RanCall[]> {
    return ranBefore(await this.#briefs(task, sessionBound.tasks));
  }

  /**
   * Returns every call that started in the session of a task, oldest first; `null` if there are more tasks or calls than
   * are kept, so that nobody counts a part of them.
   */
  async history(task: SessionOf): Promise<RanCall[] | null> {
    const most = longestHistory + 1;
    const tasks = await this.#briefs(task, most);
    return tasks.length === most ? null : allRan(tasks);
  }

  async #briefs(
    { contextId, owner, requester, hold }: SessionOf,
    limit: number,
  ): Promise<readonly Task[]> {
    // No other call can belong to the session of a hold that names none.
    if (hold !== undefined && hold.session === undefined) return [];
    const whose = ownerOf({ requester, ...(owner === undefined ? {} : { owner }) });
    return this.#rows.briefsOf(contextId, whose, limit);
  }

  /** Lists the sessions of a caller, latest change first. */
  async list(
    caller: Caller | null,
    page: { limit: number; cursor?: string },
  ): Promise<SessionPage> {
    await this.#turns.next();
    const owner = caller && asOwner(caller);
    const { contexts, cursor } = await this.#rows.contextsOf(owner, page.limit, page.cursor);
    const sessions: SessionBrief[] = [];
    for (const { id, changedAt: updatedAt } of contexts) {
      const first = await this.#rows.firstOf(id, owner);
      if (first === undefined) continue;
      const { createdAt, history } = first;
      sessions.push({ id, preview: previewOf(history), createdAt, updatedAt });
    }
    return { sessions, cursor };
  }

  /** Returns a session of a caller; `undefined` if the caller has none with that id. */
  async find(contextId: string, caller: Caller | null): Promise<Session | undefined> {
    await this.#turns.next();
    const owner = caller && asOwner(caller);
    const first = await this.#rows.firstOf(contextId, owner);
    if (first === undefined) return undefined;
    const { createdAt, history } = first;
    let updatedAt = 0;
    let messages: Message[] = [];
    for await (const task of this.#rows.newestOf(contextId, owner, historyBound.messages)) {
      updatedAt = Math.max(updatedAt, task.changedAt);
      const all = boundHistory([...heardHistory(task), ...messages], 0, messages.length);
      messages = all.messages;
      if (all.leftOut > 0) break;
    }
    return { id: contextId, preview: previewOf(history), createdAt, updatedAt, messages };
  }
}
