import { expect, it } from 'vitest';
import { runCommand } from './run-command.ts';

it.each(['format:check', 'lint', 'types', 'arrows', 'knip', 'statecharts:check'])(
  'passes npm run %s',
  { timeout: 120_000 },
  async (script) => {
    const { status, stdout, stderr } = await runCommand('npm', ['run', '--silent', script]);
    expect(status, `${stdout}${stderr}`).toBe(0);
  },
);
