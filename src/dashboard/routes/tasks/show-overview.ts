import type { RoutedContext } from '../../../http/request-state.ts';
import type { OverviewJson } from '../../../http/wire/dashboard/overview-json.ts';
import { Problem } from '../../../http/wire/problem.ts';
import { messageOf } from '../../../machines/message-of.ts';
import { readTimeRange } from '../../../machines/time-range.ts';
import { LogFigures } from '../../reading/log-figures.ts';
import type { DashboardPorts } from '../dashboard-ports.ts';
import { queryText } from '../query-text.ts';
import { whileAsked } from '../relay.ts';

/** Maximum number of the newest lines that are read of one log. */
const mostLines = 500_000;

/** The longest range in milliseconds. */
const longest = 92 * 86_400_000;

/** Returns what people decided and what agents did in a range of time, by the days of a zone, from the logs of the agents. */
export function showOverview({ workspace, audit, clock }: DashboardPorts) {
  return async function overviewReader(ctx: RoutedContext): Promise<void> {
    const range = rangeOf(ctx, clock.now());
    const wanted = queryText(ctx, 'agent');
    const agents = workspace.agents().filter(({ id }) => wanted === null || id === wanted);
    if (wanted !== null && agents.length === 0) {
      throw new Problem('agent_not_found', 'agent not found');
    }
    const figures = new LogFigures(range);
    const unread: OverviewJson['unread'] = [];
    const signal = whileAsked(ctx);
    for (const { id, directory } of agents) {
      figures.add(id);
      const reading = { range, most: mostLines };
      const left = await audit
        .each(directory, reading, (line) => figures.read(id, line), signal)
        .catch((error: unknown) => {
          signal.throwIfAborted();
          unread.push({ agent_id: id, problem: messageOf(error) });
          return 0;
        });
      if (left > 0) {
        const problem = `${left} earlier lines of the range were omitted; choose a shorter one`;
        unread.push({ agent_id: id, problem });
      }
    }
    ctx.body = {
      from: new Date(range.from).toISOString(),
      to: new Date(range.to).toISOString(),
      zone: range.zone,
      ...figures.figures(),
      unread,
    } satisfies OverviewJson;
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
