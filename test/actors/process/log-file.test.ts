import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openLogFile } from '../../../src/actors/process/log-file.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

it('a log file may not be a pipe or a device, which would lose the lines', () => {
  const pipe = join(temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const path of [pipe, '/dev/null']) {
    expect(() => openLogFile(path)).toThrow(
      `the log ${path} is a pipe or a device; name a file, which need not exist`,
    );
  }
});

it('a log path that cannot be opened is named', () => {
  const folder = temporaryFolder();
  expect(() => openLogFile(folder)).toThrow(
    `the log ${folder} cannot be opened (EISDIR); name a file, which need not exist`,
  );
});
