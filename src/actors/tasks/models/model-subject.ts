import { hash } from 'node:crypto';
import type { ModelName } from '../../../machines/domain/model-speaker.ts';
import type { ProviderName } from '../../providers/providers.ts';

/** A model and its settings, as named in messages. */
export interface ModelSubject extends ModelName {
  provider: ProviderName;
  /** Base URL of the provider. */
  address: string;
  /** The variable that holds the key; `null` if no key is sent. */
  keyVariable: string | null;
}

/** Returns a digest of a model's URL that reveals nothing of it. */
export function endpointOf({ address }: Pick<ModelSubject, 'address'>): string {
  return hash('sha256', address).slice(0, 16);
}

/** Returns the name of a model for messages, such as `openai gpt-5`. */
export function nameOf({ provider, model }: ModelName): string {
  return `${provider} ${model}`;
}

/** Returns a provider with its URL for messages, such as `ollama at http://127.0.0.1:11434`. */
export function placeOf({ provider, address }: ModelSubject): string {
  return `${provider} at ${URL.parse(address)?.origin ?? address}`;
}
