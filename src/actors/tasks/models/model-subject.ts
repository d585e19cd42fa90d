import { hash } from 'node:crypto';
import type { ModelName } from '../../../machines/models/model-call.ts';
import type { ProviderName } from '../../providers/providers.ts';

/** Which model is spoken of, and where its settings are, for messages. */
export interface ModelSubject extends ModelName {
  provider: ProviderName;
  /** The URL that the provider answers under. */
  address: string;
  /** The variable that holds the key; `null` when none is sent. */
  keyVariable: string | null;
}

/** Returns a digest of the address of a model, which tells nothing of what stands in it. */
export function endpointOf({ address }: Pick<ModelSubject, 'address'>): string {
  return hash('sha256', address).slice(0, 16);
}

/** Names a model in a message, such as `openai gpt-5`. */
export function nameOf({ provider, model }: ModelName): string {
  return `${provider} ${model}`;
}

/** Names a provider and where it is, such as `ollama at http://127.0.0.1:11434`. */
export function placeOf({ provider, address }: ModelSubject): string {
  return `${provider} at ${URL.parse(address)?.origin ?? address}`;
}
