import type { ProviderMetadata } from 'ai';
import type { PartMetadata, SaidPart } from '../../../machines/domain/task.ts';
import { partMetadata } from './part-metadata.ts';

/** Collects the parts of one answer while it is read, in the order of their starts. */
export class TurnParts {
  readonly #parts: SaidPart[] = [];
  readonly #open = new Map<string, SaidPart & { text: string }>();

  /** Processes the start, a delta or the end of a text or reasoning part, with provider metadata. */
  take(
    kind: 'text' | 'thought',
    id: string,
    metadata: ProviderMetadata | undefined,
    text = '',
  ): void {
    const key = `${kind} ${id}`;
    const part = this.#open.get(key) ?? this.#begin(key, kind);
    part.text += text;
    addMetadata(part, metadata);
  }

  /** Processes a call; an open part continues after it as a separate part. */
  takeCall(metadata: ProviderMetadata | undefined): void {
    const part: SaidPart = { kind: 'call' };
    addMetadata(part, metadata);
    this.#parts.push(part);
  }

  /** Returns the parts with content or with metadata to send back. */
  said(): SaidPart[] {
    return this.#parts
      .filter((part) => part.kind === 'call' || part.text !== '' || part.metadata !== undefined)
      .map((part) => (part.kind === 'call' ? part : { ...part, text: part.text.toWellFormed() }));
  }

  #begin(key: string, kind: 'text' | 'thought'): SaidPart & { text: string } {
    const part = { kind, text: '' };
    this.#open.set(key, part);
    this.#parts.push(part);
    return part;
  }
}

function addMetadata(part: SaidPart, given: ProviderMetadata | undefined): void {
  const added = partMetadata(given);
  const before: PartMetadata = part.metadata ?? {};
  for (const [wire, values] of Object.entries(added)) {
    part.metadata = { ...before, ...part.metadata, [wire]: { ...before[wire], ...values } };
  }
}
