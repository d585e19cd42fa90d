import { setTimeout as wait } from 'node:timers/promises';
import type { Answer } from '../../test/helpers/agent-client.ts';
import { Chance } from '../../test/helpers/chance.ts';
import { BurstLoad } from './burst-load.ts';
import { Cluster, type ClusterOptions, killPoints } from './cluster.ts';
import { HoldLoad } from './hold-load.ts';
import { brokenInvariants } from './invariants.ts';
import { Load } from './load.ts';

export interface RoundsOptions extends ClusterOptions {
  rounds: number;
  /** Bursts of ten calls at a gate; faults happen until all of them are answered, regardless of `rounds`. */
  bursts?: number;
  /** The source of every random choice, so that a run can be repeated. */
  seed: number;
  /** Receives each fault. */
  tell?: (line: string) => void;
}

/** What came of the rounds. */
export interface RoundsResult {
  faults: number;
  /** Tasks or holds that a client has received. */
  accepted: number;
  decisions: number;
  /** Calls that ran, or were handed out. */
  runs: number;
  /** Tasks that had a receiver. */
  followed: number;
  /** Calls that the desk was asked for. */
  asked: number;
  /** Those whose end it does not know, for no fault of the log. */
  unheard: number;
  /** Invariants that do not hold. */
  broken: string[];
}

/** Puts a cluster under load through a number of faults and looks at what is left. */
export async function runRounds({
  rounds,
  bursts,
  seed,
  tell = () => undefined,
  ...options
}: RoundsOptions): Promise<RoundsResult> {
  const chance = new Chance(seed);
  const random = () => chance.next();
  const cluster = await Cluster.start(options);
  try {
    const load =
      bursts === undefined ? loadOf(cluster, options.kind, random) : new BurstLoad(cluster, random);
    load.start(12);
    const isOver = (round: number) =>
      load instanceof BurstLoad ? load.done >= (bursts ?? 0) : round > rounds;
    let round = 1;
    for (; !isOver(round); round += 1) {
      // Bursts need time between two faults.
      if (bursts !== undefined) await wait(random() * 4_000);
      // Alone, a daemon that is back has to have something to lose.
      await wait((cluster.server === null ? 700 : 50) + random() * 400);
      const fault = faultOf(cluster, random);
      tell(`${round}: ${fault.name}`);
      await fault.happen();
    }
    await wait(1_000);
    await load.stop();
    await settle(cluster);
    const broken = [...cluster.fallen, ...(await brokenInvariants(cluster, load))];
    return {
      faults: round - 1,
      accepted: load instanceof Load ? load.accepted.size : load.known.size,
      decisions: load.decisions.length,
      runs: load instanceof Load ? cluster.paid.length : load.handedOut,
      followed: load instanceof Load ? load.followed.size : 0,
      asked: cluster.people.desk.size,
      unheard: cluster.people.unheard,
      broken,
    };
  } finally {
    await cluster.close();
  }
}

function loadOf(cluster: Cluster, kind: ClusterOptions['kind'], random: () => number) {
  return kind === 'gate' ? new HoldLoad(cluster, random) : new Load(cluster, random);
}

interface Fault {
  name: string;
  happen: () => Promise<void>;
}

function faultOf(cluster: Cluster, random: () => number): Fault {
  const index = Math.floor(random() * cluster.folders.length);
  const kill: Fault = {
    name: `daemon ${index} is killed and comes back`,
    async happen() {
      await cluster.kill(index);
      await wait(random() * 600);
      await cluster.launch(index);
    },
  };
  const point = killPoints[Math.floor(random() * killPoints.length)] ?? 'before-commit';
  const killAt: Fault = {
    name: `daemon ${index} is killed at ${point} and comes back`,
    async happen() {
      await cluster.killAt(index, point);
      await wait(random() * 600);
      await cluster.launch(index);
    },
  };
  const { server } = cluster;
  if (server === null) return random() < 0.5 ? kill : killAt;
  const others: Fault[] = [
    {
      name: 'every connection of the database is ended',
      async happen() {
        await server.query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1',
          [cluster.database],
        );
      },
    },
    {
      name: 'the database falls over and comes back',
      async happen() {
        await server.stop('immediate');
        await wait(random() * 800);
        await server.start();
      },
    },
    {
      name: `daemon ${index} is suspended for a while`,
      async happen() {
        cluster.at(index)?.signal('SIGSTOP');
        await wait(500 + random() * 2_500);
        cluster.at(index)?.signal('SIGCONT');
      },
    },
  ];
  const choice = random();
  if (choice < 0.25) return kill;
  if (choice < 0.5) return killAt;
  return others[Math.floor((choice - 0.5) * 2 * others.length)] ?? kill;
}

/** Approves what waits until no task is under way. */
async function settle(cluster: Cluster): Promise<void> {
  const latest = Date.now() + 60_000;
  while (Date.now() < latest) {
    const [agent] = cluster.alive;
    if (agent === undefined) return;
    const [waiting, working] = await Promise.all(
      ['deferred', 'working'].map((state) => agent?.get(`/tasks?state=${state}&limit=100`)),
    );
    const parked = tasksOf(waiting);
    const body = { decision: 'approve', approver: 'last' };
    await Promise.all(parked.map(({ id }) => agent.decide(id, body)));
    if (parked.length + tasksOf(working).length === 0) return;
    await wait(100);
  }
}

function tasksOf(answer: Answer | undefined): { id: string }[] {
  const { tasks } = (answer?.body ?? {}) as { tasks?: { id: string }[] };
  return tasks ?? [{ id: '' }];
}
