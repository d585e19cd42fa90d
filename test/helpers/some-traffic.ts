import { Traffic, TrafficCount } from '../../src/http/traffic.ts';

/** The traffic of a caller of whom nothing is on its way yet. */
export function someTraffic(): Traffic {
  return new Traffic(new TrafficCount(), { caller: null, clientAddress: '127.0.0.1' });
}
