import { describe, expect, it } from 'vitest';
import { startTestAgent } from '../../helpers/test-agent.ts';
import { ask, openStream, wireSurfaces } from './wire-surfaces.ts';

describe.each(wireSurfaces)('the answer of a task over $name', (surface) => {
  it.each([
    ['artifact', [1, false], ['artifact', 'status']],
    ['status', [0, true], ['status with an answer']],
    ['both', [1, true], ['artifact', 'status with an answer']],
  ] as const)('is where server.a2a_answer configures it: %s', async (place, once, streamed) => {
    const agent = await startTestAgent({ server: { a2a_answer: place } });
    const message = surface.saying('hi');
    const task = surface.taskOf(await ask(agent, surface, 'send', { message }));
    const textOf = (status: any) =>
      (status.message?.parts ?? status.message?.content)?.[0]?.text ?? null;
    expect([(task.artifacts ?? []).length, textOf(task.status) === 'echo: hi']).toEqual(once);
    const stream = await openStream(agent, surface, 'stream', { message: surface.saying('hi') });
    const kinds = (await stream.rest()).slice(1).flatMap(({ data }) => {
      const result = surface.resultOf(data);
      const { artifact } = result.artifactUpdate ?? result;
      if (artifact !== undefined) return ['artifact'];
      const { status } = result.statusUpdate ?? result;
      if (status.state !== surface.state('completed')) return [];
      return [textOf(status) === 'echo: hi' ? 'status with an answer' : 'status'];
    });
    expect(kinds).toEqual(streamed);
  });
});
