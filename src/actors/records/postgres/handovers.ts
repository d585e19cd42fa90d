import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '../../../machines/message-of.ts';
import type { Log } from '../../ports/log.ts';
import { UnreachableError } from '../store/task-store.ts';
import { groupOf, living } from './living-replicas.ts';
import type { PostgresDatabase } from './postgres-database.ts';

/** Notification of a new request or answer, on the channel of the commits. */
export const handoverNotice = 'handover';

/** A request about a task that only daemons of a later release can continue. */
export interface HandedRequest {
  taskId: string;
  /** Version of the task chart that saved the task. */
  machineVersion: number;
  /** JSON. */
  request: string;
}

export interface HandoverPorts {
  database: PostgresDatabase;
  replica: string;
  channel: string;
  log: Log;
}

/** Answers a request with JSON; rejects to leave it to another daemon. */
export type AnswerHanded = (taskId: string, request: string) => Promise<string>;

interface Serving {
  machineVersion: number;
  answer: AnswerHanded;
}

/** Time for another daemon to answer, in milliseconds. */
const patience = 10_000;

/** Interval of repeated notices while no daemon has answered, in milliseconds. */
const noticeEvery = 500;

/**
 * Passes requests between daemons of different releases through the database, during an upgrade. One daemon claims each
 * request.
 */
export class Handovers {
  readonly #ports: HandoverPorts;
  #serving: Serving | null = null;
  #wake = Promise.withResolvers<void>();

  constructor(ports: HandoverPorts) {
    this.#ports = ports;
  }

  /**
   * Passes a request on. Resolves with the JSON of the answer; `null` if no connected daemon can continue the task.
   * Rejects with UnreachableError if a daemon claimed the request and gave no answer in time.
   */
  async send({ taskId, machineVersion, request }: HandedRequest): Promise<string | null> {
    const { database, channel } = this.#ports;
    const id = randomUUID();
    const values = [database.schema, channel, id, taskId, machineVersion, request];
    if ((await database.query(put, values)).length === 0) return null;
    const until = Date.now() + patience;
    while (Date.now() < until) {
      const heard = this.#wake.promise;
      const rows = await database.query<{ answer: string }>(takeAnswer, [id]);
      if (rows[0] !== undefined) return rows[0].answer;
      const isSilent = await Promise.race([heard, pause(noticeEvery, true)]);
      // A notice for each one received would never end, since this daemon receives its own.
      if (isSilent === true) {
        await database.query(`SELECT pg_notify($1, '${handoverNotice}')`, [channel]);
      }
    }
    if ((await database.query(withdraw, [id])).length > 0) return null;
    throw new UnreachableError(`the daemon that continues task ${taskId} has not answered`);
  }

  /** Answers the requests of other daemons for tasks up to a version of the chart. */
  serve(machineVersion: number, answer: AnswerHanded): void {
    this.#serving = { machineVersion, answer };
    this.heard();
  }

  /** Stops answering. */
  stop(): void {
    this.#serving = null;
  }

  /** Handles a notification. */
  heard(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers<void>();
    if (this.#serving === null) return;
    void this.#answerAll(this.#serving).catch((error: unknown) =>
      this.#ports.log.warn({ error: messageOf(error) }, 'handover: a request is not answered yet'),
    );
  }

  async #answerAll({ machineVersion, answer }: Serving): Promise<void> {
    const { database, replica, channel } = this.#ports;
    const rows = await database.query<{ id: string; task_id: string; request: string }>(claim, [
      replica,
      machineVersion,
    ]);
    await Promise.all(
      rows.map(async ({ id, task_id: taskId, request }) => {
        const text = await answer(taskId, request).catch(() => null);
        if (text === null) await database.query(release, [id]);
        else await database.query(putAnswer, [id, text, channel]);
      }),
    );
  }
}

const put = `WITH able AS (
    SELECT 1 FROM replicas WHERE machine_version >= $5 AND gone_at IS NULL
      AND number IN (${living(groupOf)}) LIMIT 1
  ), added AS (
    INSERT INTO handovers (id, task_id, machine_version, request)
      SELECT $3, $4, $5::integer, $6 FROM able RETURNING id
  )
  SELECT pg_notify($2, '${handoverNotice}') FROM added`;

const takeAnswer = 'DELETE FROM handovers WHERE id = $1 AND answer IS NOT NULL RETURNING answer';

const withdraw = 'DELETE FROM handovers WHERE id = $1 AND claimed_by IS NULL RETURNING id';

/** A request whose sender no longer waits is never claimed. */
const claim = `UPDATE handovers SET claimed_by = $1 WHERE id IN (
    SELECT id FROM handovers WHERE claimed_by IS NULL AND machine_version <= $2
      AND sent_at > now() - interval '9 seconds'
    ORDER BY sent_at LIMIT 20 FOR UPDATE SKIP LOCKED
  ) RETURNING id, task_id, request`;

const release = 'UPDATE handovers SET claimed_by = NULL WHERE id = $1';

const putAnswer = `WITH answered AS (UPDATE handovers SET answer = $2 WHERE id = $1)
  SELECT pg_notify($3, '${handoverNotice}')`;

/** Deletes requests whose sender has died. */
export const pruneHandovers = `DELETE FROM handovers WHERE sent_at < now() - interval '1 hour'`;
