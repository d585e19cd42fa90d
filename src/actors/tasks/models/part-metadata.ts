import type { ProviderMetadata } from 'ai';
import type { PartMetadata } from '../../../machines/domain/task.ts';

/**
 * Provider metadata that must be sent back with a part: signatures of anthropic and google, and encrypted reasoning of
 * openai. Other metadata is informational, or would misstate how a call ran.
 */
const toldBack: ReadonlySet<string> = new Set([
  'signature',
  'redactedData',
  'thoughtSignature',
  'itemId',
  'phase',
  'reasoningEncryptedContent',
]);

/** Returns the metadata of a part to send back; empty if there is none. */
export function partMetadata(given: ProviderMetadata | undefined): PartMetadata {
  const wires = Object.entries(given ?? {}).map(([wire, values]) => {
    const kept = Object.entries(values).filter(
      (entry): entry is [string, string] => toldBack.has(entry[0]) && typeof entry[1] === 'string',
    );
    return [wire, Object.fromEntries(kept)] as const;
  });
  return Object.fromEntries(wires.filter(([, values]) => Object.keys(values).length > 0));
}

/** Returns the size of a part's metadata, in characters. */
export function metadataLength(given: ProviderMetadata | undefined): number {
  const texts = Object.values(partMetadata(given)).flatMap((values) => Object.values(values));
  return texts.reduce((sum, text) => sum + text.length, 0);
}
