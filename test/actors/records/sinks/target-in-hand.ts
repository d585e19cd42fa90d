import { AuditSink, type SinkFlip } from '../../../../src/actors/records/sinks/audit-sink.ts';
import type { BatchBounds, QueueBounds } from '../../../../src/actors/records/sinks/line-queue.ts';
import type { SinkTarget } from '../../../../src/actors/records/sinks/sink-target.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';

type Settling = PromiseWithResolvers<void>;

/** A sink whose target does each thing when a test lets it, and the calls of that target in order. */
export function sinkInHand(bounds: QueueBounds, batch: BatchBounds = { lines: 2, bytes: 1_000 }) {
  const clock = new ManualClock(0);
  const asked: string[] = [];
  const flips: SinkFlip[] = [];
  const signals: AbortSignal[] = [];
  let connecting: Settling = Promise.withResolvers();
  let delivering: Settling = Promise.withResolvers();
  let hangingUp: Settling = Promise.withResolvers();
  const target: SinkTarget = {
    connect: (signal) => {
      asked.push('connect');
      signals.push(signal);
      connecting = Promise.withResolvers();
      return connecting.promise;
    },
    deliver: (lines, signal) => {
      asked.push(`deliver ${lines.map((line) => String(line).trimEnd()).join(' ')}`);
      signals.push(signal);
      delivering = Promise.withResolvers();
      return delivering.promise;
    },
    hungUp: () => {
      hangingUp = Promise.withResolvers();
      return hangingUp.promise;
    },
    disconnect: () => void asked.push('disconnect'),
  };
  const report = (flip: SinkFlip) => void flips.push(flip);
  const sink = new AuditSink({ name: 'hand', target, batch, bounds, clock, report });
  return {
    sink,
    clock,
    /** What was asked since the last time. */
    asked: () => asked.splice(0),
    /** What was said since the last time. */
    flips: () => flips.splice(0),
    signals,
    offer: (...lines: string[]) => sink.offer(lines.map((line) => Buffer.from(`${line}\n`))),
    connects: () => happened(() => connecting.resolve()),
    refuses: (reason: unknown) => happened(() => connecting.reject(reason)),
    /** Ends the delivery there is now, whenever that is called. */
    thisDelivery: () => {
      const { resolve } = delivering;
      return () => happened(resolve);
    },
    takes: () => happened(() => delivering.resolve()),
    fails: (reason: unknown) => happened(() => delivering.reject(reason)),
    hangsUp: () => happened(() => hangingUp.resolve()),
  };
}

/** Does something, and waits until all has been done that follows from it. */
export async function happened(act: () => void = () => undefined): Promise<void> {
  act();
  await new Promise((resolve) => setImmediate(resolve));
}
