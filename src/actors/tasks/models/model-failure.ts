import type { CallFault } from '../../../machines/domain/call-fault.ts';
import { ModelError } from '../../ports/model.ts';

/**
 * A failed call to a provider. The message is in our own words: a provider's response may quote the key or the sent
 * text, so neither its text nor its error is retained.
 */
export class ModelFailure extends ModelError {
  override readonly name = 'ModelFailure';
  readonly fault: CallFault;
  /** Retry delay that the provider asks for, in milliseconds; `null` for none. */
  readonly retryAfter: number | null;

  constructor(fault: CallFault, message: string, retryAfter: number | null = null) {
    super(message);
    this.fault = fault;
    this.retryAfter = retryAfter;
  }
}
