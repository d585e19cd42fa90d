import { createAuditSinks } from '../../../../src/actors/records/sinks/audit-sinks.ts';
import { systemClock } from '../../../../src/actors/system-clock.ts';

const nothing = (): void => undefined;

// Offers far more lines than a pipe can buffer, reports on the channel the state of the sink, and continues on request.
const sinks = createAuditSinks({
  sinks: [{ type: 'stdout' }],
  directory: '.',
  env: {},
  clock: systemClock(),
  log: { info: nothing, warn: nothing, error: nothing },
  record: nothing,
});
process.once('message', () => {
  void sinks.close().then(() => process.disconnect());
});
await new Promise((resolve) => setImmediate(resolve));
for (let number = 0; number < 5_000; number += 1) {
  sinks.offer(Buffer.from(`${number} ${'x'.repeat(1_000)}\n`));
  if (number % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
}
process.send?.(sinks.stats());
