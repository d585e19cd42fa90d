import type { Caller } from '../../../machines/domain/task.ts';
import { runtimeProvider } from '../../../machines/governance/approvers.ts';
import { fulfils, type Listed } from '../../../machines/governance/standing.ts';
import type { Tool } from '../../ports/tool.ts';
import { matchesName } from '../../tool-name.ts';

/** Tools of some callers, by names and patterns (docs/mcp.md). */
export interface ToolView {
  for: readonly string[];
  tools: { allow: readonly string[]; deny: readonly string[] };
}

/** The caller of a tool, and the surface of the call; absent or empty for a call that is only explained. */
export interface Asker {
  caller: Caller | null;
  surface?: string | undefined;
}

/** Returns whether a caller can see and call a tool; every other tool is unknown to the caller. */
export type Sight = (tool: Pick<Tool, 'name' | 'isElsewhere'>) => boolean;

/** The tools that each caller can see and call. */
export interface ToolViews {
  sightOf(asker: Asker): Sight;
  /** The entries of people, groups and claims that have a view. */
  readonly entries: readonly string[];
  /** True if every caller sees every tool. */
  readonly isOff: boolean;
}

/**
 * Creates the views of callers. Tools that other programs run are for holds, and all other tools for other surfaces; a
 * call that is only explained has no surface, and every tool. `listed` returns the entries that a caller fulfils now. The
 * daemon's own token has every view.
 */
export function createToolViews(
  views: readonly ToolView[],
  listed: (caller: Caller) => Listed,
): ToolViews {
  const isOff = views.length === 0;
  return {
    isOff,
    entries: views.flatMap((view) => view.for),
    sightOf({ caller, surface = '' }) {
      if (surface === '') return () => true;
      if (surface === 'hold') return ({ isElsewhere = false }) => isElsewhere;
      const seesAll = isOff || caller?.provider === runtimeProvider;
      const own = seesAll ? [] : viewsOf(views, caller === null ? null : listed(caller));
      return ({ name, isElsewhere = false }) =>
        !isElsewhere && (seesAll || own.some((view) => isInView(view, name)));
    },
  };
}

/** The views of an agent that shows every caller every tool. */
export const everyTool = createToolViews([], () => ({ email: null, as: [] }));

function viewsOf(views: readonly ToolView[], person: Listed | null): readonly ToolView[] {
  if (person === null) return [];
  return views.filter((view) => view.for.some((entry) => fulfils(person, entry)));
}

function isInView({ tools: { allow, deny } }: ToolView, tool: string): boolean {
  const matches = (pattern: string) => matchesName(pattern, tool);
  return allow.some(matches) && !deny.some(matches);
}
