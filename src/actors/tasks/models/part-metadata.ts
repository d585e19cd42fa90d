import type { ProviderMetadata } from 'ai';
import type { PartMetadata } from '../../../machines/task/task.ts';

/**
 * What providers want told back with a part, so that they know their own thoughts again: the signatures of anthropic and
 * google, and the encrypted reasoning of openai. The rest is for readers, or would have a call told otherwise than it ran.
 */
const toldBack: ReadonlySet<string> = new Set([
  'signature',
  'redactedData',
  'thoughtSignature',
  'itemId',
  'phase',
  'reasoningEncryptedContent',
]);

/** Returns what of the metadata of a part is told back with it; nothing when nothing is. */
export function partMetadata(given: ProviderMetadata | undefined): PartMetadata {
  const wires = Object.entries(given ?? {}).map(([wire, values]) => {
    const kept = Object.entries(values).filter(
      (entry): entry is [string, string] => toldBack.has(entry[0]) && typeof entry[1] === 'string',
    );
    return [wire, Object.fromEntries(kept)] as const;
  });
  return Object.fromEntries(wires.filter(([, values]) => Object.keys(values).length > 0));
}

/** Returns how many characters the metadata of a part has. */
export function metadataLength(given: ProviderMetadata | undefined): number {
  const texts = Object.values(partMetadata(given)).flatMap((values) => Object.values(values));
  return texts.reduce((sum, text) => sum + text.length, 0);
}
