import { setImmediate as turn } from 'node:timers/promises';
import type { OpenOutcome } from '../../../machines/domain/ledger.ts';
import type { ToolCall } from '../../../machines/domain/task.ts';
import type { Measured, MeasureInput } from '../../../machines/governance/bounds.ts';
import {
  type KeyStanding,
  type KnownLimit,
  type Ledger,
  mostStandings,
  type OutcomePage,
  type OutcomeQuery,
  pendingTime,
  type Settlement,
  type StatementEvent,
} from '../../ports/ledger.ts';
import {
  equalOf,
  isLost,
  isPastEnd,
  type LedgerRow,
  ledgerNames,
  lostOutcomes,
  mostRecovered,
  outcomeIn,
  outcomePage,
  placeOfCursor,
  spareTime,
  standingOf,
  statesOf,
  stillSettled,
} from '../store/ledger-rows.ts';
import { CountedTimes } from '../store/limit-period.ts';
import type { CommitQueue } from './commit-queue.ts';
import {
  type Asked,
  dropEnded,
  exact,
  keysToSum,
  lockKeys,
  measureAll,
  readGround,
  readStandings,
  serverNow,
} from './ledger-ground.ts';
import { rowsOfSum, sumUp } from './ledger-sums.ts';
import { parameterOf } from './parameter-of.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { insertRows, ledgerRecord } from './put-ledger.ts';
import { isServerGone } from './server-failure.ts';

/** Sums of a key of a limit, with the requester of its newest call as JSON. */
type SumOfKey = Record<'key' | 'used' | 'reserved' | 'requester', string>;

interface Request extends Asked, PromiseWithResolvers<Measured> {}

/** Maximum calls that are measured in one transaction. */
const mostMeasured = 100;

/** Initial and maximum pause between two attempts while the database cannot be used, in milliseconds. */
const pause = { first: 50, most: 2_000 };

