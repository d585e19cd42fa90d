import { keptStart } from '../../machines/text.ts';
import { fieldOf } from '../wire/field-of.ts';

/** The longest words of a client about itself that are kept, in characters. */
const longestName = 100;

/** Tells whether a message begins a session. */
export function isGreeting(message: unknown): boolean {
  return fieldOf(message, 'method') === 'initialize';
}

/**
 * Returns a greeting without what nobody here reads: the SDK keeps what a client says of itself for as long as its
 * session lasts. What is not as it should be is left for the SDK to refuse.
 */
export function shortGreeting(message: object): object {
  const params = fieldOf(message, 'params');
  const spoken = fieldOf(params, 'protocolVersion');
  const clientInfo = fieldOf(params, 'clientInfo');
  const [name, version] = [fieldOf(clientInfo, 'name'), fieldOf(clientInfo, 'version')];
  if (typeof name !== 'string' || typeof version !== 'string') return message;
  return {
    ...message,
    params: {
      protocolVersion: typeof spoken === 'string' ? keptStart(spoken, longestName) : spoken,
      capabilities: {},
      clientInfo: { name: keptStart(name, longestName), version: keptStart(version, longestName) },
    },
  };
}
