import { nobody, type People } from '../../src/actors/people/people.ts';
import type { Chance } from '../helpers/chance.ts';

const [ann, bob, cid, eve] = ['ann', 'bob', 'cid', 'eve'].map((name) => `${name}@example.com`) as [
  string,
  string,
  string,
  string,
];

/** The people who decide; `mallory` belongs to no group. */
export const team = [ann, bob, cid, eve, 'mallory@example.com'];

/** The groups whose approvals a large payment needs, one of each. */
export const groups = ['finance', 'legal'] as const;

type Group = (typeof groups)[number];

/** A moment of the team: the groups of each person, and who decides for whom. */
interface Moment {
  members: Readonly<Record<Group, readonly string[]>>;
  delegates: Readonly<Record<string, string>>;
}

/** A decision that a person sent, from the moment at which it was sent to that of its answer. */
interface Sent {
  holdId: string;
  approver: string;
  from: number;
  /** The last moment at which it may have been evaluated; absent while it is under way. */
  to?: number;
}

/** The team of a simulated gate, whose groups and delegates change while calls wait, and all decisions that were sent. */
export class SimulatedTeam {
  readonly #moments: Moment[] = [
    { members: { finance: [ann, bob], legal: [bob, eve] }, delegates: { [ann]: cid } },
  ];
  readonly #sent: Sent[] = [];

  /** The content of `people.yaml` now. */
  get people(): People {
    const { members, delegates } = this.#now;
    return {
      ...nobody,
      groups: Object.fromEntries(
        groups.map((name) => [name, { members: members[name], slack: null }]),
      ),
      away: Object.entries(delegates).map(([person, delegate]) => ({
        ...{ person, delegate, from: 0, until: Number.MAX_SAFE_INTEGER },
      })),
    };
  }

  /** Adds or removes a member of a group, or a delegate. */
  change(chance: Chance): void {
    const { members, delegates } = this.#now;
    const [person, other, group] = [chance.pick(team), chance.pick(team), chance.pick(groups)];
    if (chance.next() < 0.3) {
      const { [person]: known, ...others } = delegates;
      const isAdded = known === undefined && other !== person;
      this.#moments.push({
        members,
        delegates: isAdded ? { ...others, [person]: other } : others,
      });
      return;
    }
    const own = members[group];
    const isMember = own.includes(person);
    const changed = isMember ? own.filter((one) => one !== person) : [...own, person];
    this.#moments.push({ members: { ...members, [group]: changed }, delegates });
  }

  /** Notes a decision before it is sent; returns a function that notes its answer. */
  send(holdId: string, approver: string): () => void {
    const sent: Sent = { holdId, approver, from: this.#moments.length - 1 };
    this.#sent.push(sent);
    return () => (sent.to = this.#moments.length - 1);
  }

  /** Ends every decision that is under way, since the process that would answer is gone. */
  cut(): void {
    for (const sent of this.#sent) sent.to ??= this.#moments.length - 1;
  }

  /** Returns two people whose approvals release a large payment now. */
  entitled(): string[] {
    const { finance, legal } = this.#now.members;
    const [first] = finance;
    const second = legal.find((one) => one !== first);
    return first === undefined || second === undefined ? [] : [first, second];
  }

  /**
   * Returns the groups in whose name a person could decide on a hold, for oneself or for `delegator`, at a moment at which
   * a decision of the person was under way.
   */
  rightsOf(holdId: string, approver: string, delegator: string | null): Set<Group> {
    const own = this.#sent.filter((one) => one.holdId === holdId && one.approver === approver);
    const moments = own.flatMap(({ from, to = this.#moments.length - 1 }) =>
      this.#moments.slice(from, to + 1),
    );
    const person = delegator ?? approver;
    return new Set(
      moments
        .filter(({ delegates }) => delegator === null || delegates[delegator] === approver)
        .flatMap(({ members }) => groups.filter((name) => members[name].includes(person))),
    );
  }

  get #now(): Moment {
    // Safe to cast: there is always a first moment.
    return this.#moments.at(-1) as Moment;
  }
}
