import type { WizardOffer } from '../../../../machines/wizard/offers.ts';

const kept = new WeakMap<WizardOffer, Map<string, Map<string, unknown>>>();

/** Returns what a step keeps of answers that were changed, for as long as the wizard is that reads this offer. */
export function keptFor<Value>(offer: WizardOffer, step: string): Map<string, Value> {
  const steps = kept.get(offer) ?? new Map<string, Map<string, unknown>>();
  kept.set(offer, steps);
  const own = steps.get(step) ?? new Map<string, unknown>();
  steps.set(step, own);
  return own as Map<string, Value>;
}
