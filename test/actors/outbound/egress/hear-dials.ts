import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { onTestFinished } from 'vitest';
import { type Dial, dialChannelName } from '../../../../src/actors/outbound/egress/egress.ts';

/** Records every connection that the policy opens, before it is open, until the test has finished. */
export function hearDials(also: (dial: Dial) => void = () => undefined): Dial[] {
  const dials: Dial[] = [];
  const hear = (dial: unknown) => {
    dials.push(dial as Dial);
    also(dial as Dial);
  };
  subscribe(dialChannelName, hear);
  onTestFinished(() => void unsubscribe(dialChannelName, hear));
  return dials;
}
