import {
  heardHistory,
  previewOf,
  sessionBound,
  sessionMessages,
} from '../../machines/conversation/session.ts';
import { boundHistory, historyBound } from '../../machines/task/bound-history.ts';
import { ranBefore } from '../../machines/task/ran-calls.ts';
import type { Caller, Message, RanCall, Task } from '../../machines/task/task.ts';
import { asOwner, ownerOf } from '../../machines/task/task-access.ts';
import type { SessionRows } from '../records/records.ts';
import { Turns } from './turns.ts';

/** A session as a list shows it; times are epoch milliseconds. */
export interface SessionBrief {
  id: string;
  /** The beginning of what was said first. */
  preview: string;
  createdAt: number;
  updatedAt: number;
}

/** A page of sessions; `cursor` asks for the next one. */
export interface SessionPage {
  sessions: SessionBrief[];
  cursor: string | null;
}

/** A session with what was said in it, oldest first, as far as it is kept. */
export interface Session extends SessionBrief {
  messages: Message[];
}

/** What a new task starts with of the earlier tasks of its session, oldest first. */
export interface HeardSession {
  messages: Message[];
  ran: RanCall[];
}

/** What a task starts with that is the first of its session. */
export const nothingHeard: HeardSession = { messages: [], ran: [] };

/** The sessions of callers: the tasks of one `contextId` that one caller owns. Nobody is shown another's. */
export class Sessions {
  readonly #rows: SessionRows;
  readonly #turns = new Turns();

  constructor(rows: SessionRows) {
    this.#rows = rows;
  }

  /** Returns what a new task of a session starts with of the earlier ones: what was said, and the calls that ran. */
  async heard(contextId: string, caller: Caller | null): Promise<HeardSession> {
    const owner = caller && asOwner(caller);
    const tasks = await Array.fromAsync(this.#rows.newestOf(contextId, owner, sessionBound.tasks));
    return { messages: sessionMessages(tasks, owner), ran: ranBefore(tasks) };
  }

  /** Returns the newest calls that started in the session of a task, oldest first. */
  async ran({
    contextId,
    owner,
    requester,
  }: Pick<Task, 'contextId' | 'owner' | 'requester'>): Promise<RanCall[]> {
    const whose = ownerOf({ requester, ...(owner === undefined ? {} : { owner }) });
    const { tasks } = sessionBound;
    return ranBefore(await Array.fromAsync(this.#rows.newestOf(contextId, whose, tasks)));
  }

  /** Lists the sessions of a caller, the one that changed last first. */
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

  /** Returns a session of a caller; `undefined` when they have none of that id. */
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
