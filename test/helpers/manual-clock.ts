export { SimulatedClock as ManualClock } from '../../src/testing/simulated-clock.ts';
