export { SimulatedClock as ManualClock } from '../../packages/testing/simulated-clock.ts';
