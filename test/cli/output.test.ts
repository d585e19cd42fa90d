import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { CliError } from '../../src/cli/cli-error.ts';
import { Output } from '../../src/cli/output.ts';

it('the error of a command contains no terminal control', () => {
  const written: string[] = [];
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      written.push(String(chunk));
      done();
    },
  });
  const flags = { env: {}, isJson: false, isDebug: false, mayColour: false };
  const output = new Output({ stdout: stderr, stderr, ...flags });
  output.failure(
    new CliError('no agent runs in /srv/\u001b[2J', {
      code: 'not_running',
      hint: "start it with: holdpoint run --dir '/srv/\u001b[2J'",
    }),
  );
  expect(written.join('')).toBe(
    "error: no agent runs in /srv/\\u001b[2J; start it with: holdpoint run --dir '/srv/\\u001b[2J'\n",
  );
});
