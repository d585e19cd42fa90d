import { describe, expect, it } from 'vitest';
import { createActor, fromPromise, waitFor } from 'xstate';
import type { SkillPlanJson } from '../../../../../src/http/wire/dashboard/skill-json.ts';
import { addMachine } from '../../../../../src/ui/dashboard/views/skills/add-machine.ts';

const planOf = (agent: string, added: boolean) =>
  ({ name: `skill for ${agent}`, added }) as SkillPlanJson;

/** A dialog that notes what it asks the server; what the server refuses is named by its agent. */
function dialog(refused: Record<string, string> = {}) {
  const asked: string[] = [];
  const ask = (verb: string, added: boolean) =>
    fromPromise<SkillPlanJson, { agent: string }>(({ input: { agent } }) => {
      asked.push(`${verb} ${agent}`);
      const problem = refused[`${verb} ${agent}`];
      return problem === undefined
        ? Promise.resolve(planOf(agent, added))
        : Promise.reject(new Error(problem));
    });
  const actors = { preview: ask('preview', false), add: ask('add', true) };
  const actor = createActor(addMachine.provide({ actors })).start();
  const until = (state: 'planned' | 'refused' | 'added') =>
    waitFor(actor, (snapshot) => snapshot.matches(state));
  return { actor, asked, until };
}

describe('adding a skill on the page', () => {
  it('writes nothing before somebody has seen what it does to this agent', async () => {
    const { actor, asked, until } = dialog();
    actor.send({ type: 'confirmed' });
    actor.send({ type: 'agent.chosen', agent: 'a' });
    actor.send({ type: 'confirmed' });
    actor.send({ type: 'agent.chosen', agent: 'b' });
    const planned = await until('planned');
    expect(planned.context).toEqual({ agent: 'b', plan: planOf('b', false), problem: null });
    expect(asked).toEqual(['preview a', 'preview b']);
    actor.send({ type: 'confirmed' });
    actor.send({ type: 'agent.chosen', agent: 'c' });
    expect((await until('added')).context.plan).toEqual(planOf('b', true));
    expect(asked).toEqual(['preview a', 'preview b', 'add b']);
  });

  it('says why an agent cannot have it, and lets another be chosen', async () => {
    const { actor, asked, until } = dialog({ 'preview a': 'It is there.', 'add b': 'It changed.' });
    actor.send({ type: 'agent.chosen', agent: 'a' });
    expect((await until('refused')).context).toEqual({
      ...{ agent: 'a', plan: null, problem: 'It is there.' },
    });
    actor.send({ type: 'confirmed' });
    actor.send({ type: 'agent.chosen', agent: 'b' });
    await until('planned');
    actor.send({ type: 'confirmed' });
    expect((await until('refused')).context.problem).toBe('It changed.');
    actor.send({ type: 'agent.chosen', agent: 'b' });
    expect((await until('planned')).context.problem).toBe(null);
    expect(asked).toEqual(['preview a', 'preview b', 'add b', 'preview b']);
  });
});
