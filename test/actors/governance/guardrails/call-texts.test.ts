import { describe, expect, it } from 'vitest';
import { callTexts } from '../../../../src/actors/governance/guardrails/call-texts.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';

const textsOf = (tool: string, args: JsonObject) => [...callTexts(tool, args)].toSorted(byText);

const byText = (one: string, other: string) => one.localeCompare(other);

describe('the matched texts of a call', () => {
  it('contain the arguments unchanged, the arguments with sorted names, and each string', () => {
    expect(textsOf('fetch', { url: 'https://a.example', b: [{ d: 1, c: 'x' }] })).toEqual(
      [
        '{"url":"https://a.example","b":[{"d":1,"c":"x"}]}',
        '{"b":[{"c":"x","d":1}],"url":"https://a.example"}',
        'd',
        'x',
        'c',
        'b',
        'https://a.example',
        'url',
      ].toSorted(byText),
    );
  });

  it('include a list of plain values as one line', () => {
    expect(textsOf('fetch', { words: ['rm', '-rf', 1, true, null] })).toContain(
      'rm -rf 1 true null',
    );
    expect(textsOf('fetch', { words: ['rm', ['-rf']] })).not.toContain('rm -rf');
    expect(textsOf('fetch', { words: [1] })).not.toContain('1');
  });

  it.each(['cli_execute', 'cli-execute'])('include the command line of %s', (tool) => {
    const args = { command: ' rm   -r ', args: ['f ', null, { a: 2 }, [true]] };
    expect(textsOf(tool, args)).toEqual(
      expect.arrayContaining([' rm   -r  f  2 true', 'rm -r f 2 true']),
    );
  });

  it('include both programs when two are named', () => {
    const texts = textsOf('cli_execute', { command: 'ls', binary: 'rm', args: ['x'] });
    expect(texts).toEqual(expect.arrayContaining(['ls x', 'rm x']));
  });

  it('include no command line without a program, or of another tool', () => {
    const args = { binary: 'rm', args: ['x'] };
    expect(textsOf('cli_execute', args)).toEqual(
      [
        '{"binary":"rm","args":["x"]}',
        '{"args":["x"],"binary":"rm"}',
        'x',
        'args',
        'rm',
        'binary',
        'rm x',
      ].toSorted(byText),
    );
    expect(textsOf('cli_run', args)).not.toContain('rm x');
  });
});

describe('the whole matched text of a call', () => {
  it('has the names of every object sorted, for any input order', () => {
    const args = { c: 1, a: { z: [{ y: 2, x: 3 }], w: null }, d: 4, b: 5, B: 6 };
    expect(textsOf('pay', args)).toContain(
      '{"B":6,"a":{"w":null,"z":[{"x":3,"y":2}]},"b":5,"c":1,"d":4}',
    );
  });

  it('has only the program where no words follow it', () => {
    expect(textsOf('cli_execute', { command: 'ls' })).toEqual(
      ['{"command":"ls"}', 'command', 'ls'].toSorted(byText),
    );
  });

  it('has no command line without a program', () => {
    expect(textsOf('cli_execute', { args: ['rm', { to: '/' }] })).toEqual(
      ['{"args":["rm",{"to":"/"}]}', 'args', 'rm', 'to', '/'].toSorted(byText),
    );
  });

  it('has a command line without null words', () => {
    expect(textsOf('cli_execute', { command: null, binary: 'rm', args: [null, { a: 1 }] })).toEqual(
      [
        '{"command":null,"binary":"rm","args":[null,{"a":1}]}',
        '{"args":[null,{"a":1}],"binary":"rm","command":null}',
        ...['command', 'binary', 'args', 'a', 'rm', 'rm 1', '1'],
      ].toSorted(byText),
    );
  });
});
