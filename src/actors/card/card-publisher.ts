import { hash } from 'node:crypto';
import { type ActorRefFrom, createActor, fromCallback, fromPromise } from 'xstate';
import type { AgentCard, CardParts } from '../../machines/card/agent-card.ts';
import { type CardEvent, cardMachine } from '../../machines/card/card-machine.ts';
import type { JsonObject } from '../../machines/json.ts';
import type { ServiceConfig } from '../config/config.ts';
import type { AuditEvent } from '../ports/audit-event.ts';
import type { CardSource, CardVersion, PublishedCard } from '../ports/card-source.ts';
import type { Clock } from '../ports/clock.ts';
import type { Skill } from '../tools/tools.ts';
import { assembleCard } from './assemble-card.ts';
import { assembleModernCard, withModernSchemes } from './assemble-modern-card.ts';
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

/** The encoded card of each version, and its audit event. */
interface EncodedCard {
  versions: Record<CardVersion, PublishedCard>;
  /** The same cards for REST, with 0.3.0 security schemes also under their 1.0 names. */
  restVersions: Record<CardVersion, PublishedCard>;
  event: Pick<AuditEvent, 'event' | 'fields'>;
}

/** Encodes the parts of a card; equal parts give equal bytes (docs/contract/agent-card.md). */
export function encodeCard(parts: CardParts): EncodedCard {
  const card = assembleCard(parts);
  const hybrid = assembleHybridCard(parts);
  const versions = {
    hybrid: published(hybrid),
    '0.3.0': published(card),
    '1.0': published(assembleModernCard(parts)),
  };
  return {
    versions,
    restVersions: {
      hybrid: published(withModernSchemes(hybrid)),
      '0.3.0': published(withModernSchemes(card)),
      '1.0': versions['1.0'],
    },
    event: cardEvent(parts, card, versions.hybrid.body),
  };
}

/** Creates the audit event of a new card (docs/contract/agent-card.md). */
function cardEvent(
  { declared }: CardParts,
  card: AgentCard,
  body: Buffer,
): Pick<AuditEvent, 'event' | 'fields'> {
  const { streaming, pushNotifications, stateTransitionHistory } = card.capabilities;
  return {
    event: 'agent_card_published',
    fields: {
      name: card.name,
      version: card.version,
      protocol_version: card.protocolVersion,
      url: card.url,
      skill_count: card.skills.length,
      capabilities: {
        streaming,
        push_notifications: pushNotifications,
        state_transition_history: stateTransitionHistory,
      },
      security_schemes: [...new Set(declared.map(({ provider }) => provider))],
      card_size_bytes: body.byteLength,
      card_sha256: hash('sha256', body),
    },
  };
}

/** Adds a strong ETag: only equal bytes have equal tags. */
function published(card: object): PublishedCard {
  const body = Buffer.from(JSON.stringify(card));
  return { body, etag: `"${hash('sha256', body)}"` };
}

/**
 * Assembles the card for clients that name no version: the 0.3.0 card plus the 1.0 fields, so that clients of the two
 * generations find their interface (docs/contract/agent-card.md). For fields whose forms differ, such as
 * `securitySchemes`, the 0.3.0 form is used, which 1.0 readers also understand.
 */
function assembleHybridCard(parts: CardParts): JsonObject {
  const older = assembleCard(parts);
  const modern = assembleModernCard(parts);
  return {
    ...modern,
    ...older,
    capabilities: { ...(modern['capabilities'] as JsonObject), ...older.capabilities },
  } as unknown as JsonObject;
}
