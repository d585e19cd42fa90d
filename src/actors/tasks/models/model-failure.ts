import type { CallFault } from '../../../machines/models/model-call.ts';
import { ModelError } from '../../ports.ts';

/**
 * A failure of a call to a provider. The message is in our own words: what a provider answers may quote the key or the
 * text that was sent, so neither its words nor its error are kept.
 */
export class ModelFailure extends ModelError {
  override readonly name = 'ModelFailure';
  readonly fault: CallFault;
  /** Milliseconds for which the provider asked to be left alone; `null` when it asked for none. */
  readonly retryAfter: number | null;

  constructor(fault: CallFault, message: string, retryAfter: number | null = null) {
    super(message);
    this.fault = fault;
    this.retryAfter = retryAfter;
  }
}