/** Measuring needs no isolation beyond this one, which a server may be configured to exceed: each statement reads the newest rows. */
const readCommitted = { text: 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED', values: [] };

/**
 * A reservation may be lost with the server: the commit of the start of its call comes later in the same log of the server
 * and waits until that is on disk, and without the reservation it is refused. All reads use an index, also where the server
 * has old statistics, and leave out its dead entries; compiling them would take longer.
 */
const unsynced = {
  text: `SELECT set_config('synchronous_commit', 'off', true), set_config('jit', 'off', true),
    set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`,
  values: [],
};

/**
 * The ledger of several daemons. A reservation is a pending row until the commit of the start of its call; it ends after
 * 45 seconds if its daemon is killed. One transaction at a time measures all calls that ask meanwhile.
 */
export class PostgresLedger implements Ledger {
  readonly #database: PostgresDatabase;
  readonly #queue: CommitQueue;
  readonly #times = new CountedTimes();
  #requests: Request[] = [];
  #forgotten: string[] = [];
  /** The position up to which rows were compared with their tasks. */
  #lookedTo = 0;
  /** The position up to which rows were recovered. */
  #recoveredTo = 0;
  #isRunning = false;
  #isClosed = false;
  #isSumming = false;

  constructor(database: PostgresDatabase, queue: CommitQueue) {
    this.#database = database;
    this.#queue = queue;
  }

  async measure(asked: MeasureInput, now: number): Promise<Measured> {
    if (!asked.reserves) return this.#look({ asked, now });
    const request = { ...Promise.withResolvers<Measured>(), asked, now };
    this.#requests.push(request);
    if (!this.#isRunning) void this.#run();
    return request.promise;
  }

  async equal({ id, tool, argsSha256 }: Pick<ToolCall, 'id' | 'tool' | 'argsSha256'>) {
    const [row] = await this.#database.query<LedgerRow>(
      `SELECT ${ledgerNames} FROM ledger WHERE kind = 'ran' AND key = $1 AND name = $2 AND call_id <> $3
        ORDER BY at DESC, position DESC LIMIT 1`,
      [argsSha256, tool, id],
    );
    return row === undefined ? null : equalOf(row);
  }

  forget(callId: string): void {
    this.#forgotten.push(callId);
    if (!this.#isRunning) void this.#run();
  }

  /** Ends the attempts to reach the database. */
  close(): void {
    this.#isClosed = true;
  }

  async standings(limits: readonly KnownLimit[], now: number): Promise<KeyStanding[]> {
    const found = await Promise.all(
      limits.map(async (limit) => {
        const { after } = this.#times.of(limit.period, now);
        const rows = await this.#database.query<SumOfKey>(readStandings, [
          limit.name,
          false,
          after,
          mostStandings,
        ]);
        return rows.map(({ used, reserved, ...row }) =>
          standingOf(limit, { ...row, used: exact(used), reserved: exact(reserved) }),
        );
      }),
    );
    return found.flat();
  }

  async outcomes({ limit, cursor, isOpen }: OutcomeQuery): Promise<OutcomePage> {
    const { at, callId } = placeOfCursor(cursor);
    const found = await this.#database.query<LedgerRow>(
      `SELECT ${ledgerNames} FROM ledger WHERE kind = 'outcome' AND state = ANY($1::text[])
        AND (at, call_id) < ($2::bigint, $3) ORDER BY at DESC, call_id DESC LIMIT $4`,
      [statesOf(isOpen), at, callId, limit + 1],
    );
    const entries = await this.#database.query<LedgerRow>(
      `SELECT ${ledgerNames} FROM ledger WHERE call_id = ANY($1::text[]) AND kind IN ('limit', 'effect')
        ORDER BY position`,
      [found.map(({ call_id: id }) => id)],
    );
    return outcomePage(found, limit, entries);
  }

  async outcome(callId: string): Promise<OpenOutcome | undefined> {
    const sql = `SELECT ${ledgerNames} FROM ledger WHERE call_id = $1 ORDER BY position`;
    return outcomeIn(await this.#database.query<LedgerRow>(sql, [callId]));
  }

  settle(callId: string, settled: Settlement, event: StatementEvent) {
    return this.#queue.settle({ callId, settled, event, result: 'unknown' });
  }

  async recover(now: number): Promise<boolean> {
    const [looked] = await this.#database.query<Looked>(recoverLost, [this.#recoveredTo, now]);
    this.#recoveredTo = looked?.last ?? this.#recoveredTo;
    return looked?.rows === mostRecovered;
  }

  async prune(now: number): Promise<number> {
    const ended = await this.#database.query(pruneEnded, [now - spareTime]);
    if (ended.length > 0) return ended.length;
    const [looked] = await this.#database.query<Looked>(pruneOrphans, [this.#lookedTo]);
    this.#lookedTo = looked?.rows === 1_000 ? looked.last : 0;
    return looked?.gone ?? 0;
  }

  /** Reads what the ledger has for a call, without waiting for calls that are measured now. */
  async #look(asked: Asked): Promise<Measured> {
    const [measured] = await this.#transact([asked], []);
    // Safe to cast: each call is measured.
    return measured as Measured;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // Measures all calls of one event-loop turn together.
    await turn();
    while (this.#requests.length + this.#forgotten.length > 0) {
      const requests = this.#requests.splice(0, mostMeasured);
      const forgotten = this.#forgotten.splice(0);
      await this.#measure(requests, forgotten);
    }
    this.#isRunning = false;
  }

  async #measure(requests: readonly Request[], forgotten: readonly string[]): Promise<void> {
    try {
      const measured = await this.#tried(() => this.#transact(requests, forgotten));
      for (const [index, { resolve }] of requests.entries()) resolve(measured[index] as Measured);
    } catch (error) {
      // A value that the database cannot store concerns only its own call.
      if (requests.length > 1) {
        for (const request of requests) await this.#measure([request], []);
      } else for (const { reject } of requests) reject(error);
    }
  }

  /** Tries until the database can be used. A repeated attempt replaces what an earlier one reserved. */
  async #tried<Result>(run: () => Promise<Result>): Promise<Result> {
    for (let wait = pause.first; ; wait = Math.min(wait * 2, pause.most)) {
      try {
        return await run();
      } catch (error) {
        if (!isServerGone(error) || this.#isClosed) throw error;
        await new Promise<void>((resolve) => void setTimeout(resolve, wait).unref());
      }
    }
  }

  /** Stores sums of rows while calls are measured, which do not wait; without a stored sum, a limit reads more rows. */
  #sumUp(keys: ReturnType<typeof keysToSum>): void {
    if (keys.length === 0 || this.#isSumming) return;
    this.#isSumming = true;
    void this.#sumAll(keys)
      .catch(() => undefined)
      .finally(() => {
        this.#isSumming = false;
      });
  }

  async #sumAll(keys: ReturnType<typeof keysToSum>): Promise<void> {
    for (const key of keys) {
      let summed = rowsOfSum;
      while (summed === rowsOfSum && !this.#isClosed) {
        summed = (await this.#database.query(sumUp, [...key, rowsOfSum])).length;
      }
    }
  }

  /** Measures calls in one transaction, and reserves for those that ask for it and may run. */
  async #transact(asked: readonly Asked[], forgotten: readonly string[]): Promise<Measured[]> {
    const reserving = asked.filter((one) => one.asked.reserves);
    const isLocked = reserving.length > 0;
    const opening = [
      ...[readCommitted, unsynced],
      ...(forgotten.length === 0 ? [] : [{ text: giveBack, values: [forgotten] }]),
      ...(isLocked ? [lockKeys(reserving), dropEnded] : []),
    ];
    let measured: Measured[] = [];
    await this.#database.pipelined(
      [...opening, ...readGround(asked, this.#times, isLocked)],
      async (found) => {
        const ground = found.slice(opening.length);
        const all = measureAll(asked, ground, this.#times);
        this.#sumUp(keysToSum(asked, ground));
        measured = all.map((one) => one.measured);
        const rows = all.flatMap((one) => one.rows);
        const own = reserving.map((one) => one.asked.call.id);
        const renewed = all.flatMap((one, n) => (asked[n]?.asked.renews ? one.rows : []));
        return [
          ...(own.length === 0 ? [] : [{ text: giveBack, values: [own] }]),
          ...(renewed.length === 0 ? [] : [{ text: renew, values: [parameterOf(renewed)] }]),
          ...(rows.length === 0 ? [] : [insertRows(rows, endOfPending)]),
        ];
      },
    );
    return measured;
  }
}

