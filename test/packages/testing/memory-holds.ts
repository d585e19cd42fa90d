import {
  type Arguments,
  type AskedCall,
  type Hold,
  type HoldDecision,
  type HoldOutcome,
  type HoldsAdapter,
  type Person,
  type Refusal,
} from '../../../packages/testing/holds/holds.ts';

/** The defects that `MemoryHolds` can have. */
export const faults = [
  'loses data at a kill',
  'loses data at a stop',
  'loses outcomes',
  'compares no arguments',
  'finds the key too late',
  'accepts every decision',
  'decides late',
  'expires as approved',
  'approves after the deadline',
  'asks again after an end',
  'releases after the outcome',
  'releases to every claim',
  'releases a waiting call',
  'ignores digests',
  'ignores changes',
  'lets every person decide',
  'lets requesters decide',
  'shows all holds to all',
  'keeps the last outcome',
  'reads any word as approval',
  'names the first approver',
  'has no limits',
  'allows nothing',
  'adds in binary',
  'counts late',
  'counts all accounts together',
  'counts denied calls',
  'counts each request',
  'adds every amount',
  'forgets failed calls',
  'counts calls that did not run',
  'counts rejected calls',
  'knows only running effects',
  'keeps failed effects',
] as const;

export type Fault = (typeof faults)[number];

interface Row extends Hold {
  call: AskedCall;
  /** The arguments that may run. */
  args: Arguments;
  deadline: number;
  isTaken: boolean;
  /** The process that took it. */
  claim?: string | undefined;
}

const refused = { refused: 'no' } satisfies Refusal;

const day = 86_400_000;

/** A small implementation of holds with the faults that a test names; without any it is correct. */
export class MemoryHolds implements Required<Omit<HoldsAdapter, 'runs'>> {
  readonly name = 'memory';
  readonly features = [
    ...(['callers', 'approvers', 'fourEyes', 'approver', 'note', 'edit'] as const),
    ...(['digest', 'claim', 'schema', 'tools'] as const),
    ...(['notRun', 'limit', 'limitAsks', 'effect'] as const),
  ];
  readonly expiresWithin = 1_000;
  readonly #faults: ReadonlySet<Fault>;
  #rows = new Map<string, Row>();
  /** What is on the disk; a kill leaves only that. */
  #stored = '[]';
  #now = 0;

  constructor(...faults: Fault[]) {
    this.#faults = new Set(faults);
  }

