import { expect, it } from 'vitest';
import { SimulatedTime } from '../../../packages/testing/simulated-time.ts';

it('simulated time stops at each timer, processes events there, and repeats what is due', async () => {
  const time = new SimulatedTime(1_000);
  const told: string[] = [];
  const tell = (what: string) => (): void => void told.push(`${time.clock.now()} ${what}`);
  time.clock.setTimeout(tell('later'), 500);
  time.clock.setTimeout(() => time.clock.setTimeout(tell('sooner'), 50), 100);
  const end = time.every(300, tell('again'));
  await time.advance(1_000, async () => tell('settled')());
  end();
  await time.advance(1_000, async () => undefined);
  expect(told).toEqual([
    '1000 settled',
    '1100 settled',
    '1150 sooner',
    '1150 settled',
    '1500 later',
    '1500 again',
    '1500 settled',
    '2000 again',
    '2000 settled',
  ]);
  expect(time.clock.now()).toBe(3_000);
});
