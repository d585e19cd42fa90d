import type { RoutedContext } from '../../../http/request-state.ts';
import type { OverviewJson } from '../../../http/wire/dashboard/overview-json.ts';
import { Problem } from '../../../http/wire/problem.ts';
import { messageOf } from '../../../machines/message-of.ts';
import { readTimeRange } from '../../../machines/time-range.ts';
import { LogFigures } from '../../reading/log-figures.ts';
import type { DashboardPorts } from '../dashboard-ports.ts';
import { queryText } from '../query-text.ts';

/** Maximum number of the newest lines that are read of one log. */
const mostLines = 500_000;

/** The longest range in milliseconds. */
const longest = 92 * 86_400_000;

/** How long figures are reused, in milliseconds: each open page reads them, and at each change of what waits. */
const reuse = 5_000;

/** Maximum time for reading the logs in milliseconds. */
const longestRead = 60_000;

/** Maximum number of different figures that are reused. */
const mostReused = 16;

type Agents = ReturnType<DashboardPorts['workspace']['agents']>;

/** Returns what people decided and what agents did in a range of time, by the days of a zone, from the logs of the agents. */
export function showOverview({ workspace, audit, clock }: DashboardPorts) {
  const known = new Map<string, { until: number; body: Promise<OverviewJson> }>();
  return async function overviewReader(ctx: RoutedContext): Promise<void> {
    const now = clock.now();
    const range = rangeOf(ctx, now);
    const wanted = queryText(ctx, 'agent');
    const agents = workspace.agents().filter(({ id }) => wanted === null || id === wanted);
    if (wanted !== null && agents.length === 0) {
      throw new Problem('agent_not_found', 'agent not found');
    }
    const ids = agents.map(({ id }) => id);
    const key = JSON.stringify([ids, queryText(ctx, 'from'), range.zone]);
    for (const [id, { until }] of known) if (until <= now) known.delete(id);
    const reused = known.get(key)?.body;
    const body = reused ?? read(audit, agents, range);
    if (reused === undefined && known.size < mostReused) {
      known.set(key, { until: Number.MAX_SAFE_INTEGER, body });
      const forget = () => known.set(key, { until: clock.now() + reuse, body });
      void body.then(forget, () => known.delete(key));
    }
    ctx.body = await body;
  };
}

async function read(
  audit: DashboardPorts['audit'],
  agents: Agents,
  range: ReturnType<typeof rangeOf>,
): Promise<OverviewJson> {
  const figures = new LogFigures(range);
  const unread: OverviewJson['unread'] = [];
  const signal = AbortSignal.timeout(longestRead);
  for (const { id, directory } of agents) {
    figures.add(id);
    const reading = { range, most: mostLines };
    const left = await audit
      .each(directory, reading, (line) => figures.read(id, line), signal)
      .catch((error: unknown) => {
        unread.push({ agent_id: id, problem: messageOf(error) });
        return 0;
      });
    if (left > 0) {
      const problem = `${left} earlier lines of the range were omitted; choose a shorter one`;
      unread.push({ agent_id: id, problem });
    }
  }
  return {
    from: new Date(range.from).toISOString(),
    to: new Date(range.to).toISOString(),
    zone: range.zone,
    ...figures.figures(),
    unread,
  };
}

function rangeOf(ctx: RoutedContext, now: number) {
  const zone = queryText(ctx, 'zone') ?? 'UTC';
  try {
    const { from = now - 7 * 86_400_000 } = readTimeRange(
      { from: queryText(ctx, 'from') ?? undefined, to: undefined },
      now,
    );
    new Intl.DateTimeFormat('en', { timeZone: zone });
    if (now - from > longest) throw new RangeError('from must be at most 92 days ago');
    return { from, to: now, zone };
  } catch (error) {
    throw new Problem('invalid_query', messageOf(error));
  }
}
