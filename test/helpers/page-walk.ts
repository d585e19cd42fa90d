import type { Locator } from 'playwright-core';
import { expect } from 'vitest';
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { parse } from 'yaml';
import { type Happenings, type PathOptions, walkPaths } from './chart-walk.ts';
import { patient } from './patient.ts';
import { suiteOf } from './runs.ts';

/** What a page that is walked has asked of its server, and what it should have. */
interface Asking {
  readonly asked: readonly unknown[];
  /** What happens to the page adds to it. */
  readonly due: readonly unknown[];
}

/**
 * Registers tests that walk the shortest paths of a chart that a page runs, out of reach. The page shows whether its state
 * is the expected one. `npm test` walks few, which show every state, `npm run test:long` all.
 *
 * @param open shows the page, to which nothing has happened
 * @param look compares, after each step, all that tells the state from others; two that look the same to everybody are
 * distinguished by the next action of the page, so that a walk has to continue from them
 */
export function walkShown<World>(
  chart: AnyStateMachine,
  happenings: Happenings<World>,
  open: () => Promise<World>,
  look: (world: World, snapshot: AnyMachineSnapshot) => Promise<void>,
  options: Omit<PathOptions<World>, 'look'> = {},
): void {
  const begin = () => ({ opened: open(), hasBegun: () => true, look });
  walkPaths(chart, happenings, begin, {
    ...options,
    interval: patient.interval,
    isBrief: suiteOf() === 'usual',
  });
}

/** Does the same with a page of which also all that it has asked for is compared. */
export function walkPage<World extends Asking>(
  chart: AnyStateMachine,
  happenings: Happenings<World>,
  open: () => Promise<World>,
  look: (world: World, snapshot: AnyMachineSnapshot) => Promise<void>,
  options: Omit<PathOptions<World>, 'look'> = {},
): void {
  const lookAtAll = async (world: World, snapshot: AnyMachineSnapshot) => {
    await look(world, snapshot);
    expect(inOneOrder(world.asked)).toEqual(inOneOrder(world.due));
  };
  walkShown(chart, happenings, open, lookAtAll, options);
}

/** What is asked and given up in one step comes in any order. */
function inOneOrder(requests: readonly unknown[]): string[] {
  return requests.map((request) => JSON.stringify(request)).toSorted();
}

/** A node of Playwright's snapshot of what a page says, with what is in it or its text. */
type Said = string | { [node: string]: string | Said[] };

/**
 * Reads out the elements with these roles in a part of a page, in order and as a screen reader does:
 * `button "Approve" [disabled]`, and of what has no name all of its text, as `alert: It is gone.`; nothing where the
 * part is not there.
 */
export async function readOut(part: Locator, roles: readonly string[]): Promise<string[]> {
  if ((await part.count()) === 0) return [];
  const isWanted = (node: string) => roles.includes(/^\w+/.exec(node)?.[0] ?? '');
  const isNamed = (node: string) => isWanted(node) && node.includes('"');
  const textOf = (said: Said): string[] => {
    if (typeof said === 'string') return [];
    return Object.entries(said).flatMap(([node, within]) => {
      if (isNamed(node) || node.startsWith('/')) return [];
      return typeof within === 'string' ? [within] : within.flatMap(textOf);
    });
  };
  const read = (said: Said): string[] => {
    if (typeof said === 'string') return isWanted(said) ? [said] : [];
    return Object.entries(said).flatMap(([node, within]) => {
      const below = typeof within === 'string' ? [] : within.flatMap(read);
      if (!isWanted(node)) return below;
      if (isNamed(node)) return [node, ...below];
      const text = textOf({ text: within }).join(' ');
      return [text === '' ? node : `${node}: ${text}`, ...below.filter(isNamed)];
    });
  };
  // It may disappear at this moment, so the check repeats.
  const said: Said[] = parse(await part.ariaSnapshot({ timeout: 1_000 }));
  return said.flatMap(read);
}