  async start(): Promise<void> {
    const rows = JSON.parse(this.#stored) as Row[];
    if (this.#has('loses outcomes')) for (const row of rows) row.isTaken = false;
    this.#rows = new Map(rows.map((row) => [row.id, row]));
  }

  async stop(): Promise<void> {
    this.#stored = this.#has('loses data at a stop') ? '[]' : this.#asText();
  }

  async kill(): Promise<void> {
    this.#rows.clear();
  }

  async close(): Promise<void> {
    await this.kill();
  }

  async pass(milliseconds: number): Promise<void> {
    this.#now += milliseconds;
  }

  async ask(call: AskedCall): Promise<Hold | Refusal> {
    const { key, args, by, soon } = call;
    if (key === '' || args === null || typeof args !== 'object' || Array.isArray(args)) {
      return refused;
    }
    const id = this.#idOf(by, key);
    let row = this.#find(id);
    if (this.#has('finds the key too late')) await soonAfter();
    if (row !== undefined && this.#has('asks again after an end') && row.status !== 'pending') {
      row = undefined;
    }
    if (row === undefined) {
      const isRepeated = this.#has('finds the key too late') && this.#rows.has(id);
      if (this.#has('counts late')) await soonAfter();
      const status = this.#statusOf(call);
      if (this.#has('counts late')) await soonAfter();
      row = {
        ...{ id: isRepeated ? `${id}-${Math.random()}` : id, status, call, args },
        ...{ digest: canonical(args), deadline: this.#now + (soon ? this.expiresWithin : day) },
        ...{ isTaken: status === 'allowed', outcome: null, note: null, approver: null },
      };
      this.#save(row);
    } else if (!this.#has('compares no arguments') && !isSame(row.call, call)) return refused;
    return { ...row };
  }

  async read(id: string, by: Person): Promise<Hold | Refusal> {
    const row = this.#own(id, by);
    return row === undefined ? refused : { ...row };
  }

  async waiting() {
    const rows = [...this.#rows.keys()].flatMap((id) => this.#find(id) ?? []);
    return rows
      .filter(({ status }) => status === 'pending')
      .map(({ id, args, call: { tool } }) => ({ id, tool, args }));
  }

  async decide(
    id: string,
    { decision, by, note, args, digest }: HoldDecision,
  ): Promise<Refusal | undefined> {
    const row = this.#has('approves after the deadline') ? this.#rows.get(id) : this.#find(id);
    const isApproval =
      decision === 'approve' || (decision !== 'reject' && this.#has('reads any word as approval'));
    if (row === undefined || (!isApproval && decision !== 'reject')) return refused;
    if (by === 'eve' && !this.#has('lets every person decide')) return refused;
    if (by === row.call.by && !this.#has('lets requesters decide')) return refused;
    if (row.status !== 'pending' && !this.#has('accepts every decision')) return refused;
    if (digest !== undefined && digest !== row.digest && !this.#has('ignores digests')) {
      return refused;
    }
    if (this.#has('decides late')) await soonAfter();
    const edited = this.#has('ignores changes') ? undefined : args;
    const approver = this.#has('names the first approver') ? 'ann' : by;
    const status = isApproval ? 'approved' : 'rejected';
    this.#save(
      Object.assign(row, { status, args: edited ?? row.args, approver, note: note ?? null }),
    );
    return undefined;
  }

  async cancel(id: string, by: Person): Promise<Refusal | undefined> {
    const row = this.#own(id, by);
    if (row?.status !== 'pending') return refused;
    this.#save(Object.assign(row, { status: 'cancelled' }));
    return undefined;
  }

  async take(id: string, by: Person, claim?: string): Promise<Arguments | Refusal> {
    const row = this.#own(id, by);
    if (row === undefined) return refused;
    const may =
      row.status === 'approved' ||
      (this.#has('releases a waiting call') && row.status === 'pending');
    const isLost =
      claim !== undefined && (row.claim === claim || this.#has('releases to every claim'));
    const isOpen = row.outcome === null ? isLost : this.#has('releases after the outcome');
    if (!may || (row.isTaken && !isOpen)) return refused;
    this.#save(Object.assign(row, { isTaken: true, claim: row.claim ?? claim }));
    return row.args;
  }

  async report(id: string, outcome: HoldOutcome, by: Person): Promise<Refusal | undefined> {
    const row = this.#own(id, by);
    if (row?.isTaken !== true) return refused;
    const isOther = row.outcome !== null && canonical(row.outcome) !== canonical(outcome);
    if (isOther && !this.#has('keeps the last outcome')) return refused;
    this.#save(Object.assign(row, { outcome }));
    return undefined;
  }

  /** The answer of limits and effects to a new call. */
  #statusOf({ tool, args }: AskedCall): Hold['status'] {
    if (tool === 'send') return this.#isRepeat(args) ? 'pending' : 'allowed';
    if (tool !== 'spend' && tool !== 'spend_more') return 'pending';
    if (this.#has('has no limits')) return 'allowed';
    const beyond = tool === 'spend' ? 'denied' : 'pending';
    const { amount } = args;
    const isMeasured = typeof amount === 'number' && amount >= 0;
    if (!isMeasured && !this.#has('adds every amount')) return beyond;
    const used = this.#counted(tool, args).reduce((sum, row) => sum + centsOf(row.args), 0);
    const isWithin = this.#has('adds in binary')
      ? this.#counted(tool, args).reduce((sum, row) => sum + Number(row.args['amount']), 0) +
          Number(amount) <
        100
      : used + centsOf(args) <= 10_000;
    return isWithin && !this.#has('allows nothing') ? 'allowed' : beyond;
  }

  /** The calls that count for a limit. */
  #counted(tool: string, { account }: Arguments): Row[] {
    return [...this.#rows.values()].filter(({ call, status, outcome }) => {
      const isSame = this.#has('counts all accounts together') || call.args['account'] === account;
      if (call.tool !== tool || !isSame) return false;
      if (outcome?.status === 'not_run') return this.#has('counts calls that did not run');
      if (outcome?.status === 'failed') return !this.#has('forgets failed calls');
      if (status === 'denied') return this.#has('counts denied calls');
      if (status === 'rejected') return this.#has('counts rejected calls');
      return status === 'allowed' || status === 'approved';
    });
  }

  #isRepeat({ order }: Arguments): boolean {
    if (this.#has('has no limits')) return false;
    if (this.#has('allows nothing')) return true;
    return [...this.#rows.values()].some(({ call, status, outcome }) => {
      if (call.tool !== 'send' || status !== 'allowed' || call.args['order'] !== order)
        return false;
      if (outcome?.status === 'failed') return this.#has('keeps failed effects');
      return outcome === null || !this.#has('knows only running effects');
    });
  }

  #has(fault: Fault): boolean {
    return this.#faults.has(fault);
  }

  #idOf(by: Person, key: string): string {
    return JSON.stringify([this.#has('shows all holds to all') ? '' : by, key]);
  }

  #own(id: string, by: Person): Row | undefined {
    const row = this.#find(id);
    return row?.call.by === by || this.#has('shows all holds to all') ? row : undefined;
  }

  /** The hold of an id, which expires here. */
  #find(id: string): Row | undefined {
    const row = this.#rows.get(id);
    const isOver = row?.status === 'pending' && row.deadline <= this.#now;
    if (isOver) {
      const status = this.#has('expires as approved') ? 'approved' : 'expired';
      this.#save(Object.assign(row, { status }));
    }
    return row;
  }

  #save(row: Row): void {
    this.#rows.set(row.id, row);
    if (!this.#has('loses data at a kill')) this.#stored = this.#asText();
  }

  #asText(): string {
    return JSON.stringify([...this.#rows.values()]);
  }
}

function isSame(one: AskedCall, other: AskedCall): boolean {
  return one.tool === other.tool && canonical(one.args) === canonical(other.args);
}

/** The amount of a call in hundredths. */
function centsOf({ amount }: Arguments): number {
  return Math.round(Number(amount) * 100);
}

/** Resolves after other requests of this moment were read. */
async function soonAfter(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    member !== null && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
