import { mkdirSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, onTestFinished, vi } from 'vitest';
import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import { CardPublisher } from '../../../src/actors/card/card-publisher.ts';
import { serviceSchema } from '../../../src/actors/config/service-schema.ts';
import { cardMachine, settlingTime } from '../../../src/machines/card/card-machine.ts';
import { type Happenings, walkChart } from '../../helpers/chart-walk.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { patient } from '../../helpers/patient.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

const settings = { agent_id: 'till', model: { provider: 'scripted', name: 'm', script: [] } };

const skillOf = (name: string, description: string) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n`;

/** Delays the listing of a folder until a test lets it continue. */
function holdListing(folder: string): (() => void)[] {
  const held: (() => void)[] = [];
  const genuine = fs.readdir;
  const spy = vi.spyOn(fs, 'readdir').mockImplementation((async (...asked: any[]) => {
    const isHeld = asked[0] === folder && asked.length === 1;
    if (isHeld) await new Promise<void>((resolve) => held.push(resolve));
    return Reflect.apply(genuine, fs, asked) as unknown;
  }) as never);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  return held;
}

/** The card of an agent with skills of its own and one behind a link, which nobody watches. */
async function openCard(actors: readonly AnyActorRef[]) {
  const directory = temporaryFolder();
  for (const folder of ['skills', 'texts']) mkdirSync(join(directory, folder));
  writeFileSync(join(directory, 'service.yaml'), JSON.stringify(settings));
  const text = join(directory, 'texts', 'linked.md');
  writeFileSync(text, skillOf('linked', 'text 0'));
  symlinkSync(text, join(directory, 'skills', 'linked.md'));
  const clock = new ManualClock(0);
  const recorded: unknown[] = [];
  const logged: string[] = [];
  const note = (_: object, message: string) => void logged.push(message);
  const basis = {
    ...{ directory, env: {}, agentId: 'till', tools: [], declared: [], isAuthOn: false },
    ...{
      address: 'http://127.0.0.1:1',
      seen: () => undefined,
      log: { info: note, warn: note, error: note },
    },
  };
  const publisher = new CardPublisher({
    clock,
    record: async ({ event }) => void recorded.push(event),
  });
  const config = serviceSchema.parse(settings);
  const startedWith = { config, skills: [], readAt: Date.now() };
  await publisher.start(basis, startedWith);
  const held = holdListing(join(directory, 'skills'));
  publisher.watch(basis, startedWith);
  onTestFinished(() => publisher.stop());
  let heard = 0;
  actors.at(-1)?.subscribe(() => (heard += 1));
  const shown = (): string[] => {
    const card = JSON.parse(String(publisher.current('1.0')?.body)) as { skills: any[] };
    return card.skills.map(({ description }) => String(description));
  };
  let files = 0;
  let readings = 0;
  const release = async (linked: string) => {
    await vi.waitFor(() => expect(held).toHaveLength(1), patient);
    writeFileSync(text, linked);
    for (const go of held.splice(0)) go();
  };
  return {
    /** Adds a file, and waits until that is heard. */
    change: async () => {
      files += 1;
      const name = `added-${files}`;
      const written = join(directory, 'texts', name);
      do writeFileSync(written, skillOf(name, name));
      while (statSync(written).ctimeMs < startedWith.readAt + 1);
      const before = heard;
      renameSync(written, join(directory, 'skills', `${name}.md`));
      await vi.waitFor(() => expect(heard).toBe(before + 1), patient);
    },
    settle: () => clock.advance(settlingTime),
    read: async () => {
      readings += 1;
      const published = recorded.length + 1;
      await release(skillOf('linked', `text ${readings}`));
      await vi.waitFor(() => expect(recorded).toHaveLength(published), patient);
      expect(shown()).toContain(`text ${readings}`);
      expect(shown()).toHaveLength(files + 1);
      await vi.waitFor(() => expect(logged.splice(0)).toEqual(['card: published anew']), patient);
    },
    break: async () => {
      const before = [shown(), recorded.length];
      const isOvertaken = actors.at(-1)?.getSnapshot().matches({ gathering: 'overtaken' });
      await release('---\nname: [\n---\n');
      const said = isOvertaken ? [] : [expect.stringContaining('; the last good card stays')];
      await vi.waitFor(() => expect(logged).toEqual(said), patient);
      logged.length = 0;
      expect([shown(), recorded.length]).toEqual(before);
    },
  };
}

const isReading = (snapshot: AnyMachineSnapshot) => snapshot.matches('gathering');

const happenings: Happenings<Awaited<ReturnType<typeof openCard>>> = {
  'a file is added': { event: { type: 'files.changed' }, happen: (card) => card.change() },
  'the files have settled': {
    event: { type: 'xstate.after.settling.card.stale' },
    in: (snapshot) => snapshot.matches('stale'),
    happen: (card) => card.settle(),
  },
  'they can be used': {
    event: { type: 'xstate.done.actor.0.card.gathering' },
    in: isReading,
    happen: (card) => card.read(),
  },
  'one of them is broken': {
    event: { type: 'xstate.error.actor.0.card.gathering', error: new Error('it') },
    in: isReading,
    happen: (card) => card.break(),
  },
};

describe('the shortest paths of a card, with its files', () => {
  walkChart(cardMachine, happenings, openCard);
});
