import { type ActorRefFrom, createActor, fromCallback, fromPromise } from 'xstate';
import type { CardParts } from '../../machines/card/agent-card.ts';
import { type CardEvent, cardMachine } from '../../machines/card/card-machine.ts';
import type { ServiceConfig } from '../config/config.ts';
import type { AuditEvent } from '../ports/audit-event.ts';
import type { CardSource, CardVersion, PublishedCard } from '../ports/card-source.ts';
import type { Clock } from '../ports/clock.ts';
import type { Skill } from '../tools/tools.ts';
import { type EncodedCard, encodeCard } from './encode-card.ts';
import { type CardBasis, CardFilesError, gatherParts, partsOf } from './gather-parts.ts';
import { type FileWatch, watchFiles } from './watch-files.ts';

export interface CardPublisherOptions {
  clock: Clock;
  /** Writes an event to the audit log. */
  record: (event: Pick<AuditEvent, 'event' | 'fields'>) => Promise<void>;
}

/** The files with which the agent started. */
export interface StartedWith {
  config: ServiceConfig;
  skills: readonly Skill[];
  /** Start of reading the files, in epoch milliseconds of the wall clock. */
  readAt: number;
}

/** Publishes the agent card and updates it when the agent's files change (docs/contract/agent-card.md). */
export class CardPublisher implements CardSource {
  readonly #options: CardPublisherOptions;
  #encoded: EncodedCard | null = null;
  #actor: ActorRefFrom<typeof cardMachine> | null = null;
  #watching: Promise<FileWatch | null> | null = null;

  constructor(options: CardPublisherOptions) {
    this.#options = options;
  }

  current(version: CardVersion, forRest = false): PublishedCard | null {
    return this.#encoded?.[forRest ? 'restVersions' : 'versions'][version] ?? null;
  }

  /** Publishes the first card. Resolves once its audit event is recorded. */
  start(basis: CardBasis, { config, skills }: StartedWith): Promise<void> {
    return this.#publish(partsOf(basis, config, skills));
  }

  /** Watches the card's files, including changes since they were read at start-up. */
  watch(basis: CardBasis, { config, readAt }: StartedWith): void {
    const actor = createActor(this.#chartOf(basis, config.skills.path, readAt), {
      clock: this.#options.clock,
    });
    actor.subscribe({
      error: (error) => basis.log.error({ error }, 'card: broke; restart to see changes'),
    });
    actor.start();
    this.#actor = actor;
  }

  /** Stops watching; the card remains published. */
  async stop(): Promise<void> {
    this.#actor?.stop();
    await (await this.#watching)?.close();
  }

  /** Creates the chart with its ports bound. */
  #chartOf(basis: CardBasis, mainSkill: string, since: number) {
    const { directory, log } = basis;
    return cardMachine.provide({
      actors: {
        watchFiles: fromCallback<CardEvent>(({ sendBack }) => {
          const onChange = () => sendBack({ type: 'files.changed' });
          this.#watching = watchFiles({ directory, mainSkill, since, onChange, log }).catch(
            (error: unknown) => {
              log.error({ error }, 'card: its files are not watched; restart to see changes');
              return null;
            },
          );
        }),
        gatherParts: fromPromise(() => gatherParts(basis)),
      },
      actions: {
        publish: (_, { parts }) => void this.#republish(parts, basis),
        noteBroken: (_, { error }) => noteBroken(basis, error),
      },
    });
  }

  /** Publishes a new card. Resolves once its audit event is recorded. */
  #publish(parts: CardParts): Promise<void> {
    const encoded = encodeCard(parts);
    this.#encoded = encoded;
    return this.#options.record(encoded.event);
  }

  async #republish(parts: CardParts, { log }: CardBasis): Promise<void> {
    try {
      await this.#publish(parts);
      log.info({ skills: parts.skills.length }, 'card: published anew');
    } catch (error) {
      log.error({ error }, 'card: could not be recorded');
    }
  }
}

function noteBroken({ log }: CardBasis, error: unknown): void {
  const what = 'the last good card stays';
  if (!(error instanceof CardFilesError)) {
    log.error({ error }, `card: the files cannot be read; ${what}`);
    return;
  }
  for (const { file, line, column, message } of error.problems) {
    log.error({ file, line, column }, `card: ${file}:${line}:${column}: ${message}; ${what}`);
  }
}
