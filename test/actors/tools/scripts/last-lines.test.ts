import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { lastLines } from '../../../../src/actors/tools/scripts/last-lines.ts';

function crashOf(code: string): string {
  return spawnSync(process.execPath, ['--eval', code], { encoding: 'utf8' }).stderr;
}

it('the text of an uncaught error is kept, and its stack is dropped', () => {
  const code = 'throw new TypeError("the shop is closed", { cause: new Error("it is Sunday") })';
  const lines = lastLines(crashOf(code), []);
  expect(lines).toContain('TypeError: the shop is closed');
  expect(lines).toContain('[cause]: Error: it is Sunday');
  expect(lines).not.toMatch(/node:internal|Node\.js v/);
});

it('lines that look like a crash are kept without one', () => {
  expect(lastLines('  at noon the shop closes\n}\n', [])).toBe('at noon the shop closes / }');
});

it('terminal controls and direction marks are dropped', () => {
  expect(lastLines('\u001b[31mred\u0007\u202e \u2028late\u{e0041}\u200fr\u061c\ud800', [])).toBe(
    'red later',
  );
});

it('no half of a secret remains at the end of a cut line, in any of its forms', () => {
  const secret = 'correct-horse-battery-staple';
  for (const form of [secret, Buffer.from(secret).toString('base64'), encodeURIComponent(secret)]) {
    for (const before of [450, 480, 499]) {
      const lines = lastLines(`${'x'.repeat(before)}${form}`, [secret]);
      expect(lines).toBe(`${'x'.repeat(before)}[redacted]`.slice(0, 500));
    }
  }
});