const endOfPending = `${serverNow} + ${pendingTime}`;

/** A call that counts since its approval counts from now on, also if its program does not receive it after all. */
const renew = `UPDATE ledger AS l SET at = x.at, until = x.until, amount = x.amount
  FROM json_to_recordset($1::text::json) AS x(${ledgerRecord})
  WHERE l.call_id = x.call_id AND l.kind = x.kind AND l.name = x.name AND l.key = x.key
    AND l.state = 'running'`;

const giveBack = `DELETE FROM ledger WHERE call_id = ANY($1::text[]) AND state = 'pending'`;

const pruneEnded = `DELETE FROM ledger WHERE position = ANY(ARRAY(
  SELECT position FROM ledger WHERE ${isPastEnd('$1')} LIMIT 1000 FOR UPDATE SKIP LOCKED)) RETURNING position`;

/** Calls and tasks change in one commit, so one statement sees what runs at any daemon. */
const recoverLost = `WITH looked AS (SELECT position FROM ledger WHERE position > $1
    ORDER BY position LIMIT ${mostRecovered}),
  gone AS (UPDATE ledger SET state = 'unknown' WHERE position IN (SELECT position FROM looked) AND ${isLost}
    RETURNING call_id, task_id, tool, args_sha256, requester),
  noted AS (${lostOutcomes('gone', '$2::bigint')} ON CONFLICT DO NOTHING)
  SELECT (SELECT count(*) FROM looked) AS rows, (SELECT max(position) FROM looked) AS last,
    (SELECT count(*) FROM gone) AS gone`;

/** The rows that were compared with their tasks. */
interface Looked {
  rows: number;
  last: number;
  gone: number;
}

/** A release that does not know the ledger deletes tasks without it. Looks at the next 1,000 rows that leave with a task. */
const pruneOrphans = `WITH leaving AS (SELECT position, task_id FROM ledger
    WHERE position > $1 AND until IS NULL AND kind <> 'restored' AND state <> 'pending'
    ORDER BY position LIMIT 1000),
  gone AS (DELETE FROM ledger WHERE position IN (SELECT position FROM leaving
    WHERE NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.id = task_id))
    AND NOT ${stillSettled} RETURNING position)
  SELECT (SELECT count(*) FROM leaving) AS rows, (SELECT max(position) FROM leaving) AS last,
    (SELECT count(*) FROM gone) AS gone`;
