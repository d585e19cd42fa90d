import { expect, it } from 'vitest';
import { linesOf, read } from './reading.ts';

const bomb = [
  'agent_id: x',
  'a0: &a0 [x,x,x,x,x,x,x,x,x]',
  ...Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`)}]`),
].join('\n');

it.each([
  ['an empty file', '', '1:1  | the file is empty; it needs at least agent_id'],
  ['a file of comments', '# nothing\n', '1:1  | the file is empty; it needs at least agent_id'],
  [
    'a list',
    '\n- agent_id: x',
    '2:1  | the file must be a map of keys and values, such as agent_id: refunds',
  ],
  [
    'a word',
    'refunds',
    '1:1  | the file must be a map of keys and values, such as agent_id: refunds',
  ],
  [
    'tabs',
    'agent_id: x\nmodel:\n\tname: y\n',
    '3:1  | the file is not valid YAML: tab characters must not be used in indentation; use spaces',
  ],
  [
    'a bracket that is not closed',
    'agent_id: x\nchannels: [slack\ndescription: y\n',
    '3:1  | the file is not valid YAML: deficient indentation; close the bracket above, or indent the line',
  ],
  [
    'a bracket that is not closed in another',
    'agent_id: x\negress: {writable: [work}\n',
    '2:25  | the file is not valid YAML: missed comma between flow collection entries; close the bracket before it, or add the comma',
  ],
  [
    'keys that do not stand in one column',
    'agent_id: x\nmodel:\n    name: y\n  provider: scripted\n',
    '4:3  | the file is not valid YAML: bad indentation of a mapping entry; align the keys of a map in one column',
  ],
  [
    'two documents',
    'agent_id: x\n---\nagent_id: y\n',
    '1:1  | the file is not valid YAML: expected a single document in the stream, but found more',
  ],
  [
    'a file of 300 KiB',
    `agent_id: x\n# ${'x'.repeat(300 * 1024)}`,
    '1:1  | the file is larger than 256 KiB; make it smaller',
  ],
  [
    'more than 100 aliases',
    `agent_id: &a x\nchannels: [${'*a,'.repeat(101)}]`,
    '2:313  | the file has more than 100 aliases; write the values out',
  ],
  [
    'an alias within what it names',
    'agent_id: x\nchannels: &c [*c]',
    '2:14 channels.0 | this alias contains itself; write the value out',
  ],
  [
    'few aliases that stand for millions of values',
    bomb,
    '2:22 a4.1.2.7.3.6 | the file holds more than 20000 values, those behind aliases counted; make it smaller',
  ],
])('refuses %s', (_, text, line) => {
  expect(linesOf(read(text))).toEqual([`error ${line}`]);
});

it('refuses text nested 5000 deep, twice in one process', () => {
  for (const text of [
    '['.repeat(5000),
    `agent_id: x\na: ${'{a: '.repeat(5000)}`,
    '['.repeat(5000),
  ]) {
    expect(read(text)).toMatchObject({
      ok: false,
      problems: [{ message: 'the file is nested deeper than 64 levels; make it flatter' }],
    });
  }
});

it('names every duplicate key and continues', () => {
  const text = 'agent_id: x\nagent_id: y\nsecurity:\n  defer: {enabled: false, enabled: true}\n';
  expect(linesOf(read(text))).toEqual([
    'error 2:1 agent_id | the key agent_id is written twice; keep one',
    'error 4:27 security.defer.enabled | the key enabled is written twice; keep one',
  ]);
});

it('accepts a byte order mark, CRLF and a hundred aliases', () => {
  const text = `\uFEFFagent_id: &a x\r\nchannels: [${'*a,'.repeat(100)}]\r\n`;
  expect(read(text)).toMatchObject({ ok: true, config: { channels: Array(100).fill('x') } });
});

it('keeps the name of a tool that looks like a number', () => {
  const text =
    'agent_id: x\nsecurity: {defer: {enabled: true, tools: {1e3: {to: "channel:console:*"}, 1000: {to: "channel:console:*"}}}}';
  const reading = read(text);
  expect(reading.ok && Object.keys(reading.config.security.defer.tools)).toEqual(['1000', '1e3']);
});
