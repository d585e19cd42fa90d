import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatProblem, peopleFile, readPeople } from '../../actors/config/config.ts';
import type { Delegating, People, PeopleDirectory } from '../../actors/people/people.ts';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';
import type { DaemonEvent } from './open-records.ts';

export interface KeepPeopleParts {
  directory: string;
  env: NodeJS.ProcessEnv;
  /** The people that the agent was started with. */
  people: People;
  into: PeopleDirectory;
  delegating: Pick<Delegating, 'refresh'>;
  record: (event: DaemonEvent) => Promise<void>;
  clock: Clock;
  log: Log;
}

/** Milliseconds between two looks at the file. A person who was removed from it decides no longer than that. */
const lookEvery = 5_000;

/** Keeps the people of a running agent equal to `people.yaml`. A file with a problem changes nothing. */
export class PeopleKeeper {
  readonly #parts: KeepPeopleParts;
  #timer: unknown = null;
  #sha256: string | null = null;
  #looking = Promise.resolve();
  #isStopped = false;

  constructor(parts: KeepPeopleParts) {
    this.#parts = parts;
  }

  /** Records the people of the start, and watches the file until `stop`. */
  async start(): Promise<void> {
    this.#sha256 = await this.#digest();
    if (this.#sha256 !== null) await this.#loaded(this.#parts.people);
    await this.#parts.delegating.refresh();
    this.#watch();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#parts.clock.clearTimeout(this.#timer);
    await this.#looking;
  }

  #watch(): void {
    if (this.#isStopped) return;
    const { clock, log } = this.#parts;
    this.#timer = clock.setTimeout(() => {
      this.#looking = this.#look()
        .catch((error: unknown) => log.error({ error }, `people: ${peopleFile} cannot be read`))
        .then(() => this.#watch());
    }, lookEvery);
  }

  async #look(): Promise<void> {
    const { directory, env, into, delegating, log } = this.#parts;
    await delegating.refresh();
    const sha256 = await this.#digest();
    if (sha256 === this.#sha256) return;
    this.#sha256 = sha256;
    const { people, problems } = readPeople(directory, env);
    for (const problem of problems) {
      log.error({}, `people: ${formatProblem(problem)}; the people before it stay in force`);
    }
    if (problems.length > 0) return;
    await this.#loaded(people);
    into.replace(people);
    log.info({}, `people: the changed ${peopleFile} is in force`);
  }

  async #digest(): Promise<string | null> {
    try {
      return hash('sha256', await readFile(join(this.#parts.directory, peopleFile)), 'hex');
    } catch {
      return null;
    }
  }

  async #loaded({ groups, oncall }: People): Promise<void> {
    const fields = {
      ...(this.#sha256 === null ? {} : { people_sha256: this.#sha256 }),
      groups: Object.keys(groups),
      oncall: Object.keys(oncall),
    };
    await this.#parts.record({ event: 'people_loaded', fields });
  }
}
