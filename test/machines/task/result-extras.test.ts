import { expect, it } from 'vitest';
import type { Part } from '../../../src/machines/domain/task.ts';
import type { JsonObject } from '../../../src/machines/json.ts';
import { describeTask } from '../../../src/machines/task/describe-task.ts';
import { finish, restingStates, type Step, step } from '../../helpers/step-task.ts';
import { aCall, accepted, allowed, returned, said, saved } from '../../helpers/task-fixtures.ts';

const extras = { structured: { total: 3 }, parts: [{ type: 'image', data: 'AA==' }] };

/** The task of a call that returned these extras. */
function ended(governing: Step, end: (step: Step) => Step) {
  const recording = finish(step(finish(governing, 'govern', allowed()), saved()), 'runTool', {
    ...returned('done'),
    ...extras,
  });
  const { snapshot } = end(step(recording, saved()));
  const { state, text, extras: shown } = describeTask(snapshot, 0, 1, null);
  return [state, text, shown];
}

it('a run without a model shows the extra parts of its result next to the text', () => {
  const governing = finish(restingStates.accepting(), 'accept', accepted());
  expect(ended(governing, (completed) => completed)).toEqual(['completed', 'done', extras]);
});

const answer = (thinking: Step): Step => finish(thinking, 'think', said('done'));

it('a run with a model shows the answer of its model as its text', () => {
  expect(ended(restingStates.governing(), answer)).toEqual(['completed', 'done', undefined]);
});

/** The answer of a model after calls that returned these content blocks of MCP. */
function answered(results: JsonObject[][]): Part[] | null {
  let governing = restingStates.governing();
  for (const parts of results) {
    const running = step(finish(governing, 'govern', allowed()), saved());
    const recorded = step(finish(running, 'runTool', { ...returned('done'), parts }), saved());
    governing = finish(recorded, 'think', said('', [aCall({ id: `call-${parts.length}` })]));
  }
  const running = step(finish(governing, 'govern', allowed()), saved());
  const thinking = step(finish(running, 'runTool', returned('done')), saved());
  return describeTask(answer(thinking).snapshot, 0, 1, null).answer;
}

it('the answer of a model contains the pictures, sounds, files and web addresses of its calls', () => {
  const said: JsonObject[] = [
    { type: 'image', mimeType: 'image/png', data: 'AA==' },
    { type: 'audio', data: 'BB==' },
    {
      type: 'resource',
      resource: { uri: 'file:///a.pdf', mimeType: 'application/pdf', blob: 'CC==' },
    },
    { type: 'resource', resource: { uri: 'file:///b.txt', text: 'it is in the text' } },
    { type: 'resource_link', uri: 'https://example.com/d', name: 'd', mimeType: 'text/html' },
    { type: 'resource_link', uri: 'file:///etc/passwd', name: 'e' },
    { type: 'resource_link', uri: 'javascript:alert(1)', name: 'f' },
  ];
  expect(answered([said])).toEqual([
    { kind: 'text', text: 'done' },
    { kind: 'file', file: { mimeType: 'image/png', bytes: 'AA==' } },
    { kind: 'file', file: { bytes: 'BB==' } },
    { kind: 'file', file: { name: 'file:///a.pdf', mimeType: 'application/pdf', bytes: 'CC==' } },
    { kind: 'file', file: { name: 'd', mimeType: 'text/html', uri: 'https://example.com/d' } },
  ]);
});

it('the files of the newest calls are stored, up to 1 MiB in all', () => {
  const picture = (letter: string): JsonObject => ({ type: 'image', data: letter.repeat(400_000) });
  const files = answered(['A', 'B', 'C'].map((letter) => [picture(letter)]));
  const letters = files?.flatMap((part) => (part.kind === 'file' ? [part.file.bytes?.[0]] : []));
  expect(letters).toEqual(['B', 'C']);
});
