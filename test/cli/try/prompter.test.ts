import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Prompter } from '../../../src/cli/try/prompter.ts';

function prompterOn(input: PassThrough): Prompter {
  return new Prompter(input, new PassThrough(), () => undefined);
}

const never = new AbortController().signal;

describe('Prompter', () => {
  it('answers each question with one line, also with earlier lines', async () => {
    const input = new PassThrough();
    const prompter = prompterOn(input);
    const first = prompter.ask(() => '> ', never);
    input.write('one\ntwo\n');
    expect([await first, await prompter.ask(() => '> ', never)]).toEqual(['one', 'two']);
  });

  it('returns null at the end of the input, and after it', async () => {
    const input = new PassThrough();
    const prompter = prompterOn(input);
    const asked = prompter.ask(() => '> ', never);
    input.end();
    expect([await asked, await prompter.ask(() => '> ', never)]).toEqual([null, null]);
  });

  it('treats a closed terminal as the end of the input', async () => {
    const input = new PassThrough();
    const prompter = prompterOn(input);
    const asked = prompter.ask(() => '> ', never);
    input.emit('error', Object.assign(new Error('setRawMode EIO'), { code: 'EIO' }));
    expect([await asked, await prompter.ask(() => '> ', never)]).toEqual([null, null]);
  });

  it('cancels a question with the reason of the signal, and can ask again', async () => {
    const input = new PassThrough();
    const prompter = prompterOn(input);
    const over = new AbortController();
    const asked = prompter.ask(() => '> ', over.signal);
    over.abort(new Error('over'));
    await expect(asked).rejects.toThrow('over');
    const again = prompter.ask(() => '> ', never);
    input.write('yes\n');
    expect(await again).toBe('yes');
  });

  it('prints above a waiting prompt, and keeps the typed text', async () => {
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
    const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
    const prompter = new Prompter(input, output, () => undefined);
    const asked = prompter.ask(() => '\nyou> ', never);
    input.write('hel');
    output.read();
    prompter.say(() => output.write('The page is there.\n'));
    expect(stripVTControlCharacters(String(output.read()))).toBe(
      'The page is there.\n\n\nyou> hel',
    );
    input.write('lo\r');
    expect(await asked).toBe('hello');
    prompter.say(() => output.write('Nothing waits.\n'));
    expect(String(output.read())).toMatch(/Nothing waits\.\n$/);
    prompter.close();
  });
});
