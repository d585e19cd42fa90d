import { expect, it } from 'vitest';
import { linesOf, read } from './reading.ts';

it('a tool may not be listed twice', () => {
  const text =
    'agent_id: x\ntools: [{name: t}, {name: u}, {name: t}]\nbuiltin_tools: [uuid_generate, uuid_generate]';
  expect(linesOf(read(text))).toEqual([
    'error 2:38 tools.2.name | this tool is listed twice; remove one of the two',
    'error 3:32 builtin_tools.1 | this tool is listed twice; remove one of the two',
  ]);
});

it('`tools` may configure a builtin tool', () => {
  const text = 'agent_id: x\ntools: [{name: uuid_generate}]\nbuiltin_tools: [uuid_generate]';
  expect(linesOf(read(text))).toEqual([]);
});

it.each([
  ['file_raed', 'there is no such builtin tool; did you mean file_read?'],
  ['websearch', 'there is no such builtin tool; did you mean web_search?'],
  [
    '',
    expect.stringMatching(/^there is no such builtin tool; there are http_request, web_search, /),
  ],
])('an unknown builtin tool %j is answered with the nearest one', (name, message) => {
  const [line = ''] = linesOf(read(`agent_id: x\nbuiltin_tools: [${JSON.stringify(name)}]`));
  expect(line.split(' | ')).toEqual(['error 2:17 builtin_tools.0', expect.any(String)]);
  expect(line.split('builtin_tools.0: ')[1]).toEqual(message);
});

it('a setting of another tool is refused, and an unknown one causes a warning', () => {
  const text = `agent_id: x
builtin_tools: [web_search]
tools:
  - {name: web-search, config: {provider: perplexity, timeout: 1s, apikey: x}}
  - {name: pay, config: {commands: [jq]}}`;
  expect(linesOf(read(text))).toEqual([
    'error 4:64 tools.0.config.timeout | this is a setting of cli_execute; move it there or remove it',
    'error 5:36 tools.1.config.commands | this is a setting of cli_execute; move it there or remove it',
    'warning 4:68 tools.0.config.apikey | tools.0.config.apikey: unknown key; remove it',
  ]);
});

it('a model may run only listed programs, no shell, and none without a sandbox', () => {
  const needs =
    'cli_execute needs the programs that it may run; add {name: cli_execute, config: {commands: [jq]}} to tools';
  const shell = 'this is a shell, which can run any program; list the required programs';
  const named = 'this must be the bare name of a program, such as jq, without a path or arguments';
  const lines = (config: string, more = '') =>
    linesOf(
      read(
        `agent_id: x\nbuiltin_tools: [cli_execute]\ntools: [{name: cli_execute, config: ${config}}]\n${more}`,
      ),
    ).map((line) => line.replace(/^\w+ [\d:]+ /, '').replace(/\| tools\S+: /, '| '));
  expect(lines('{commands: [jq, git]}')).toEqual([]);
  expect(lines('{}')).toEqual([`builtin_tools.0 | ${needs}`]);
  expect(lines('{commands: []}')).toEqual([
    'tools.0.config.commands | list at least one program; a model may run no other',
  ]);
  expect(lines('{commands: [jq, bash]}')).toEqual([`tools.0.config.commands.1 | ${shell}`]);
  expect(lines('{commands: [./jq, "jq -n", /bin/jq]}')).toEqual([
    `tools.0.config.commands.0 | ${named}`,
    `tools.0.config.commands.1 | ${named}`,
    `tools.0.config.commands.2 | ${named}`,
  ]);
  expect(lines('{commands: [jq]}', 'egress: {sandbox: env}')).toEqual([
    'builtin_tools.0 | cli_execute runs in a sandbox alone; set egress.sandbox to bwrap or auto, or remove it',
  ]);
});
